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

/** It has more members, or unpacks to more, than is taken. */
export class ArchiveTooLarge extends InvalidArchive {}

const GIB = 1024 ** 3;
/** Limits of an archive of a whole memory, which is streamed. */
const LIMITS: ArchiveLimits = { members: 100_000, memberBytes: GIB / 2, bytes: 2 * GIB };

interface ArchiveLimits {
  readonly members: number;
  readonly memberBytes: number;
  /** Of all members together, unpacked. */
  readonly bytes: number;
}

/**
 * Files of a tar archive, by default gzip-compressed, streamed. Nothing is written by a name of the archive, and links are
 * left out. Errors: `InvalidArchive`, also for one that has names that lead outside, `ArchiveTooLarge`.
 */
export async function* tarMembers(
  packed: Readable,
  { isCompressed = true, limits = LIMITS }: { readonly isCompressed?: boolean; readonly limits?: ArchiveLimits } = {},
): AsyncGenerator<ArchiveMember> {
  const tar = extract();
  const limited = limitedTo(limits.bytes);
  const feed = isCompressed ? pipeline(packed, createGunzip(), limited, tar) : pipeline(packed, limited, tar);
  // Its failure also ends the iteration below, which reports it.
  const feeding = feed.catch((error: unknown) => {
    tar.destroy(error as Error);
  });
  let members = 0;
  try {
    for await (const entry of tar) {
      const { name, size, type } = entry.header;
      members += 1;
      if (members > limits.members) throw new ArchiveTooLarge(`It has more than ${limits.members} members.`);
      if (size > limits.memberBytes)
        throw new ArchiveTooLarge(`A member is larger than ${sizeText(limits.memberBytes)}.`);
      if (name.startsWith('/') || name.split(/[\\/]/).includes('..'))
        throw new InvalidArchive('The name of a member leads outside the archive.');
      if (type === 'file' || type === 'contiguous-file') yield { name, content: readable(entry, isCompressed) };
      entry.resume();
    }
  } catch (error) {
    throw asInvalid(error, isCompressed);
  } finally {
    packed.destroy();
    tar.destroy();
    await feeding;
  }
}

function limitedTo(limit: number) {
  return async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > limit) throw new ArchiveTooLarge(`It unpacks to more than ${sizeText(limit)}.`);
      yield chunk;
    }
  };
}

function sizeText(bytes: number): string {
  return bytes >= GIB ? `${bytes / GIB} GiB` : `${bytes / 1024 ** 2} MiB`;
}

async function* readable(entry: Readable, isCompressed: boolean): AsyncGenerator<Uint8Array> {
  try {
    yield* entry as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw asInvalid(error, isCompressed);
  }
}

function asInvalid(error: unknown, isCompressed: boolean): InvalidArchive {
  if (error instanceof InvalidArchive) return error;
  const kind = isCompressed ? 'gzip-compressed tar archive' : 'tar archive';
  return new InvalidArchive(`It is no ${kind}, or is cut off.`, { cause: error });
}
