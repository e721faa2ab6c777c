import { createHash } from 'node:crypto';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip, gzip } from 'node:zlib';
import { type SnapshotPart, type SnapshotPartKind, unreadable } from '../../domain/snapshot.ts';
import { parseJson } from '../../kernel/json.ts';
import type { Scope } from '../../kernel/scope.ts';
import type { BlobStore } from '../ports/blob-store.ts';

/** Speed goes first: vectors hardly shrink, and text does by the first pass. */
const LEVEL = 1;
const BUFFER_BYTES = 256 * 1024;
/** Records are far smaller in every store; gzip packs a thousand times as much. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const compress = promisify(gzip);

export interface PartPlace {
  readonly blobs: BlobStore;
  readonly scope: Scope;
  /** Prefix of the snapshot; ends in `/`. */
  readonly folder: string;
}

/** Compresses what comes and writes it as it comes; a part that fails leaves nothing. */
export async function writePart(
  { blobs, scope, folder }: PartPlace,
  { kind, name }: { readonly kind: SnapshotPartKind; readonly name: string },
  content: AsyncIterable<Buffer | string>,
  signal?: AbortSignal,
): Promise<SnapshotPart> {
  const { sizeBytes, sha256 } = await blobs.put(
    scope,
    `${folder}${name}`,
    Readable.from(compressed(content), { objectMode: false }),
    signal,
  );
  return { kind, name, sizeBytes, sha256 };
}

/** One gzip member a buffer: what the source fails of is what the reader fails of, whenever it begins to read. */
async function* compressed(content: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
  let isEmpty = true;
  for await (const bytes of buffered(content)) {
    isEmpty = false;
    yield await compress(bytes, { level: LEVEL });
  }
  if (isEmpty) yield await compress(Buffer.alloc(0), { level: LEVEL });
}

/** The bytes as they were written; throws at the end when they are not what the manifest says, so nothing may count before. */
export async function* readPart({ blobs, scope, folder }: PartPlace, part: SnapshotPart): AsyncGenerator<Buffer> {
  const stored = await blobs.get(scope, `${folder}${part.name}`);
  if (stored === null) throw unreadable(`its part ${part.name} is missing`);
  const hashed = hashing(part);
  const gunzip = createGunzip();
  const reading = pipeline(stored, hashed, gunzip);
  reading.catch(() => {});
  try {
    for await (const bytes of gunzip) yield bytes as Buffer;
    await reading;
  } catch (error) {
    throw isDamage(error) ? unreadable(`its part ${part.name} is damaged`) : error;
  } finally {
    stored.destroy();
  }
}

/** `ConflictError` for a malformed line: the hash is known at the end alone. */
export async function* linesOf(
  content: AsyncIterable<Buffer>,
  maxBytes: number = MAX_LINE_BYTES,
): AsyncGenerator<unknown> {
  let rest: Buffer[] = [];
  let held = 0;
  for await (const bytes of content) {
    let start = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
      const line = bytes.subarray(start, end);
      yield parseLine((rest.length === 0 ? line : Buffer.concat([...rest, line])).toString());
      rest = [];
      held = 0;
      start = end + 1;
    }
    if (start < bytes.length) rest.push(bytes.subarray(start));
    held += bytes.length - start;
    if (held > maxBytes) throw unreadable(`a line of it has more than ${maxBytes} bytes, it was changed or damaged`);
  }
  if (rest.length > 0) throw unreadable('a part of it is cut off');
}

function parseLine(text: string): unknown {
  const value = parseJson(text);
  if (value === undefined) throw unreadable('its lines are damaged');
  return value;
}

export function lineOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

function hashing({ name, sha256, sizeBytes }: SnapshotPart): Transform {
  const hash = createHash('sha256');
  let size = 0;
  return new Transform({
    transform(bytes: Buffer, _encoding, done) {
      hash.update(bytes);
      size += bytes.length;
      done(null, bytes);
    },
    flush(done) {
      const isRight = size === sizeBytes && hash.digest('hex') === sha256;
      done(isRight ? null : unreadable(`the hash of its part ${name} differs, it was changed or damaged`));
    },
  });
}

function isDamage(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return (typeof code === 'string' && code.startsWith('Z_')) || error instanceof SyntaxError;
}

/** Few large pieces: each costs a turn of the event loop. */
async function* buffered(content: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of content) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    pieces.push(bytes);
    size += bytes.length;
    if (size < BUFFER_BYTES) continue;
    yield Buffer.concat(pieces, size);
    pieces = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(pieces, size);
}
