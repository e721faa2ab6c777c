import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { engramError } from '../../kernel/errors.ts';
import { createContentDigest } from '../../kernel/hashes.ts';
import { openNameless } from '../../kernel/nameless-file.ts';
import type { UploadedFile } from './route.ts';

/** Uploads up to this size stay in memory. */
export const MEMORY_FILE_BYTES = 64 * 1024;

/** Headers of a file part. */
export interface FilePart {
  readonly field: string;
  readonly fileName: string;
  readonly mimeType: string;
}

export type SpooledFile = Awaited<ReturnType<typeof spool>>;

export interface SpoolOptions {
  readonly directory: string;
  /** At most `MEMORY_FILE_BYTES` are used; less when the request has many files. */
  readonly memoryBytes: number;
}

/**
 * Takes a file in: small ones to memory, larger ones to a temporary file, hashing on the way. The temporary file has no
 * name from the moment it is open, so that neither an aborted request nor a killed process leaves one behind.
 */
export async function spool(part: FilePart, chunks: AsyncIterable<Buffer>, options: SpoolOptions) {
  const digest = createContentDigest();
  const memory: Buffer[] = [];
  let sizeBytes = 0;
  let disk: FileHandle | null = null;
  try {
    for await (const chunk of chunks) {
      digest.add(chunk);
      sizeBytes += chunk.length;
      memory.push(chunk);
      if (disk === null && sizeBytes > options.memoryBytes) disk = await openNameless(options.directory, 'upload');
      if (disk !== null) await writeAll(disk, memory.splice(0));
    }
  } catch (error) {
    await disk?.close();
    throw isDiskFull(error)
      ? engramError('ServiceUnavailableError', 'There is no space left for uploads.', { cause: error })
      : error;
  }
  const handle = disk;
  const content = handle === null ? Buffer.concat(memory) : null;
  const streams = new Set<Readable>();
  const file: UploadedFile = {
    ...part,
    ...digest.result(),
    open() {
      const stream = Readable.from(handle === null ? memoryChunks(content) : diskChunks(handle, sizeBytes), {
        objectMode: false,
      });
      streams.add(stream);
      stream.once('close', () => streams.delete(stream));
      return stream;
    },
  };
  return {
    file,
    async dispose() {
      for (const stream of streams) stream.destroy();
      await handle?.close();
    },
  };
}

async function writeAll(handle: FileHandle, chunks: readonly Buffer[]): Promise<void> {
  let { length } = chunks;
  if (length === 0) return;
  length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const { bytesWritten } = await handle.writev([...chunks]);
  if (bytesWritten === length) return;
  const rest = Buffer.concat(chunks).subarray(bytesWritten);
  for (let at = 0; at < rest.length; ) at += (await handle.write(rest, at)).bytesWritten;
}

function* memoryChunks(content: Buffer | null): Generator<Buffer> {
  if (content !== null && content.length > 0) yield content;
}

const READ_BYTES = 128 * 1024;

/** Reads by position, so that several readers of one file do not disturb each other. */
async function* diskChunks(handle: FileHandle, sizeBytes: number): AsyncGenerator<Buffer> {
  for (let position = 0; position < sizeBytes; ) {
    const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, sizeBytes - position));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) throw new Error('The upload is gone.');
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

function isDiskFull(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 'ENOSPC' || code === 'EDQUOT';
}
