import type { Embedder, LanguageModel, ModelCallContext, ModelKind, TokenUsage } from '../../ports/models.ts';
import type { Metrics } from './metrics.ts';

type Measure = Pick<Metrics, 'modelCall'>;

/** A language model whose calls are timed, retries and the wait for their turn included. */
export function measuredLanguageModel(model: LanguageModel, metrics: Measure): LanguageModel {
  const measure = measureOf(metrics, model.name, 'language');
  return {
    name: model.name,
    text: (call, context) => measure(context, () => model.text(call, context)),
    structured: (call, context) => measure(context, () => model.structured(call, context)),
    async *stream(call, context) {
      // A stream that its reader leaves has not failed.
      const end = startOf(metrics, { model: model.name, kind: 'language', purpose: context.purpose });
      try {
        yield* model.stream(call, context);
      } catch (error) {
        end('error');
        throw error;
      } finally {
        end('ok');
      }
    },
  };
}

export function measuredEmbedder(embedder: Embedder, metrics: Measure): Embedder {
  const measure = measureOf(metrics, embedder.space.model, 'embedding');
  return {
    space: embedder.space,
    maxInputTokens: embedder.maxInputTokens,
    embed: (texts, context) => measure(context, () => embedder.embed(texts, context)),
  };
}

function measureOf(metrics: Measure, model: string, kind: ModelKind) {
  return async <Answer extends object>({ purpose }: ModelCallContext, call: () => Promise<Answer>): Promise<Answer> => {
    const end = startOf(metrics, { model, kind, purpose });
    try {
      const answer = await call();
      end('ok', 'usage' in answer ? (answer.usage as TokenUsage) : undefined);
      return answer;
    } catch (error) {
      end('error');
      throw error;
    }
  };
}

/** Records the end of the call, once. */
function startOf(metrics: Measure, call: Pick<Parameters<Metrics['modelCall']>[0], 'model' | 'kind' | 'purpose'>) {
  const startMs = performance.now();
  let isOpen = true;
  return (outcome: 'ok' | 'error', usage?: TokenUsage): void => {
    if (!isOpen) return;
    isOpen = false;
    const durationMs = performance.now() - startMs;
    metrics.modelCall({ ...call, outcome, durationMs, ...(usage === undefined ? {} : { usage }) });
  };
}
