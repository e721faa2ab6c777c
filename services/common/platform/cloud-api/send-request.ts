import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface OutgoingBody {
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly content: Readable;
}

export interface SendRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: OutgoingBody;
  /** How long nothing may go in either direction. */
  readonly silenceMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Error of the remote side; its message names no account. */
export class RemoteFault extends Error {
  override readonly name = 'RemoteFault';
}

/**
 * Resolves with status and headers; the body is the caller's to read, and is destroyed with the signal and by silence. The
 * answer may come before all of the body was sent. A body that cannot be read rejects as it does.
 */
export function sendRequest(options: SendRequest): Promise<IncomingMessage> {
  const { method, url, headers, body, silenceMs, signal } = options;
  const target = new URL(url);
  // With the first request: TLS would cost each start 20 ms.
  const client = process.getBuiltinModule(target.protocol === 'https:' ? 'node:https' : 'node:http');
  const bodyHeaders =
    body === undefined ? {} : { 'content-type': body.contentType, 'content-length': String(body.sizeBytes) };
  return new Promise((resolve, reject) => {
    const request = client.request(target, {
      method,
      agent: false,
      headers: { ...headers, ...bodyHeaders },
      ...(signal === undefined ? {} : { signal }),
    });
    request.setTimeout(silenceMs, () =>
      request.destroy(new RemoteFault(`it was silent for ${silenceMs / 1000} seconds`)),
    );
    request.once('response', resolve);
    request.on('error', (error) => reject(error instanceof RemoteFault ? error : unreachable(error)));
    if (body === undefined) {
      request.end();
      return;
    }
    body.content.once('error', reject);
    // What the connection has to say comes as the request's error, or as an answer.
    pipeline(body.content, request).catch(() => null);
  });
}

function unreachable(cause: Error): RemoteFault {
  const code = (cause as { code?: unknown }).code;
  return new RemoteFault(`it cannot be reached${typeof code === 'string' ? ` (${code})` : ''}`, { cause });
}
