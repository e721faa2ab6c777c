import { errorOf } from '../client/errors.ts';
import type { RouteRequest } from '../common/platform/http/route.ts';

/** The request of a client, in whose name the API is called. */
export type McpRequest = Pick<RouteRequest<unknown, unknown, unknown>, 'headers' | 'remoteAddress'>;

/** Sends a request to the HTTP API with the credentials of the caller; `path` begins with `/api/v1`. As `fetch` otherwise. */
export type SendRequest = (path: string, init: RequestInit) => Promise<Response>;

type Query = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

/** The HTTP API as the tools use it. Every method throws `ApiError` for answers that are no success. */
export interface EngramApi {
  get<Answer>(path: string, query?: Query): Promise<Answer>;
  post<Answer>(path: string, body: object | FormData): Promise<Answer>;
  delete<Answer>(path: string, query?: Query): Promise<Answer>;
  text(path: string, query?: Query): Promise<string>;
}

/** An answer of this process has no address. */
const ANY_HOST = 'http://localhost';

/** Requests end when `signal` is aborted. */
export function createApi(send: SendRequest, signal: AbortSignal): EngramApi {
  const request = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = { accept: 'application/json', ...(init.headers as Record<string, string> | undefined) };
    const response = await send(path, { ...init, headers, signal });
    if (!response.ok) throw await errorOf(init.method ?? 'GET', response, new URL(path, ANY_HOST).href);
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
