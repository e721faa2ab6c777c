import { APICallError, InvalidResponseDataError } from 'ai';
import { type EngramError, type ErrorName, engramError } from '../../kernel/errors.ts';
import { type ProviderMessage, readProviderMessage } from './provider-message.ts';

/** Classified failure of a provider call. */
interface ProviderFailure {
  readonly error: EngramError;
  /** Waiting and asking again may help. */
  readonly transient: boolean;
  /** Delay that the provider asked for, if any. */
  readonly retryAfterMs?: number;
}

/** The caller went away: not the provider's failure, and never retried. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

/** Our own limit on one call passed. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

/** Budget before quota before throttling: the first two are final whatever status they come with. */
export function classifyFailure(error: unknown): ProviderFailure {
  if (isTimeout(error)) return transient(error, 'the model provider did not answer in time');
  if (InvalidResponseDataError.isInstance(error)) {
    const message = `the embedding endpoint gave no usable answer: ${error.message}`;
    return { error: engramError('EmbeddingException', message, { cause: error }), transient: true };
  }
  if (!APICallError.isInstance(error)) return transient(error, 'the model provider gave no usable answer');
  const { statusCode } = error;
  const message = readProviderMessage(error.responseBody, error.message);
  const { sentence } = message;
  if (statusCode === 402 || message.isBudget)
    return final(error, 'LLMPaymentRequiredError', `LLM budget exhausted: ${sentence}`);
  if (message.isQuota) {
    return final(error, 'LLMQuotaExceededError', `the model provider refuses further work: ${sentence}`);
  }
  if (statusCode === 429) return throttled(error, sentence);
  if (statusCode === 401 || statusCode === 403) {
    return final(
      error,
      'LLMAPIKeyNotSetError',
      `the model provider does not accept the key (${statusCode}): ${sentence}`,
    );
  }
  if (message.isContentPolicy) {
    return final(
      error,
      'ContentPolicyFilterError',
      `the model provider's content filter refused the request: ${sentence}`,
    );
  }
  if (statusCode === undefined) return transient(error, 'the model provider could not be reached');
  if (statusCode === 200) return transient(error, 'the model provider sent an answer that is not valid');
  if (statusCode < 500 && statusCode !== 408) {
    return final(error, 'CogneeValidationError', `the model provider refused the request (${statusCode}): ${sentence}`);
  }
  return { ...transient(error, `the model provider failed (${statusCode})`), ...waitOf(error) };
}

/** The provider answered, and its filter kept the answer back. */
export function filteredAnswer(): EngramError {
  return engramError('ContentPolicyFilterError', "the model provider's content filter kept the answer back");
}

/** Whether the provider turned down the way of asking itself (schema, tool), so that another way may work. */
export function refusesSchema(error: unknown): boolean {
  if (!APICallError.isInstance(error)) return false;
  const { isContextLength, isContentPolicy, isBudget } = readProviderMessage(error.responseBody, error.message);
  return (
    (error.statusCode === 400 || error.statusCode === 422 || error.statusCode === 501) &&
    !isContextLength &&
    !isContentPolicy &&
    !isBudget &&
    /schema|response_?format|output_config|output_format|tool|function|structured/i.test(error.responseBody ?? '')
  );
}

function final(cause: unknown, name: ErrorName, message: string): ProviderFailure {
  return { error: engramError(name, message, { cause }), transient: false };
}

function transient(cause: unknown, message: string): ProviderFailure {
  return { error: engramError('ServiceUnavailableError', message, { cause, retryable: true }), transient: true };
}

function throttled(error: APICallError, sentence: ProviderMessage['sentence']): ProviderFailure {
  const wait = waitOf(error);
  const retryAfterSeconds = Math.max(1, Math.ceil((wait.retryAfterMs ?? 1000) / 1000));
  const options = { cause: error, retryable: true, retryAfterSeconds };
  const message = `the model provider is throttling: ${sentence}`;
  return { error: engramError('TooManyRequestsError', message, options), transient: true, ...wait };
}

function waitOf({ responseHeaders }: APICallError): { readonly retryAfterMs?: number } {
  const milliseconds = Number(responseHeaders?.['retry-after-ms']);
  if (Number.isFinite(milliseconds) && milliseconds > 0) return { retryAfterMs: milliseconds };
  const value = responseHeaders?.['retry-after'];
  if (value === undefined) return {};
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return { retryAfterMs: Math.max(0, seconds * 1000) };
  const at = Date.parse(value);
  return Number.isNaN(at) ? {} : { retryAfterMs: Math.max(0, at - Date.now()) };
}
