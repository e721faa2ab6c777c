import { APICallError, InvalidResponseDataError } from 'ai';
import { type EngramError, type ErrorName, engramError } from '../../kernel/errors.ts';
import { parseJson } from '../../kernel/json.ts';

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

/** Message of a provider's error body, in any of the known shapes. */
interface ProviderMessage {
  /** The provider's own sentence, without keys and account names. */
  readonly sentence: string;
  /** A budget is spent: nothing helps but money (cognify-improve.md §6.5). */
  readonly isBudget: boolean;
  /** A quota or credit of the account is spent. */
  readonly isQuota: boolean;
  readonly isContextLength: boolean;
  readonly isContentPolicy: boolean;
}

const MAX_SENTENCE = 300;

/** Whole sentences of proxies, not fragments: a text about budgets must not look like a spent one. */
const BUDGET_SHAPES = [
  /Budget has been exceeded!.{0,200}?Max budget:\s*[\d.]+/is,
  /ExceededBudget:.{0,200}?Budget\s*=\s*[\d.]+/is,
  /(?:LiteLLM Virtual Key|End User):.{0,200}?exceeded budget for model=\S+/is,
];
const QUOTA =
  /insufficient_quota|quota_exceeded|exceeded your current quota|billing hard limit|credit balance is too low|out of credits/i;
const CONTEXT_LENGTH = /context_length_exceeded|maximum context length|prompt is too long|too many tokens/i;
const CONTENT_POLICY = /content_policy|content_filter|content management policy|responsible ai/i;

function readProviderMessage(body: string | undefined, fallback: string): ProviderMessage {
  const { type, code, message } = partsOf(body);
  const text = message ?? fallback;
  const marks = `${type} ${code} ${text}`;
  const isBudget = type === 'budget_exceeded' || BUDGET_SHAPES.some((shape) => shape.test(text));
  return {
    sentence: scrub(text),
    isBudget,
    isQuota: !isBudget && QUOTA.test(marks),
    isContextLength: CONTEXT_LENGTH.test(marks),
    isContentPolicy: CONTENT_POLICY.test(`${type} ${code} ${text}`),
  };
}

/** OpenAI and Anthropic `{error:{type,message}}`, Gemini the same in a list, Ollama `{error:"…"}`, others `{detail}` or `{message}`. */
function partsOf(body: string | undefined): {
  readonly type: string;
  readonly code: string;
  readonly message: string | undefined;
} {
  const parsed = parseJson(body ?? '');
  const outer = recordOf(Array.isArray(parsed) ? parsed[0] : parsed);
  const inner = recordOf(outer['error']);
  const text = [inner['message'], outer['error'], outer['message'], outer['detail']].find(
    (value): value is string => typeof value === 'string' && value !== '',
  );
  return {
    type: String(inner['type'] ?? outer['type'] ?? ''),
    code: String(inner['code'] ?? outer['code'] ?? ''),
    message: text,
  };
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Providers repeat keys and account names in their messages. */
function scrub(text: string): string {
  return text
    .slice(0, MAX_SENTENCE)
    .toWellFormed()
    .replaceAll(
      /\b(Virtual Key|End User|User|Team|Project|Organization|Tag|key_alias)(\s*[:=]\s*)[^\s,;)]+/gi,
      '$1$2<redacted>',
    )
    .replaceAll(/\b(sk|pk|rk|key|org|proj|req|user)[-_][\w-]{6,}/gi, '<redacted>')
    .replaceAll(/\b[0-9a-f]{32,}\b/gi, '<redacted>');
}
