import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

export interface IncomingFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly md5: string;
  readonly sha256: string;
}

/**
 * Writes content to a file of its own while hashing it, so that what is later renamed into place is whole. A broken or
 * aborted stream leaves nothing.
 */
export async function receive(
  directory: string,
  content: Readable | Uint8Array,
  signal?: AbortSignal,
): Promise<IncomingFile> {
  const path = join(directory, randomUUID());
  signal?.throwIfAborted();
  const handle = await open(path, 'wx', 0o600);
  try {
    const written = await writeAll(handle, content, signal);
    await handle.close();
    return { path, ...written };
  } catch (error) {
    await handle.close();
    await rm(path, { force: true });
    throw error;
  }
}

async function writeAll(handle: FileHandle, content: Readable | Uint8Array, signal: AbortSignal | undefined) {
  const md5 = createHash('md5');
  const sha256 = createHash('sha256');
  let sizeBytes = 0;
  for await (const chunk of chunksOf(content, signal)) {
    md5.update(chunk);
    sha256.update(chunk);
    sizeBytes += chunk.byteLength;
    await handle.writeFile(chunk);
  }
  return { sizeBytes, md5: md5.digest('hex'), sha256: sha256.digest('hex') };
}

async function* chunksOf(content: Readable | Uint8Array, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  if (content instanceof Uint8Array) {
    yield content;
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
