import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';

/** One file of an archive. Its content must be read, or left, before the next member is asked for. */
export interface ArchiveMember {
  /** Path in the archive, with `/`. */
  readonly name: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/** The archive cannot be used as a whole. The message says why, and names nothing outside the archive. */
export class InvalidArchive extends Error {}

const GIB = 1024 ** 3;
const LIMITS = { members: 100_000, memberBytes: GIB / 2, bytes: 2 * GIB } as const;

/**
 * Files of a gzip-compressed tar archive, streamed. Nothing is written by a name of the archive, and links are left out.
 * Errors: `InvalidArchive`, also for one that unpacks to more than 2 GiB, or has names that lead outside.
 */
export async function* tarMembers(compressed: Readable): AsyncGenerator<ArchiveMember> {
  const tar = extract();
  // Its failure also ends the iteration below, which reports it.
  const feeding = pipeline(compressed, createGunzip(), limited, tar).catch((error: unknown) => {
    tar.destroy(error as Error);
  });
  let members = 0;
  try {
    for await (const entry of tar) {
      const { name, size, type } = entry.header;
      members += 1;
      if (members > LIMITS.members) throw new InvalidArchive(`It has more than ${LIMITS.members} members.`);
      if (size > LIMITS.memberBytes) throw new InvalidArchive('A member is larger than 512 MiB.');
      if (name.startsWith('/') || name.split(/[\\/]/).includes('..'))
        throw new InvalidArchive('The name of a member leads outside the archive.');
      if (type === 'file' || type === 'contiguous-file') yield { name, content: readable(entry) };
      entry.resume();
    }
  } catch (error) {
    throw asInvalid(error);
  } finally {
    compressed.destroy();
    tar.destroy();
    await feeding;
  }
}

async function* limited(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > LIMITS.bytes) throw new InvalidArchive('It unpacks to more than 2 GiB.');
    yield chunk;
  }
}

async function* readable(entry: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* entry as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw asInvalid(error);
  }
}

function asInvalid(error: unknown): InvalidArchive {
  if (error instanceof InvalidArchive) return error;
  return new InvalidArchive('It is no gzip-compressed tar archive, or is cut off.', { cause: error });
}
