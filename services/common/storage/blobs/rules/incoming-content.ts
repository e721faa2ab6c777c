import type { Readable } from 'node:stream';

/** Hashing takes a millisecond for so much: others get their turn while a large content is written. */
const SLICE_BYTES = 512 * 1024;

/** The bytes of a put, piece by piece. Ends with an error when the stream breaks or the signal is aborted. */
export async function* contentChunks(
  content: Readable | Uint8Array,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  signal?.throwIfAborted();
  if (content instanceof Uint8Array) {
    for (let at = 0; at === 0 || at < content.byteLength; at += SLICE_BYTES) {
      signal?.throwIfAborted();
      yield content.subarray(at, at + SLICE_BYTES);
    }
    return;
  }
  const abort = () => content.destroy(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    for await (const chunk of content) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    signal?.throwIfAborted();
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
