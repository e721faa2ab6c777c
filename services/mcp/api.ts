import type { RouteRequest } from '../common/platform/http/route.ts';

/** The request of a client, in whose name the API is called. */
export type McpRequest = Pick<RouteRequest<unknown, unknown, unknown>, 'headers' | 'remoteAddress'>;

/** Sends a request to the HTTP API with the credentials of the caller; `path` begins with `/api/v1`. As `fetch` otherwise. */
export type SendRequest = (path: string, init: RequestInit) => Promise<Response>;

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

/** The HTTP API as the tools use it. Every method throws `ApiError` for answers that are no success. */
export interface EngramApi {
  get<Answer>(path: string, query?: Query): Promise<Answer>;
  post<Answer>(path: string, body: object | FormData): Promise<Answer>;
  delete<Answer>(path: string, query?: Query): Promise<Answer>;
  text(path: string, query?: Query): Promise<string>;
}

/** Error for an answer of the API that is not a success; `detail` is its message. */
export class ApiError extends Error {
  readonly status: number;
  readonly detail: string;
  /** Null: the answer names no time. */
  readonly retryAfterSeconds: number | null;

  constructor(status: number, detail: string, retryAfterSeconds: number | null) {
    super(detail);
    this.status = status;
    this.detail = detail;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Requests end when `signal` is aborted. */
export function createApi(send: SendRequest, signal: AbortSignal): EngramApi {
  const request = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = { accept: 'application/json', ...(init.headers as Record<string, string> | undefined) };
    const response = await send(path, { ...init, headers, signal });
    if (!response.ok) throw await errorOf(response);
    return response;
  };
  const bodyOf = async <Answer>(response: Response): Promise<Answer> => {
    const text = await response.text();
    return (text === '' ? null : JSON.parse(text)) as Answer;
  };
  return {
    get: async (path, query) => bodyOf(await request(withQuery(path, query), { method: 'GET' })),
    delete: async (path, query) => bodyOf(await request(withQuery(path, query), { method: 'DELETE' })),
    async post(path, body) {
      const init =
        body instanceof FormData
          ? { body }
          : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
      return bodyOf(await request(path, { method: 'POST', ...init }));
    },
    async text(path, query) {
      const headers = { accept: '*/*' };
      return (await request(withQuery(path, query), { method: 'GET', headers })).text();
    },
  };
}

function withQuery(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined) continue;
    for (const each of Array.isArray(value) ? value : [value]) search.append(name, String(each));
  }
  return search.size === 0 ? path : `${path}?${search}`;
}

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiError(
    response.status,
    messageOf(text) || response.statusText,
    Number.isFinite(seconds) ? seconds : null,
  );
}

/** The error bodies of the contract: a detail text, a list of faults of the input, error with detail. */
function messageOf(body: string): string {
  try {
    const { detail, error } = JSON.parse(body) as { detail?: unknown; error?: unknown };
    if (Array.isArray(detail)) return detail.map(faultText).join('; ');
    return [error, detail].filter((part) => typeof part === 'string' && part !== '').join(': ');
  } catch {
    return body.slice(0, 300);
  }
}

function faultText(fault: { readonly loc?: unknown; readonly msg?: unknown }): string {
  return `${Array.isArray(fault.loc) ? fault.loc.join('.') : 'request'}: ${String(fault.msg)}`;
}
