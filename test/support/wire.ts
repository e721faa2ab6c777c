import { connect } from 'node:net';
import { answerCheckOf } from './answer-check.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body, or undefined when it is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read what the contract says is there, and fail when it is not
  readonly json: any;
}

export interface Upload {
  readonly name: string;
  readonly content: string | Uint8Array;
  readonly type?: string;
}

/** The HTTP API as a client sees it; paths are below `/api/v1`. */
export interface Wire {
  readonly baseUrl: string;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  remove(path: string, body?: unknown): Promise<Answer>;
  /** A string is sent as it is. */
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  patch(path: string, body: unknown): Promise<Answer>;
  put(path: string, body: unknown): Promise<Answer>;
  upload(dataset: string, ...files: readonly Upload[]): Promise<Answer>;
  form(path: string, form: FormData): Promise<Answer>;
}

export function createWire(baseUrl: string, always: Record<string, string> = {}): Wire {
  const send = async (path: string, init: RequestInit): Promise<Answer> => {
    const headers = { ...always, ...(init.headers as Record<string, string> | undefined) };
    const response = await fetch(`${baseUrl}/api/v1${path}`, { ...init, headers });
    const text = await response.text();
    const answer = { status: response.status, headers: response.headers, text, json: parsed(text) };
    await requireDescribed(baseUrl, { method: init.method ?? 'GET', path: `/api/v1${path}` }, answer);
    return answer;
  };
  const sendJson = (method: string, path: string, body: unknown) =>
    send(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const form = (path: string, body: FormData) => send(path, { method: 'POST', body });
  return {
    baseUrl,
    form,
    get: (path, headers = {}) => send(path, { headers }),
    remove: (path, body) => {
      if (body === undefined) return send(path, { method: 'DELETE' });
      const headers = { 'content-type': 'application/json' };
      return send(path, { method: 'DELETE', headers, body: JSON.stringify(body) });
    },
    post: (path, body, headers = { 'content-type': 'application/json' }) =>
      send(path, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) }),
    patch: (path, body) => sendJson('PATCH', path, body),
    put: (path, body) => sendJson('PUT', path, body),
    upload(dataset, ...files) {
      const body = new FormData();
      body.append('datasetName', dataset);
      for (const { name, content, type } of files) {
        body.append('data', new Blob([content as Uint8Array<ArrayBuffer>], type === undefined ? {} : { type }), name);
      }
      return form('/add', body);
    },
  };
}

/** Every answer that a test sees is as the server's OpenAPI document says. */
async function requireDescribed(
  baseUrl: string,
  request: { readonly method: string; readonly path: string },
  { status, headers, json }: Answer,
): Promise<void> {
  if (status < 200 || status > 299) return;
  const [path = ''] = request.path.split('?');
  const checked = { ...request, path };
  const check = await answerCheckOf(baseUrl, checked);
  const problem = check.problem(checked, { status, contentType: headers.get('content-type'), json });
  if (problem !== null) throw new Error(problem);
}

/** Bytes to the port and what comes back until the server closes, or until `enough` says that it is all there. */
export function exchange(
  baseUrl: string,
  request: string | Uint8Array,
  options: { readonly halfClose?: boolean; readonly enough?: (received: string) => boolean } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect(Number(port), hostname, () => {
      if (options.halfClose) socket.end(request);
      else socket.write(request);
    });
    let received = '';
    socket.setEncoding('latin1');
    socket.setTimeout(60_000, () => socket.destroy(new Error(`no end after ${JSON.stringify(received)}`)));
    socket.on('data', (part: string) => {
      received += part;
      if (options.enough?.(received)) socket.destroy();
    });
    socket.on('close', () => resolve(received));
    socket.on('error', reject);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
