import { Readable } from 'node:stream';
import type { Binary, ClientSession, Document, ObjectId } from 'mongodb';
import { engramError } from '../../../kernel/errors.ts';
import type { Scope } from '../../../kernel/scope.ts';
import { slices } from '../../../kernel/slices.ts';
import { once } from '../../../platform/async/once.ts';
import type { MongodbConnection } from '../../documents/mongodb/connection.ts';
import { isSnapshotTooOld } from '../../documents/mongodb/mongodb-errors.ts';
import type { BlobStore } from '../../ports/blob-store.ts';
import { isBlobKey, requireBlobKey } from '../rules/blob-key.ts';
import {
  type BlobCollections,
  type BlobState,
  blobCollections,
  keyRange,
  liveIn,
  ownedBy,
  prepareBlobs,
} from './blob-layout.ts';
import { hide, removeContents, writeBlob } from './write-blob.ts';

/** Keys that one exchange names. */
const KEYS_PER_CALL = 500;
/** Content that was not finished or removed for so long belongs to a process that died. */
const LEFT_BEHIND_MS = 6 * 3_600_000;

/**
 * Blobs in GridFS. What a put acknowledges is on a majority of the members. What a
 * process leaves behind that dies in the middle is removed by the first use of the database that comes 6 hours later, and
 * by `removeAll` of its scope.
 */
export function createGridfsBlobStore(connection: MongodbConnection): BlobStore {
  const { guarded } = connection;
  /** Prepares and sweeps with the first call. */
  const prepared = once(async () => {
    const { database } = connection.options;
    await connection.patiently((patient) => prepareBlobs(blobCollections(patient, database)));
    const collections = blobCollections(connection.client, database);
    await removeLeftovers(collections, {}, LEFT_BEHIND_MS);
    return collections;
  });
  return {
    put(scope, key, content, signal) {
      requireBlobKey(key);
      return guarded(async () => {
        const collections = await prepared();
        const { info, replaced } = await writeBlob({ connection, collections, scope, key }, content, signal);
        await removeContents(collections, replaced);
        return { key, ...info };
      });
    },
    async get(scope, key) {
      if (!isBlobKey(key)) return null;
      return guarded(async () => readBlob(connection, await prepared(), scope, key));
    },
    async stat(scope, key) {
      if (!isBlobKey(key)) return null;
      return guarded(async () => {
        const { files } = await prepared();
        const file = await files.findOne({ ...liveIn(scope), filename: key }, { projection: { length: 1 } });
        return file === null ? null : { sizeBytes: file.length };
      });
    },
    remove: (scope, keys) =>
      guarded(async () => {
        const collections = await prepared();
        const wanted = [...new Set(keys)].filter(isBlobKey);
        let removed = 0;
        for (const slice of slices(wanted, KEYS_PER_CALL)) {
          removed += await removeLive(collections, { ...liveIn(scope), filename: { $in: [...slice] } });
        }
        return removed;
      }),
    removeAll: (scope, prefix = '') =>
      guarded(async () => {
        const collections = await prepared();
        const isAll = prefix === '';
        const filter = isAll
          ? { ...ownedBy(scope), 'metadata.state': 'live' }
          : { ...liveIn(scope), ...keyRange(prefix) };
        let removed = 0;
        for (let part = -1; part !== 0; removed += part) part = await removeLive(collections, filter);
        if (isAll) await removeLeftovers(collections, ownedBy(scope), 0);
        return removed;
      }),
    list: (scope, { prefix = '', limit }) =>
      guarded(async () => {
        const { files } = await prepared();
        const found = await files
          .find({ ...liveIn(scope), ...keyRange(prefix) }, { projection: { filename: 1, length: 1 } })
          .sort({ filename: 1 })
          .limit(limit)
          .toArray();
        return found.map(({ filename, length }) => ({ key: filename, sizeBytes: length }));
      }),
  };
}

/** Removes some of the live blobs that fit; 0 when there are none left. */
async function removeLive(collections: BlobCollections, filter: Document): Promise<number> {
  const { ids, count } = await hide(collections, filter);
  await removeContents(collections, ids);
  return count;
}

/** Removes content that is not live and at least so old. */
async function removeLeftovers(collections: BlobCollections, owned: Document, olderThanMs: number): Promise<void> {
  const filter = {
    'metadata.tenant': { $gte: '' }, // every one has it: said for the index, which begins with it
    ...owned,
    'metadata.state': { $in: ['incoming', 'removed'] satisfies BlobState[] },
    uploadDate: { $lte: new Date(Date.now() - olderThanMs) },
  } as const;
  for (;;) {
    const found = await collections.files.find(filter, { projection: { _id: 1 }, limit: KEYS_PER_CALL }).toArray();
    if (found.length === 0) return;
    const ids = found.map(({ _id }) => _id);
    await removeContents(collections, ids);
  }
}

/** Chunks that one exchange brings, and what a reader holds in memory. */
const CHUNKS_PER_BATCH = 4;
const SNAPSHOT = { readConcern: { level: 'snapshot' } } as const;

/**
 * The bytes of a blob. All is read from the moment of the call, also when the blob is replaced or removed while it is
 * read. The server keeps that moment for 5 minutes (`minSnapshotHistoryWindowInSeconds`); a slower reader goes on with
 * what is there, which is the same unless it was replaced.
 */
async function readBlob(
  connection: MongodbConnection,
  collections: BlobCollections,
  scope: Scope,
  key: string,
): Promise<Readable | null> {
  const session = connection.client.startSession({ snapshot: true });
  const filter = { ...liveIn(scope), filename: key };
  const file = await collections.files.findOne(filter, { session, ...SNAPSHOT });
  if (file === null) {
    await session.endSession();
    return null;
  }
  const pieces = readPieces({ collections, session, file: file._id }, Math.ceil(file.length / file.chunkSize));
  return Readable.from(guardedPieces(connection, pieces), { objectMode: false });
}

/** Errors of the driver on the way become ours. */
async function* guardedPieces(connection: MongodbConnection, pieces: AsyncGenerator<Uint8Array>) {
  try {
    for (;;) {
      const { done, value } = await connection.guarded(() => pieces.next());
      if (done) return;
      yield value;
    }
  } finally {
    await pieces.return(undefined);
  }
}

interface Reading {
  readonly collections: BlobCollections;
  readonly session: ClientSession;
  readonly file: ObjectId;
}

async function* readPieces({ session, ...reading }: Reading, chunks: number): AsyncGenerator<Uint8Array> {
  let next = 0;
  let isSnapshot = true;
  try {
    while (next < chunks) {
      try {
        for await (const data of readChunks({ ...reading, ...(isSnapshot ? { session } : {}) }, next)) {
          yield data;
          next += 1;
        }
      } catch (error) {
        if (!isSnapshot || !isSnapshotTooOld(error)) throw error;
        isSnapshot = false;
        continue;
      }
      if (next < chunks) throw incomplete();
    }
  } finally {
    await session.endSession();
  }
}

async function* readChunks(
  { collections, session, file }: Omit<Reading, 'session'> & { readonly session?: ClientSession },
  first: number,
): AsyncGenerator<Uint8Array> {
  const options = session === undefined ? {} : { session, ...SNAPSHOT };
  const cursor = collections.chunks.find(
    { files_id: file, n: { $gte: first } },
    { ...options, projection: { _id: 0, n: 1, data: 1 }, sort: { n: 1 }, batchSize: CHUNKS_PER_BATCH },
  );
  let expected = first;
  for await (const { n, data } of cursor) {
    if (n !== expected) throw incomplete();
    expected += 1;
    yield (data as Binary).value();
  }
}

function incomplete(): Error {
  return engramError('CorruptStoreError', 'The blob was removed while it was read, or parts of it are missing');
}
