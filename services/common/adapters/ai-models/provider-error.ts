import { APICallError } from 'ai';
import { type EngramError, engramError } from '../../domain/errors.ts';

/** What a failed provider call means for us. */
export interface ProviderFailure {
  readonly error: EngramError;
  /** Waiting and asking again may help. */
  readonly transient: boolean;
  /** As the provider asked, when it did. */
  readonly retryAfterMs?: number;
}

/** The caller went away or the deadline passed: not the provider's failure, and never retried. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
}

export function classifyFailure(error: unknown): ProviderFailure {
  if (!APICallError.isInstance(error)) {
    return {
      error: engramError('ServiceUnavailableError', 'the model did not answer', { cause: error, retryable: true }),
      transient: true,
    };
  }
  const { statusCode, responseHeaders } = error;
  const { type, sentence } = providerSentence(error);
  const retryAfterMs = retryAfter(responseHeaders);
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (statusCode === 402 || type === 'budget_exceeded') {
    return {
      error: engramError('LLMPaymentRequiredError', `LLM budget exhausted: ${sentence}`, { cause: error }),
      transient: false,
    };
  }
  if (statusCode === 429 && (type === 'insufficient_quota' || /\bquota\b|billing/i.test(sentence))) {
    return {
      error: engramError('LLMQuotaExceededError', `the model provider refuses further work: ${sentence}`, {
        cause: error,
      }),
      transient: false,
    };
  }
  if (statusCode === 429) {
    const retryAfterSeconds = Math.ceil((retryAfterMs ?? 1000) / 1000);
    return {
      error: engramError('TooManyRequestsError', `the model provider is throttling: ${sentence}`, {
        cause: error,
        retryable: true,
        retryAfterSeconds,
      }),
      transient: true,
      ...wait,
    };
  }
  if (statusCode === 401 || statusCode === 403) {
    return {
      error: engramError('LLMAPIKeyNotSetError', `the model provider does not accept the key (${statusCode})`, {
        cause: error,
      }),
      transient: false,
    };
  }
  if (statusCode !== undefined && statusCode < 500 && statusCode !== 408) {
    return {
      error: engramError(
        'CogneeValidationError',
        `the model provider refused the request (${statusCode}): ${sentence}`,
        { cause: error },
      ),
      transient: false,
    };
  }
  return {
    error: engramError('ServiceUnavailableError', `the model provider failed (${statusCode ?? 'no answer'})`, {
      cause: error,
      retryable: true,
    }),
    transient: true,
    ...wait,
  };
}

/** Whether the provider turned down the JSON schema itself, so that another way of asking may work. */
export function refusesSchema(error: unknown): boolean {
  return (
    APICallError.isInstance(error) &&
    error.statusCode === 400 &&
    /schema|response_format|json_schema|tool/i.test(error.responseBody ?? '')
  );
}

function providerSentence(error: APICallError): { readonly type: string; readonly sentence: string } {
  try {
    const body = JSON.parse(error.responseBody ?? '') as { error?: { message?: unknown; type?: unknown } };
    return { type: String(body.error?.type ?? ''), sentence: scrub(String(body.error?.message ?? error.message)) };
  } catch {
    return { type: '', sentence: scrub(error.message) };
  }
}

/** Providers repeat keys and account ids in their messages. */
function scrub(text: string): string {
  return text
    .slice(0, 300)
    .replaceAll(/\b(sk|pk|rk|key|org|proj|req|user)[-_][\w-]{6,}/gi, '[id]')
    .replaceAll(/\b[0-9a-f]{32,}\b/gi, '[id]');
}

function retryAfter(headers: Record<string, string> | undefined): number | undefined {
  const milliseconds = Number(headers?.['retry-after-ms']);
  if (Number.isFinite(milliseconds) && milliseconds > 0) return milliseconds;
  const value = headers?.['retry-after'];
  if (value === undefined) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
