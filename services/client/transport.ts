import { ApiError, errorOf, NoAnswer, TimedOut } from './errors.ts';
import { sendWithProgress, type UploadProgress } from './upload.ts';

export interface TransportOptions {
  /** Address of the server, without `/api/v1`. */
  readonly baseUrl: string;
  /** Sent as `X-Api-Key`. */
  readonly apiKey?: string | undefined;
  /** Sent as a bearer token; a function is asked before each request. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Time limit of one attempt, from its start to the end of its answer. Default: 10 minutes; building a graph takes its time. */
  readonly timeoutMs?: number | undefined;
  /** How often a request is sent again that may be: see `send`. Default: 3. */
  readonly retries?: number | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default: the global one. */
  readonly fetch?: typeof fetch | undefined;
  /** Called before a request is sent again. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
}

export interface Retry {
  /** 1 for the first repetition. */
  readonly attempt: number;
  readonly waitMs: number;
  readonly error: ApiError | NoAnswer;
}

export type RequestBody = string | FormData | URLSearchParams | Blob;

export interface Sending {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  /** Whether the same request may be sent again when nobody knows what became of it. */
  readonly isIdempotent: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  readonly retries?: number | undefined;
  readonly onUploadProgress?: ((progress: UploadProgress) => void) | undefined;
}

const DEFAULT_TIMEOUT_MS = 600_000;
const DEFAULT_RETRIES = 3;
const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 10_000;
/** A server that wants more patience gets an error instead. */
const LONGEST_RETRY_AFTER_MS = 60_000;

/** Sends requests with credentials and a time limit. Errors: `ApiError` for every answer that is no success, `NoAnswer`. */
export interface Transport {
  readonly baseUrl: string;
  /**
   * Sends again, with growing pauses or after the time that the server names: what is refused with 429, and an idempotent
   * request that gets no answer, 502, 503 or 504, or 409 while its first sending is still carried out.
   */
  send(sending: Sending): Promise<Response>;
}

export function createTransport(options: TransportOptions): Transport {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, retries = DEFAULT_RETRIES, headers = {}, onRetry } = options;
  const request = options.fetch ?? ((input, init) => fetch(input, init));

  const attempt = async (sending: Sending): Promise<Response> => {
    const { method, url, body, signal, onUploadProgress } = sending;
    const limit = AbortSignal.timeout(sending.timeoutMs ?? timeoutMs);
    const init: RequestInit = {
      method,
      headers: { ...headers, ...(await credentials(options)), ...sending.headers },
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      ...(body === undefined ? {} : { body }),
    };
    try {
      return onUploadProgress === undefined
        ? await request(url, init)
        : await sendWithProgress(url, init, { fetch: request, onProgress: onUploadProgress });
    } catch (error) {
      if (signal?.aborted === true) throw error;
      if (limit.aborted) {
        const seconds = (sending.timeoutMs ?? timeoutMs) / 1000;
        throw new TimedOut(method, url, `none within ${seconds} seconds`, { cause: error });
      }
      throw new NoAnswer(method, url, reasonOf(error), { cause: error });
    }
  };

  return {
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    async send(sending) {
      for (let tries = 1; ; tries += 1) {
        const outcome = await answerOrError(attempt, sending);
        if (outcome instanceof Response) return outcome;
        const waitMs = tries > (sending.retries ?? retries) ? null : waitBefore(tries, outcome, sending.isIdempotent);
        if (waitMs === null) throw outcome;
        onRetry?.({ attempt: tries, waitMs, error: outcome });
        await pause(waitMs, sending.signal);
      }
    },
  };
}

async function answerOrError(
  attempt: (sending: Sending) => Promise<Response>,
  sending: Sending,
): Promise<Response | ApiError | NoAnswer> {
  try {
    const response = await attempt(sending);
    return response.ok ? response : await errorOf(sending.method, response);
  } catch (error) {
    if (error instanceof NoAnswer) return error;
    throw error;
  }
}

/** Null: the request is not sent again. A request that ran into the time limit would do so again. */
function waitBefore(tries: number, error: ApiError | NoAnswer, isIdempotent: boolean): number | null {
  if (error instanceof TimedOut) return null;
  const named = error instanceof ApiError ? error.retryAfterMs : null;
  const isRefused = error instanceof ApiError && error.status === 429;
  const isUnderWay = error instanceof ApiError && error.status === 409 && named !== null;
  const isLost = error instanceof NoAnswer || isUnderWay || [502, 503, 504].includes(error.status);
  if (!isRefused && !(isLost && isIdempotent)) return null;
  if (named !== null) return named > LONGEST_RETRY_AFTER_MS ? null : named;
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1));
  return longest / 2 + (Math.random() * longest) / 2;
}

async function credentials({ apiKey, token }: TransportOptions): Promise<Record<string, string>> {
  const bearer = typeof token === 'function' ? await token() : token;
  return {
    ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }),
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
  };
}

/** Node says what happened in the cause, browsers only that it did. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof AggregateError) return reasonOf(new Error('', { cause: cause.errors[0] }));
  const { code, message } = (cause ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code === 'string') return code;
  if (typeof message === 'string' && message !== '') return message;
  return error instanceof Error ? error.message : String(error);
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, milliseconds);
    if (signal?.aborted === true) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}
