/** An answer of the API that is an error. Its message is for the person in front of the page. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly query?: Query;
  /** Sent as JSON; a form is sent as it is. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

const BASE = '/api/v1';

export function address(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const one of [value].flat()) search.append(name, String(one));
  }
  return `${BASE}${path}${search.size === 0 ? '' : `?${search}`}`;
}

export async function send(path: string, { method = 'GET', query, body, signal }: Call = {}): Promise<Response> {
  const isForm = body instanceof FormData || body instanceof URLSearchParams;
  let response: Response;
  try {
    response = await fetch(address(path, query), {
      method,
      headers: body === undefined || isForm ? {} : { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, 'The server does not answer. Is it running?');
  }
  if (!response.ok) throw await errorOf(response);
  return response;
}

export async function call<Answer>(path: string, options?: Call): Promise<Answer> {
  const response = await send(path, options);
  return (response.status === 204 ? null : await response.json()) as Answer;
}

/** A list of which the answer holds one page. */
export async function page<Row>(
  path: string,
  query: Query,
): Promise<{ readonly rows: readonly Row[]; readonly total: number }> {
  const response = await send(path, { query });
  const rows = (await response.json()) as Row[];
  return { rows, total: Number(response.headers.get('x-total-count') ?? rows.length) };
}

export async function errorOf(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => null);
  return new ApiError(response.status, messageOf(body) ?? `The server answered ${response.status}.`);
}

/** The API has three forms of errors: a text, a list of faults, a text under another name. */
export function messageOf(body: unknown): string | null {
  const { detail, error } = (body ?? {}) as { readonly detail?: unknown; readonly error?: unknown };
  if (Array.isArray(detail)) {
    return detail
      .map(
        ({ loc = [], msg = '' }: { loc?: readonly (string | number)[]; msg?: string }) =>
          `${loc.slice(1).join('.')}: ${msg}`,
      )
      .join('; ');
  }
  const { reason } = (detail ?? {}) as { readonly reason?: unknown };
  if (typeof reason === 'string') return reason;
  // The name of the class in brackets is for programs.
  if (typeof detail === 'string') return detail.replace(/ \[\w+\]$/, '');
  return typeof error === 'string' ? error : null;
}

/** Uploads a form and reports how much has been sent, which `fetch` cannot. */
export function upload(path: string, form: FormData, onProgress: (share: number) => void): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `${BASE}${path}`);
    request.responseType = 'json';
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total));
    request.addEventListener('error', () => reject(new ApiError(0, 'The upload was cut off.')));
    request.addEventListener('load', () => {
      const body: unknown = request.response;
      if (request.status < 400) resolve(body);
      else reject(new ApiError(request.status, messageOf(body) ?? `The server answered ${request.status}.`));
    });
    request.send(form);
  });
}
