import { type Collection, type Document, type MongoClient, ObjectId } from 'mongodb';
import type { Scope } from '../../../kernel/scope.ts';
import { nextAfterPrefix } from '../../documents/rules/prefix.ts';

/**
 * Blobs lie as GridFS does it (`blobs.files` and `blobs.chunks`), so that its tools read them. `metadata` says whose a
 * blob is and what state it is in: `live` is what readers see; `incoming` content is still being written; `removed`
 * content waits for its chunks to go. The last two are swept when their process died.
 */
export interface BlobFile {
  readonly _id: ObjectId;
  readonly length: number;
  readonly chunkSize: number;
  readonly uploadDate: Date;
  /** The key. */
  readonly filename: string;
  readonly metadata: { readonly tenant: string; readonly dataset: string | null; readonly state: BlobState };
}
export type BlobState = 'live' | 'incoming' | 'removed';

export interface BlobCollections {
  readonly files: Collection<BlobFile>;
  readonly chunks: Collection<Document>;
}

/** GridFS's own default: a chunk and its keys fit 256 KiB. */
export const CHUNK_BYTES = 255 * 1024;

const FILES = 'blobs.files';
const CHUNKS = 'blobs.chunks';

export function blobCollections(client: MongoClient, database: string): BlobCollections {
  const db = client.db(database);
  return { files: db.collection<BlobFile>(FILES), chunks: db.collection(CHUNKS) };
}

/** Makes what is missing. The first index is what makes a key name one blob. */
export async function prepareBlobs({ files, chunks }: BlobCollections): Promise<void> {
  await Promise.all([
    files.createIndexes([
      {
        name: 'unique.live',
        key: { 'metadata.tenant': 1, 'metadata.dataset': 1, filename: 1 },
        unique: true,
        partialFilterExpression: { 'metadata.state': 'live' },
      },
      {
        name: 'by.leftover',
        key: { 'metadata.tenant': 1, 'metadata.dataset': 1, uploadDate: 1 },
        partialFilterExpression: { 'metadata.state': { $in: ['incoming', 'removed'] } },
      },
    ]),
    chunks.createIndexes([{ name: 'files_id_1_n_1', key: { files_id: 1, n: 1 }, unique: true }]),
  ]);
}

export function newFile(scope: Scope, key: string, length: number, state: BlobState): BlobFile {
  return {
    _id: new ObjectId(),
    length,
    chunkSize: CHUNK_BYTES,
    uploadDate: new Date(),
    filename: key,
    metadata: { tenant: scope.tenant, dataset: scope.dataset ?? null, state },
  };
}

/** Live blobs of exactly the scope. */
export function liveIn(scope: Scope): Document {
  return { ...ownedBy(scope), 'metadata.dataset': scope.dataset ?? null, 'metadata.state': 'live' };
}

/** Everything of the tenant, or of the dataset when there is one. */
export function ownedBy(scope: Scope): Document {
  return {
    'metadata.tenant': scope.tenant,
    ...(scope.dataset === undefined ? {} : { 'metadata.dataset': scope.dataset }),
  };
}

export function keyRange(prefix: string): Document {
  const end = nextAfterPrefix(prefix);
  return { filename: { $gte: prefix, ...(end === null ? {} : { $lt: end }) } };
}
