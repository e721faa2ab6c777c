import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { contentChunks, createContentDigest } from '../rules/incoming-content.ts';

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
  const digest = createContentDigest();
  for await (const chunk of contentChunks(content, signal)) {
    digest.add(chunk);
    await handle.writeFile(chunk);
  }
  return digest.result();
}
