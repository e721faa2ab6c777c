import { type EmbeddingModel, embedMany } from 'ai';
import { engramError } from '../../domain/errors.ts';
import type { Embedder, ModelCallContext, TokenUsage } from '../../ports/models.ts';
import { createGate, deadline, signalOf } from './language-model.ts';
import { type ModelSettings, modelName, openEmbeddingModel } from './provider.ts';
import { DEFAULT_RETRY, type RetryPolicy, withRetry } from './retry.ts';

export interface EmbedderOptions extends ModelSettings {
  readonly dimensions: number;
  readonly maxInputTokens: number;
  /** Texts of one request. */
  readonly batchSize?: number;
  readonly concurrency?: number;
  readonly callTimeoutMs?: number;
  readonly retry?: RetryPolicy;
  readonly onUsage?: (usage: TokenUsage, context: ModelCallContext) => Promise<void>;
}

/** A token is at least this many characters in any text worth embedding; texts are cut before they are sent. */
const CHARACTERS_PER_TOKEN = 3;

/** Any OpenAI-compatible, OpenAI or Google endpoint. */
export function createEmbedder(options: EmbedderOptions): Embedder {
  const { dimensions, batchSize = 32, retry = DEFAULT_RETRY } = options;
  const gate = createGate(options.concurrency ?? 4);
  let opened: Promise<EmbeddingModel> | undefined;
  const model = (): Promise<EmbeddingModel> => {
    opened ??= openEmbeddingModel(options);
    return opened;
  };

  const embedBatch = async (values: string[], context: ModelCallContext): Promise<readonly Float32Array[]> => {
    const call = async () =>
      embedMany({
        model: await model(),
        values,
        maxRetries: 0,
        abortSignal: deadline(context.signal, options.callTimeoutMs ?? 60_000),
      });
    const { embeddings, usage } = await withRetry(call, retry, signalOf(context));
    await options.onUsage?.(
      { inputTokens: Number.isFinite(usage.tokens) ? usage.tokens : 0, outputTokens: 0 },
      context,
    );
    if (embeddings.length !== values.length) {
      throw engramError(
        'EmbeddingException',
        `the embedding endpoint answered ${embeddings.length} vectors for ${values.length} texts`,
      );
    }
    return embeddings.map((embedding) => unitVector(embedding, dimensions));
  };

  return {
    space: { model: `${options.provider}/${modelName(options)}`, dimensions },
    maxInputTokens: options.maxInputTokens,
    async embed(texts, context) {
      const vectors: Float32Array[] = texts.map(() => new Float32Array(dimensions));
      const filled = texts.flatMap((text, index) => (text.trim() === '' ? [] : [index]));
      const batches = Array.from({ length: Math.ceil(filled.length / batchSize) }, (_, batch) =>
        filled.slice(batch * batchSize, (batch + 1) * batchSize),
      );
      await Promise.all(
        batches.map((indexes) =>
          gate(async () => {
            const values = indexes.map((index) =>
              (texts[index] ?? '').slice(0, options.maxInputTokens * CHARACTERS_PER_TOKEN),
            );
            const answered = await embedBatch(values, context);
            for (const [position, index] of indexes.entries())
              vectors[index] = answered[position] ?? new Float32Array(dimensions);
          }),
        ),
      );
      return vectors;
    },
  };
}

function unitVector(embedding: readonly number[], dimensions: number): Float32Array {
  if (embedding.length !== dimensions) {
    throw engramError(
      'EmbeddingDimensionMismatchError',
      `the embedding endpoint gives ${embedding.length} dimensions, EMBEDDING_DIMENSIONS says ${dimensions}`,
    );
  }
  const vector = Float32Array.from(embedding);
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}
