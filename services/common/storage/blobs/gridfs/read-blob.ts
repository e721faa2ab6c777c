import { Readable } from 'node:stream';
import type { Binary, ClientSession, ObjectId } from 'mongodb';
import { engramError } from '../../../kernel/errors.ts';
import type { Scope } from '../../../kernel/scope.ts';
import type { MongodbConnection } from '../../documents/mongodb/connection.ts';
import { isSnapshotTooOld } from '../../documents/mongodb/mongodb-errors.ts';
import { type BlobCollections, liveIn } from './blob-layout.ts';

/** Chunks that one exchange brings, and what a reader holds in memory. */
const CHUNKS_PER_BATCH = 4;
const SNAPSHOT = { readConcern: { level: 'snapshot' } } as const;

/**
 * The bytes of a blob. All is read from the moment of the call, also when the blob is replaced or removed while it is
 * read. The server keeps that moment for 5 minutes (`minSnapshotHistoryWindowInSeconds`); a slower reader goes on with
 * what is there, which is the same unless it was replaced.
 */
export async function readBlob(
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
async function* guardedPieces(
  connection: MongodbConnection,
  pieces: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
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
