import { type LanguageModel as AiLanguageModel, generateText } from 'ai';
import { createConcurrencyLimit } from '../../platform/async/concurrency-limit.ts';
import type { LanguageModel, ModelCallContext } from '../../ports/models.ts';
import { type CallParts, type CallSettings, deadline, signalOf, usageOf } from './call-settings.ts';
import { type ModelSettings, modelName, openLanguageModel } from './provider.ts';
import { filteredAnswer } from './provider-error.ts';
import { DEFAULT_RETRY, type RetryPolicy, retryFor, withRetry } from './retry.ts';
import { createStreamedCalls } from './streamed-text.ts';
import { createStructuredCalls } from './structured-output.ts';
import { admitted, NO_METER, type UsageMeter } from './usage-meter.ts';

interface LanguageModelOptions extends ModelSettings {
  /** Sent only when given: some models refuse it. */
  readonly temperature?: number;
  /** Time for one call of the provider, retries not counted. */
  readonly callTimeoutMs?: number;
  /** Calls in flight at the same time; the rest waits. */
  readonly concurrency?: number;
  readonly retry?: RetryPolicy;
  readonly meter?: UsageMeter;
}

const DEFAULT_CALL_TIMEOUT_MS = 120_000;
const DEFAULT_CONCURRENCY = 16;

/** A model of any provider the `ai` package speaks to. The provider is loaded with the first call. */
export function createLanguageModel(options: LanguageModelOptions): LanguageModel {
  const { retry = DEFAULT_RETRY, meter = NO_METER } = options;
  const gate = createConcurrencyLimit(options.concurrency ?? DEFAULT_CONCURRENCY);
  let opened: Promise<AiLanguageModel> | undefined;
  const model = (): Promise<AiLanguageModel> => {
    opened ??= openLanguageModel(options);
    return opened;
  };
  const name = `${options.provider}/${modelName(options)}`;
  const common = (context: ModelCallContext): CallSettings => ({
    maxRetries: 0,
    abortSignal: deadline(context.signal, options.callTimeoutMs ?? DEFAULT_CALL_TIMEOUT_MS),
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    ...context.sampling,
  });
  const parts: CallParts = { name, model, common, retry, meter };
  const structured = createStructuredCalls(parts);
  return {
    name,
    text: ({ system, prompt, ...call }, context) =>
      gate(async () => {
        const maxOutputTokens = call.maxOutputTokens ?? context.sampling?.maxOutputTokens;
        const asked = maxOutputTokens === undefined ? {} : { maxOutputTokens };
        const admission = await meter.admit({ prompts: [system, prompt], ...asked }, context);
        const generate = async () =>
          generateText({
            model: await model(),
            system,
            prompt,
            ...common(context),
            ...asked,
          });
        const result = await admitted(admission, () =>
          withRetry(generate, retryFor(context, retry), signalOf(context)),
        );
        const { text } = result;
        const usage = usageOf(result.usage);
        await admission.record(name, usage);
        if (text === '' && result.finishReason === 'content-filter') throw filteredAnswer();
        return { text, usage };
      }),
    structured: (call, context) => gate(() => structured(call, context)),
    stream: createStreamedCalls(parts),
  };
}
