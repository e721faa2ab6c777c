import { once } from 'node:events';
import { type IncomingMessage, request as openRequest } from 'node:http';
import { request as openSecureRequest } from 'node:https';
import { text } from 'node:stream/consumers';
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
  return send(new Request(url, { method: request.method, headers, ...(body === undefined ? {} : { body }) }), headers);
}

/** By `node:http`, because fetch sends no foreign `Host`. The `Request` is only asked to encode its body. */
async function send(request: Request, headers: Headers): Promise<Answer> {
  const body = Buffer.from(await request.arrayBuffer());
  const contentType = request.headers.get('content-type');
  const sent = {
    ...(contentType === null ? {} : { 'content-type': contentType }),
    ...(body.length > 0 || request.method === 'POST' ? { 'content-length': body.length } : {}),
    ...Object.fromEntries(headers),
  };
  const open = request.url.startsWith('https:') ? openSecureRequest : openRequest;
  // A connection for each request: a case may leave one in disorder.
  const call = open(request.url, { method: request.method, headers: sent, timeout: TIMEOUT_MS, agent: false });
  call.on('timeout', () => call.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
  call.end(body);
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  const answered = new Headers();
  for (const [name, values] of Object.entries(response.headersDistinct)) {
    for (const value of values ?? []) answered.append(name, value);
  }
  return { status: response.statusCode ?? 0, headers: answered, body: parse(await text(response), answered) };
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

function parse(content: string, headers: Headers): unknown {
  if (content === '') return undefined;
  if (!(headers.get('content-type') ?? '').includes('json')) return content;
  try {
    return JSON.parse(content);
  } catch {
    return content;
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
