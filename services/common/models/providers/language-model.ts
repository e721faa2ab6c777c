import { type LanguageModel as AiLanguageModel, generateText, streamText } from 'ai';
import { createConcurrencyLimit } from '../../platform/async/concurrency-limit.ts';
import { withTimeout } from '../../platform/async/time-limit.ts';
import type { LanguageModel, ModelCallContext, TokenUsage } from '../../ports/models.ts';
import { type CallParts, type CallSettings, deadline, signalOf, usageOf } from './call-settings.ts';
import { type ModelSettings, modelName, openLanguageModel } from './provider.ts';
import { classifyFailure, filteredAnswer } from './provider-error.ts';
import { DEFAULT_RETRY, type RetryPolicy, retryFor, withRetry } from './retry.ts';
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

type StreamCall = Parameters<LanguageModel['stream']>[0];

/** Four characters a token is the usual estimate where a server does not count. */
const CHARACTERS_PER_TOKEN = 4;

/** Pieces of an answer as they come. Failures are retried until the first piece; after it they end the stream. */
function createStreamedCalls(parts: CallParts): LanguageModel['stream'] {
  const { name, retry, meter } = parts;
  return async function* stream(call, context) {
    const admission = await meter.admit({ prompts: [call.system, call.prompt] }, context);
    const left = new AbortController();
    const signal = AbortSignal.any([left.signal, ...(context.signal === undefined ? [] : [context.signal])]);
    const within = { ...context, signal };
    const open = () => openStream(parts, call, within);
    let text = '';
    let opened: Awaited<ReturnType<typeof openStream>> | undefined;
    try {
      opened = await withRetry(open, retryFor(context, retry), signalOf(within));
      for (let { next } = opened; next.done !== true; next = await opened.pieces.next()) {
        text += next.value;
        yield next.value;
      }
      signal.throwIfAborted();
      const failure = opened.failure();
      if (failure !== undefined) throw classifyFailure(failure).error;
    } finally {
      // The consumer may have gone: the provider must not go on generating.
      left.abort();
      if (opened === undefined) await admission.release();
      else await admission.record(name, await opened.usage(text));
    }
  };
}

async function openStream({ model, common }: CallParts, call: StreamCall, context: ModelCallContext) {
  let failure: unknown;
  const result = streamText({
    model: await model(),
    system: call.system,
    prompt: call.prompt,
    ...common(context),
    onError: ({ error }) => {
      failure = error;
    },
  });
  const pieces = result.textStream[Symbol.asyncIterator]();
  const next = await pieces.next();
  if (next.done === true && failure !== undefined) throw failure;
  return {
    next,
    pieces,
    failure: () => failure,
    async usage(text: string): Promise<TokenUsage> {
      const told = next.done === true || failure !== undefined ? null : await settledUsage(result.usage);
      return told ?? estimatedUsage(call, text);
    },
  };
}

/** Null when the stream was left before its end, or its server does not count. */
async function settledUsage(usage: PromiseLike<Parameters<typeof usageOf>[0]>): Promise<TokenUsage | null> {
  const told = await withTimeout(
    Promise.resolve(usage).catch(() => undefined),
    100,
    () => undefined,
  );
  const counted = usageOf(told);
  return counted.inputTokens + counted.outputTokens === 0 ? null : counted;
}

function estimatedUsage({ system, prompt }: StreamCall, text: string): TokenUsage {
  const tokens = (length: number) => Math.ceil(length / CHARACTERS_PER_TOKEN);
  return { inputTokens: tokens(system.length + prompt.length), outputTokens: tokens(text.length) };
}
