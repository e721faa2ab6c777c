import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type EngramError, engramError, isEngramError } from '../../kernel/errors.ts';

interface BodyLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Name of the resource, for messages. */
  readonly name: string;
}

/**
 * The unpacked body, ending with `PayloadTooLargeError` when it is longer than allowed (declared or not, packed or not) and with
 * `IngestionError` when the connection breaks or the time is over. Destroying it closes the connection.
 */
export function limitedBody(response: IncomingMessage, limits: BodyLimits): Readable {
  const declaredBytes = Number(response.headers['content-length'] ?? 0);
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const unpack = unpacker(encoding);
  if (declaredBytes > limits.maxBytes || unpack === null) {
    response.destroy();
    if (unpack === null)
      throw engramError('IngestionError', `${limits.name} is packed in an unknown way (${encoding.slice(0, 40)})`);
    throw tooLarge(limits);
  }
  const counter = countingStream(limits);
  pipeline(unpack === undefined ? [response, counter] : [response, unpack, counter], () => {
    // Whatever went wrong reaches the reader through the last stream.
  });
  return counter;
}

/** Undefined: as it is. Null: unknown. */
function unpacker(encoding: string): Transform | null | undefined {
  switch (encoding) {
    case 'identity':
    case '':
      return undefined;
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      return null;
  }
}

function countingStream(limits: BodyLimits): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.byteLength;
      if (bytes > limits.maxBytes) done(tooLarge(limits));
      else done(null, chunk);
    },
    destroy(error, done) {
      done(error === null ? null : readingError(error, limits));
    },
  });
}

function tooLarge({ name, maxBytes }: BodyLimits): EngramError {
  return engramError('PayloadTooLargeError', `the document at ${name} is larger than ${maxBytes} bytes`);
}

function timeoutError({ name, timeoutMs }: BodyLimits): EngramError {
  return engramError('IngestionError', `${name} did not end within ${timeoutMs / 1_000} seconds`, { retryable: true });
}

/** Once the request is aborted, the streams fail in different ways; only the signal knows why. */
function readingError(error: Error, limits: BodyLimits): Error {
  if (isEngramError(error)) return error;
  if (!limits.signal.aborted) return brokenError(error, limits);
  const reason: unknown = limits.signal.reason;
  if (reason instanceof Error && reason.name === 'TimeoutError') return timeoutError(limits);
  return reason instanceof Error ? reason : error;
}

function brokenError(error: Error, { name }: BodyLimits): EngramError {
  const code = (error as NodeJS.ErrnoException).code ?? error.name;
  return engramError('IngestionError', `reading ${name} broke off (${code})`, { cause: error, retryable: true });
}
