import { type EmbeddingModel, embedMany } from 'ai';
import { engramError } from '../../kernel/errors.ts';
import { createConcurrencyLimit } from '../../platform/async/concurrency-limit.ts';
import type { Embedder, ModelCallContext } from '../../ports/models.ts';
import { deadline, signalOf } from './call-settings.ts';
import { takesDimensions } from './embedding-models.ts';
import { type ModelSettings, modelName, openEmbeddingModel } from './provider.ts';
import { DEFAULT_RETRY, type RetryPolicy, retryFor, withRetry } from './retry.ts';
import { admitted, NO_METER, type UsageMeter } from './usage-meter.ts';

export interface EmbedderOptions extends ModelSettings {
  readonly dimensions: number;
  /** The setting that says so, for errors; default: EMBEDDING_DIMENSIONS. */
  readonly declaredBy?: string;
  readonly maxInputTokens: number;
  /** Texts of one request. */
  readonly batchSize?: number;
  readonly concurrency?: number;
  readonly callTimeoutMs?: number;
  readonly retry?: RetryPolicy;
  readonly meter?: UsageMeter;
}

/** A token is at least this many characters in any text worth embedding; texts are cut before they are sent. */
const CHARACTERS_PER_TOKEN = 3;

/** Any OpenAI-compatible, OpenAI or Google endpoint. */
export function createEmbedder(options: EmbedderOptions): Embedder {
  const { dimensions, batchSize = 32, retry = DEFAULT_RETRY, meter = NO_METER } = options;
  const gate = createConcurrencyLimit(options.concurrency ?? 4);
  const name = `${options.provider}/${modelName(options)}`;
  const providerOptions = optionsOfModel(options);
  let opened: Promise<EmbeddingModel> | undefined;
  const model = (): Promise<EmbeddingModel> => {
    opened ??= openEmbeddingModel(options);
    return opened;
  };

  const embedBatch = async (values: string[], context: ModelCallContext): Promise<readonly Float32Array[]> => {
    const admission = await meter.admit({ prompts: values, maxOutputTokens: 0 }, context);
    const call = async () =>
      embedMany({
        model: await model(),
        values,
        maxRetries: 0,
        providerOptions,
        abortSignal: deadline(context.signal, options.callTimeoutMs ?? 60_000),
      });
    const { embeddings, usage } = await admitted(admission, () =>
      withRetry(call, retryFor(context, retry), signalOf(context)),
    );
    const inputTokens = Number.isFinite(usage.tokens) ? usage.tokens : 0;
    await admission.record(name, { inputTokens, outputTokens: 0 });
    return embeddings.map((embedding) => unitVector(embedding, options));
  };

  return {
    space: { model: name, dimensions },
    maxInputTokens: options.maxInputTokens,
    async embed(texts, context) {
      const vectors: Float32Array[] = texts.map(() => new Float32Array(dimensions));
      const filled = texts.flatMap((text, index) => (text.trim() === '' ? [] : [index]));
      const batches = Array.from({ length: Math.ceil(filled.length / batchSize) }, (_, batch) =>
        filled.slice(batch * batchSize, (batch + 1) * batchSize),
      );
      let hasFailed = false;
      const settled = await Promise.allSettled(
        batches.map((indexes) =>
          gate(async () => {
            if (hasFailed) return;
            const values = indexes.map((index) =>
              (texts[index] ?? '').slice(0, options.maxInputTokens * CHARACTERS_PER_TOKEN).toWellFormed(),
            );
            const answered = await embedBatch(values, context).catch((error: unknown) => {
              hasFailed = true;
              throw error;
            });
            for (const [position, index] of indexes.entries())
              vectors[index] = answered[position] ?? new Float32Array(dimensions);
          }),
        ),
      );
      // Nothing is under way any more when the caller learns of a failure.
      for (const outcome of settled) if (outcome.status === 'rejected') throw outcome.reason;
      return vectors;
    },
  };
}

/** Shorter vectors are asked for where the model can make them. */
function optionsOfModel({ model, dimensions }: EmbedderOptions) {
  if (!takesDimensions(model)) return {};
  return { openai: { dimensions }, openaiCompatible: { dimensions }, google: { outputDimensionality: dimensions } };
}

function unitVector(
  embedding: readonly number[],
  { dimensions, declaredBy = 'EMBEDDING_DIMENSIONS' }: Pick<EmbedderOptions, 'dimensions' | 'declaredBy'>,
): Float32Array {
  if (embedding.length !== dimensions) {
    throw engramError(
      'EmbeddingDimensionMismatchError',
      `The embedding endpoint gives vectors of ${embedding.length} dimensions, ${declaredBy} is ${dimensions}.`,
    );
  }
  let squares = 0;
  for (const value of embedding) squares += value * value;
  const vector = Float32Array.from(embedding);
  if (squares === 0) return vector;
  if (!Number.isFinite(squares))
    throw engramError('EmbeddingException', 'the embedding endpoint gave a vector that is not finite');
  const scale = 1 / Math.sqrt(squares);
  for (let index = 0; index < dimensions; index += 1) vector[index] = (vector[index] ?? 0) * scale;
  return vector;
}
