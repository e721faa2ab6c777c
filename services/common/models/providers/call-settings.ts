import type { LanguageModel as AiLanguageModel } from 'ai';
import type { ModelCallContext, Sampling, TokenUsage } from '../../ports/models.ts';
import type { RetryPolicy } from './retry.ts';
import type { UsageMeter } from './usage-meter.ts';

/** Settings of every call of the `ai` package. Retries are ours, see `retry.ts`. */
export interface CallSettings extends Sampling {
  readonly maxRetries: 0;
  readonly abortSignal: AbortSignal;
}

/** Parts of text, structured and streamed calls. */
export interface CallParts {
  readonly name: string;
  readonly model: () => Promise<AiLanguageModel>;
  readonly common: (context: ModelCallContext) => CallSettings;
  readonly retry: RetryPolicy;
  readonly meter: UsageMeter;
}

export function signalOf(context: ModelCallContext): { readonly signal?: AbortSignal } {
  return context.signal === undefined ? {} : { signal: context.signal };
}

/** Aborts with the caller, or with a `TimeoutError` after so long. */
export function deadline(signal: AbortSignal | undefined, timeoutMs: number): AbortSignal {
  const timeout = AbortSignal.timeout(timeoutMs);
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}

export function usageOf(
  usage: { readonly inputTokens?: number | undefined; readonly outputTokens?: number | undefined } | undefined,
): TokenUsage {
  return { inputTokens: usage?.inputTokens ?? 0, outputTokens: usage?.outputTokens ?? 0 };
}

export function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
  return { inputTokens: one.inputTokens + other.inputTokens, outputTokens: one.outputTokens + other.outputTokens };
}
