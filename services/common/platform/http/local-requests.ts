import { request as httpRequest, type IncomingMessage, type RequestOptions, type Server } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type Duplex, duplexPair, Readable } from 'node:stream';

/** Header fields that belong to one connection or to the framing of a body, which each request makes anew. */
const OF_CONNECTION = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['content-length', 'content-type', 'content-encoding', 'expect', 'accept', 'accept-encoding'],
]);

export interface OutgoingRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ReadableStream<Uint8Array> | null;
  readonly signal: AbortSignal;
}

/** Returns what a request says of its sender and its credentials, for another one in its name. */
export function headersOfCaller(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const own = Object.entries(headers).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined && !OF_CONNECTION.has(entry[0]) && !entry[0].startsWith('mcp-');
  });
  return Object.fromEntries(own);
}

/** Sends a request to the server at `origin`. The `Host` of its headers is kept. */
export function sendRequest(origin: string, request: OutgoingRequest): Promise<Response> {
  const { protocol, hostname, port } = new URL(origin);
  return send(request, { protocol, hostname: hostname.replace(/^\[|\]$/gu, ''), port });
}

/** Sends a request to a server of this process through memory: it arrives there as from `remoteAddress`. */
export function sendLocally(server: Server, request: OutgoingRequest, remoteAddress: string): Promise<Response> {
  return send(request, { createConnection: () => connectionTo(server, remoteAddress) });
}

function connectionTo(server: Server, remoteAddress: string): Duplex {
  const [ours, theirs] = duplexPair();
  server.emit('connection', Object.assign(theirs, { remoteAddress }));
  return ours;
}

function send({ method, path, headers, body, signal }: OutgoingRequest, target: RequestOptions): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = target.protocol === 'https:' ? httpsRequest : httpRequest;
    const outgoing = request({ ...target, method, path, headers, signal });
    outgoing.once('error', reject);
    outgoing.once('response', (answer) => resolve(responseOf(answer)));
    if (body === null) outgoing.end();
    else
      Readable.fromWeb(body as never)
        .on('error', (error) => outgoing.destroy(error))
        .pipe(outgoing);
  });
}

/** Statuses whose answers have no body. */
const EMPTY = new Set([204, 205, 304]);

function responseOf(answer: IncomingMessage): Response {
  const { statusCode: status = 500, statusMessage: statusText = '', headers } = answer;
  const fields = Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((each) => [name, each]));
  if (EMPTY.has(status)) answer.resume();
  const body = EMPTY.has(status) ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>);
  return new Response(body, { status, statusText, headers: fields as [string, string][] });
}
