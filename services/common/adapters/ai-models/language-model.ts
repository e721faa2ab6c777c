import { type LanguageModel as AiLanguageModel, generateText, streamText } from 'ai';
import type { LanguageModel, ModelCallContext, TokenUsage } from '../../ports/models.ts';
import { type ModelSettings, modelName, openLanguageModel } from './provider.ts';
import { classifyFailure, isAbort } from './provider-error.ts';
import { DEFAULT_RETRY, type RetryPolicy, withRetry } from './retry.ts';
import { createStructuredCalls } from './structured-output.ts';

export interface LanguageModelOptions extends ModelSettings {
  readonly temperature?: number;
  /** Time for one call of the provider, retries not counted. */
  readonly callTimeoutMs?: number;
  /** Calls in flight at the same time; the rest waits. */
  readonly concurrency?: number;
  readonly retry?: RetryPolicy;
}

const DEFAULT_CALL_TIMEOUT_MS = 120_000;

/** A model of any provider the `ai` package speaks to. The provider is loaded with the first call. */
export function createLanguageModel(options: LanguageModelOptions): LanguageModel {
  const retry = options.retry ?? DEFAULT_RETRY;
  const gate = createGate(options.concurrency ?? 8);
  let opened: Promise<AiLanguageModel> | undefined;
  const model = (): Promise<AiLanguageModel> => {
    opened ??= openLanguageModel(options);
    return opened;
  };
  const common = (context: ModelCallContext) => ({
    maxRetries: 0,
    abortSignal: deadline(context.signal, options.callTimeoutMs ?? DEFAULT_CALL_TIMEOUT_MS),
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
  });
  const structured = createStructuredCalls({ model, common, retry });
  return {
    name: `${options.provider}/${modelName(options)}`,
    text: ({ system, prompt, maxOutputTokens }, context) =>
      gate(async () => {
        const call = async () =>
          generateText({
            model: await model(),
            system,
            prompt,
            ...common(context),
            ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
          });
        const { text, usage } = await withRetry(call, retry, signalOf(context));
        return { text, usage: usageOf(usage) };
      }),
    structured: (call, context) => gate(() => structured(call, context)),
    async *stream({ system, prompt }, context) {
      let failure: unknown;
      const result = streamText({
        model: await model(),
        system,
        prompt,
        ...common(context),
        onError: ({ error }) => {
          failure = error;
        },
      });
      for await (const piece of result.textStream) yield piece;
      if (failure !== undefined) throw isAbort(failure) ? failure : classifyFailure(failure).error;
    },
  };
}

export function signalOf(context: ModelCallContext): { readonly signal?: AbortSignal } {
  return context.signal === undefined ? {} : { signal: context.signal };
}

export function usageOf(
  usage: { readonly inputTokens?: number | undefined; readonly outputTokens?: number | undefined } | undefined,
): TokenUsage {
  return { inputTokens: usage?.inputTokens ?? 0, outputTokens: usage?.outputTokens ?? 0 };
}

export function deadline(signal: AbortSignal | undefined, timeoutMs: number): AbortSignal {
  const timeout = AbortSignal.timeout(timeoutMs);
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}

/** At most `limit` calls run; the others wait in order. */
export function createGate(limit: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
}
