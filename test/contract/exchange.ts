import type { FormPart, RequestSpec } from './case.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined when empty. */
  readonly body: unknown;
}

const TIMEOUT_MS = 60_000;
const SOCKET_TIMEOUT_MS = 15_000;

/** One request and its answer; redirects are not followed. */
export async function exchange(
  baseUrl: string,
  request: RequestSpec,
  credential: Readonly<Record<string, string>>,
): Promise<Answer> {
  const url = new URL(baseUrl + request.path);
  for (const [name, value] of Object.entries(request.query ?? {})) {
    for (const entry of [value].flat()) url.searchParams.append(name, entry);
  }
  const headers = new Headers(credential);
  const body = bodyOf(request, headers);
  for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, value);
  if (request.method === 'WEBSOCKET') return listen(url, headers);
  const response = await fetch(url, {
    method: request.method,
    headers,
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, headers: response.headers, body: parse(await response.text(), response.headers) };
}

function bodyOf(request: RequestSpec, headers: Headers): string | FormData | URLSearchParams | undefined {
  if (request.json !== undefined) {
    headers.set('content-type', 'application/json');
    return JSON.stringify(request.json);
  }
  if (request.raw !== undefined) return request.raw;
  if (request.urlencoded !== undefined) {
    const pairs = Object.entries(request.urlencoded);
    return new URLSearchParams(
      pairs.flatMap(([name, value]) => [value].flat().map((entry): [string, string] => [name, entry])),
    );
  }
  return request.multipart === undefined ? undefined : formOf(request.multipart);
}

function formOf(parts: readonly FormPart[]): FormData {
  const form = new FormData();
  for (const { name, value = '', file } of parts) {
    if (file === undefined) form.append(name, value);
    else {
      const content = file.base64 === undefined ? (file.text ?? '') : Buffer.from(file.base64, 'base64');
      form.append(name, new Blob([content], { type: file.type ?? 'application/octet-stream' }), file.name);
    }
  }
  return form;
}

function parse(text: string, headers: Headers): unknown {
  if (text === '') return undefined;
  if (!(headers.get('content-type') ?? '').includes('json')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Status 0 when the server did not close in time. */
async function listen(url: URL, headers: Headers): Promise<Answer> {
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  // Node's WebSocket takes headers, which the standard one does not.
  const socket = new WebSocket(url, { headers: Object.fromEntries(headers) } as unknown as string[]);
  const frames: unknown[] = [];
  return new Promise((resolve) => {
    const end = (status: number, reason: string): void => {
      clearTimeout(timer);
      socket.close();
      resolve({ status, headers: new Headers(), body: { reason, frames } });
    };
    const timer = setTimeout(() => end(0, 'still open'), SOCKET_TIMEOUT_MS);
    socket.addEventListener('message', ({ data }) => frames.push(JSON.parse(String(data))));
    socket.addEventListener('close', ({ code, reason }) => end(code, reason));
  });
}
