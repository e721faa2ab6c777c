export interface UploadProgress {
  readonly sentBytes: number;
  /** Bytes of all files and fields, without what the form adds. */
  readonly totalBytes: number;
}

/** The used part of the XMLHttpRequest of browsers, whose types the services do not load. */
interface BrowserRequest {
  readonly status: number;
  readonly statusText: string;
  readonly responseURL: string;
  readonly response: Blob;
  readonly upload: { onprogress: (event: { readonly loaded: number }) => void };
  responseType: string;
  onload: () => void;
  onerror: () => void;
  onabort: () => void;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getAllResponseHeaders(): string;
  send(body: unknown): void;
  abort(): void;
}
declare const XMLHttpRequest: (new () => BrowserRequest) | undefined;

interface ProgressOptions {
  readonly fetch: typeof fetch;
  readonly onProgress: (progress: UploadProgress) => void;
}

/** Sends a request and reports how much of its body is sent: by XMLHttpRequest in browsers, which have no other way. */
export async function sendWithProgress(url: string, init: RequestInit, options: ProgressOptions): Promise<Response> {
  const totalBytes = sizeOf(init.body);
  const report = (sent: number) => options.onProgress({ sentBytes: Math.min(sent, totalBytes), totalBytes });
  report(0);
  const response =
    typeof XMLHttpRequest === 'undefined'
      ? await sendCounted(url, init, options, report)
      : await sendByXhr(new XMLHttpRequest(), { url, init, report });
  report(totalBytes);
  return response;
}

/** Sends the body in small parts, and counts those that the connection has taken. */
async function sendCounted(
  url: string,
  init: RequestInit,
  { fetch }: ProgressOptions,
  report: (sent: number) => void,
): Promise<Response> {
  const { body, headers } = new Response(init.body ?? null);
  if (body === null) return fetch(url, init);
  const type = headers.get('content-type');
  const all = { ...(init.headers as Record<string, string>), ...(type === null ? {} : { 'content-type': type }) };
  return fetch(url, { ...init, headers: all, body: counted(body, report), duplex: 'half' } as RequestInit);
}

const PART_BYTES = 64 * 1024;

function counted(body: ReadableStream<Uint8Array>, report: (sent: number) => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let sent = 0;
  let rest = new Uint8Array();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        report(sent);
        while (rest.byteLength === 0) {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          rest = new Uint8Array(value);
        }
        const part = rest.subarray(0, PART_BYTES);
        rest = rest.subarray(PART_BYTES);
        sent += part.byteLength;
        controller.enqueue(part);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

interface Upload {
  readonly url: string;
  readonly init: RequestInit;
  readonly report: (sent: number) => void;
}

function sendByXhr(request: BrowserRequest, { url, init, report }: Upload): Promise<Response> {
  return new Promise((resolve, reject) => {
    request.open(init.method ?? 'POST', url);
    request.responseType = 'blob';
    for (const [name, value] of Object.entries(init.headers as Record<string, string>)) {
      request.setRequestHeader(name, value);
    }
    request.upload.onprogress = ({ loaded }) => report(loaded);
    request.onload = () => resolve(responseOf(request));
    request.onerror = () => reject(new TypeError('the connection failed'));
    request.onabort = () => reject(init.signal?.reason ?? new DOMException('aborted', 'AbortError'));
    init.signal?.addEventListener('abort', () => request.abort(), { once: true });
    request.send(init.body);
  });
}

function responseOf(request: BrowserRequest): Response {
  const lines = request
    .getAllResponseHeaders()
    .trim()
    .split(/[\r\n]+/);
  const headers = new Headers(
    lines.filter(Boolean).map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const isEmpty = [204, 205, 304].includes(request.status);
  const { status, statusText, responseURL } = request;
  const response = new Response(isEmpty ? null : request.response, { status, statusText, headers });
  // The constructor has no way to give it.
  Object.defineProperty(response, 'url', { value: responseURL });
  return response;
}

function sizeOf(body: RequestInit['body']): number {
  if (typeof body === 'string') return new TextEncoder().encode(body).byteLength;
  if (body instanceof Blob) return body.size;
  if (!(body instanceof FormData)) return 0;
  return [...body.values()].reduce((sum, value) => sum + (typeof value === 'string' ? sizeOf(value) : value.size), 0);
}
