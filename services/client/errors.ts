/** A fault of one field of a request. */
export interface Fault {
  /** For example `body.query`. */
  readonly field: string;
  readonly message: string;
  readonly type: string;
}

export interface ErrorFacts {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  /** The body, parsed when it is JSON. */
  readonly body: unknown;
}

/** An answer that is no success. Its subclasses say which kind; `status` and `code` are exact. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError';
  readonly method: string;
  readonly url: string;
  readonly status: number;
  /** The message of the server. */
  readonly detail: string;
  /** The class of a service error, for example `DatasetNotFoundError`; null where the server names none. */
  readonly code: string | null;
  /** Every field that is wrong, for an invalid request. */
  readonly faults: readonly Fault[];
  readonly body: unknown;
  /** The id under which the server logged the request. */
  readonly requestId: string | null;
  /** After this time the same request may succeed; null where the server says nothing. */
  readonly retryAfterMs: number | null;

  constructor(facts: ErrorFacts) {
    const { method, url, status, statusText, headers, body } = facts;
    const faults = faultsOf(body);
    const detail = detailOf(body, faults) || statusText || `status ${status}`;
    super(`${method} ${new URL(url).pathname} was answered ${status}: ${detail}`);
    this.method = method;
    this.url = url;
    this.status = status;
    this.detail = detail;
    this.code = /\[(\w+)\]$/.exec(detail)?.[1] ?? null;
    this.faults = faults;
    this.body = body;
    this.requestId = headers.get('x-request-id');
    this.retryAfterMs = retryAfterOf(headers.get('retry-after'));
  }
}

/** 400, 415, 422: the request itself is wrong; `faults` names the fields. */
export class InvalidRequest extends ApiError {
  override readonly name = 'InvalidRequest';
}
/** 401: no credential, or one that is not valid. */
export class NotAuthenticated extends ApiError {
  override readonly name = 'NotAuthenticated';
}
/** 402: the budget of tokens is used up. */
export class BudgetExhausted extends ApiError {
  override readonly name = 'BudgetExhausted';
}
/** 403. */
export class NotPermitted extends ApiError {
  override readonly name = 'NotPermitted';
}
/** 404. */
export class NotFound extends ApiError {
  override readonly name = 'NotFound';
}
/** 409: what is there does not allow it, or another request is changing it. */
export class Conflict extends ApiError {
  override readonly name = 'Conflict';
}
/** 413: more than the server takes in one request. */
export class TooLarge extends ApiError {
  override readonly name = 'TooLarge';
}
/** 429: too many requests or runs; the client has waited and tried again before it throws this. */
export class RateLimited extends ApiError {
  override readonly name = 'RateLimited';
}
/** 5xx. */
export class ServerError extends ApiError {
  override readonly name = 'ServerError';
}

/** No answer came: the server cannot be reached, or the connection broke. `cause` is the error of the network. */
export class NoAnswer extends Error {
  override readonly name: string = 'NoAnswer';
  readonly method: string;
  readonly url: string;
  /** The code of Node, such as `ECONNREFUSED`, else words. */
  readonly reason: string;

  constructor(method: string, url: string, reason: string, options: ErrorOptions) {
    super(`${method} ${url} got no answer: ${reason}`, options);
    this.method = method;
    this.url = url;
    this.reason = reason;
  }
}

/** No answer came within the time limit of the client. */
export class TimedOut extends NoAnswer {
  override readonly name = 'TimedOut';
}

const CLASSES: Readonly<Record<number, typeof ApiError>> = {
  400: InvalidRequest,
  401: NotAuthenticated,
  402: BudgetExhausted,
  403: NotPermitted,
  404: NotFound,
  409: Conflict,
  413: TooLarge,
  415: InvalidRequest,
  422: InvalidRequest,
  429: RateLimited,
};

export function apiError(facts: ErrorFacts): ApiError {
  return new (CLASSES[facts.status] ?? (facts.status >= 500 ? ServerError : ApiError))(facts);
}

/** Reads the body of an answer that is no success; what is no JSON is kept as text. `url`: where the answer does not know it. */
export async function errorOf(method: string, response: Response, url = response.url): Promise<ApiError> {
  const { status, statusText, headers } = response;
  const text = await response.text().catch(() => '');
  return apiError({ method, url, status, statusText, headers, body: parsed(text) });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(0, 2000);
  }
}

/** The bodies of the contract: a detail, an error with or without a detail, a list of faults. */
function detailOf(body: unknown, faults: readonly Fault[]): string {
  if (faults.length > 0) return faults.map(({ field, message }) => `${field}: ${message}`).join('; ');
  if (typeof body === 'string') return body.slice(0, 300);
  const { detail, error } = (body ?? {}) as { readonly detail?: unknown; readonly error?: unknown };
  return [error, detail].map(textOf).filter(Boolean).join(': ');
}

function textOf(part: unknown): string {
  if (typeof part === 'string') return part;
  const { reason, message } = (part ?? {}) as { readonly reason?: unknown; readonly message?: unknown };
  const text = reason ?? message;
  return typeof text === 'string' ? text : '';
}

function faultsOf(body: unknown): readonly Fault[] {
  const { detail } = (body ?? {}) as { readonly detail?: unknown };
  if (!Array.isArray(detail)) return [];
  return detail.map((entry: { readonly loc?: unknown; readonly msg?: unknown; readonly type?: unknown }) => ({
    field: Array.isArray(entry.loc) ? entry.loc.join('.') : 'request',
    message: String(entry.msg ?? 'invalid'),
    type: String(entry.type ?? ''),
  }));
}

/** Seconds or a date. */
function retryAfterOf(header: string | null): number | null {
  if (header === null) return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return seconds * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
