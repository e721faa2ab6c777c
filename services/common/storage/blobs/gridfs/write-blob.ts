import type { Readable } from 'node:stream';
import { Binary, type ClientSession, type Document, type ObjectId } from 'mongodb';
import { engramError } from '../../../kernel/errors.ts';
import { createContentDigest } from '../../../kernel/hashes.ts';
import type { Scope } from '../../../kernel/scope.ts';
import type { MongodbConnection } from '../../documents/mongodb/connection.ts';
import { isDuplicateKey } from '../../documents/mongodb/mongodb-errors.ts';
import { inTransaction, retryDisturbed } from '../../documents/mongodb/transaction.ts';
import type { BlobInfo } from '../../ports/blob-store.ts';
import { contentChunks } from '../rules/incoming-content.ts';
import { type BlobCollections, type BlobFile, CHUNK_BYTES, liveIn, newFile } from './blob-layout.ts';

/** Chunks that are sent together, and what a put holds in memory. */
const CHUNKS_PER_BATCH = 4;
const HIDE_BATCH = 500;

interface WrittenBlob {
  readonly info: Omit<BlobInfo, 'key'>;
  /** Content that the blob replaced; not to be seen any more, but still to be removed. */
  readonly replaced: readonly ObjectId[];
}

interface PutOptions {
  readonly connection: MongodbConnection;
  readonly collections: BlobCollections;
  readonly scope: Scope;
  readonly key: string;
}

/**
 * Small content becomes visible in the transaction that writes it. Larger content is announced first, so that it is found
 * and swept when this process dies, and becomes visible when it is whole.
 */
export async function writeBlob(
  options: PutOptions,
  content: Readable | Uint8Array,
  signal: AbortSignal | undefined,
): Promise<WrittenBlob> {
  const digest = createContentDigest();
  const incoming: { file: BlobFile | null; sent: number } = { file: null, sent: 0 };
  let batch: Uint8Array[] = [];
  try {
    for await (const chunk of chunksOfSize(contentChunks(content, signal))) {
      digest.add(chunk);
      if (batch.length === CHUNKS_PER_BATCH) {
        incoming.file ??= await announce(options);
        await sendChunks(options, incoming.file._id, incoming.sent, batch);
        incoming.sent += batch.length;
        batch = [];
      }
      batch.push(chunk);
    }
    const info = digest.result();
    const file = { ...newFile(options.scope, options.key, info.sizeBytes, 'live'), ...idOf(incoming.file) };
    const replaced = await show(options, file, incoming, batch);
    return { info, replaced };
  } catch (error) {
    if (incoming.file !== null) await removeContents(options.collections, [incoming.file._id]);
    throw error;
  }
}

function idOf(file: BlobFile | null): Partial<BlobFile> {
  return file === null ? {} : { _id: file._id };
}

async function announce({ collections, scope, key }: PutOptions): Promise<BlobFile> {
  const file = newFile(scope, key, 0, 'incoming');
  await collections.files.insertOne(file);
  return file;
}

/** Writes the last chunks and lets the blob take its key, all or nothing. Returns what had the key before. */
async function show(
  options: PutOptions,
  file: BlobFile,
  incoming: { readonly file: BlobFile | null; readonly sent: number },
  batch: readonly Uint8Array[],
): Promise<readonly ObjectId[]> {
  const { connection, collections, scope, key } = options;
  const attempt = (isTaken: boolean) =>
    inTransaction(connection, async (session) => {
      const filter = { ...liveIn(scope), filename: key };
      const replaced = isTaken ? (await hide(collections, filter, session)).ids : [];
      if (batch.length > 0) await sendChunks(options, file._id, incoming.sent, batch, session);
      if (incoming.file === null) await collections.files.insertOne(file, { session });
      else await finish(collections, file, session);
      return replaced;
    });
  // Most keys are new, which saves looking for what they replace.
  let tries = 0;
  return retryDisturbed(isDuplicateKey, () => {
    tries += 1;
    return attempt(tries > 1);
  });
}

async function finish({ files }: BlobCollections, file: BlobFile, session: ClientSession): Promise<void> {
  const mine = { _id: file._id, 'metadata.state': 'incoming' } as const;
  const { matchedCount } = await files.replaceOne(mine, file, { session });
  if (matchedCount === 0) throw engramError('ConflictError', `The blob was removed while it was written`);
}

/** Takes at most `HIDE_BATCH` blobs out of sight. Returns their ids: their content is still to be removed. */
export async function hide(
  { files }: BlobCollections,
  filter: Document,
  session?: ClientSession,
): Promise<{ readonly ids: readonly ObjectId[]; readonly count: number }> {
  const options = session === undefined ? {} : { session };
  const found = await files.find(filter, { ...options, projection: { _id: 1 }, limit: HIDE_BATCH }).toArray();
  const ids = found.map(({ _id }) => _id);
  if (ids.length === 0) return { ids, count: 0 };
  // The filter again: a blob may have been moved since, or removed by another call, which then counts it.
  const still = { ...filter, _id: { $in: ids } };
  const { modifiedCount } = await files.updateMany(still, { $set: { 'metadata.state': 'removed' } }, options);
  const hidden = await files
    .find({ _id: { $in: ids }, 'metadata.state': 'removed' }, { ...options, projection: { _id: 1 } })
    .toArray();
  return { ids: hidden.map(({ _id }) => _id), count: modifiedCount };
}

/** The content goes first: as long as the file is there, a sweep knows of it. */
export async function removeContents({ files, chunks }: BlobCollections, ids: readonly ObjectId[]): Promise<void> {
  if (ids.length === 0) return;
  await chunks.deleteMany({ files_id: { $in: ids } });
  await files.deleteMany({ _id: { $in: [...ids] } });
}

async function sendChunks(
  { collections }: PutOptions,
  file: ObjectId,
  from: number,
  batch: readonly Uint8Array[],
  session?: ClientSession,
): Promise<void> {
  const documents = batch.map((data, index) => ({ files_id: file, n: from + index, data: new Binary(data) }));
  await collections.chunks.insertMany(documents, session === undefined ? {} : { session });
}

/** Cuts a stream into pieces of one chunk; the last may be shorter. */
async function* chunksOfSize(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const piece of content) {
    let rest = piece;
    while (size + rest.byteLength >= CHUNK_BYTES) {
      const cut = CHUNK_BYTES - size;
      yield Buffer.concat([...held, rest.subarray(0, cut)]);
      rest = rest.subarray(cut);
      held = [];
      size = 0;
    }
    if (rest.byteLength === 0) continue;
    held.push(Buffer.from(rest)); // a copy: the caller may use its buffer again
    size += rest.byteLength;
  }
  if (size > 0) yield Buffer.concat(held);
}
