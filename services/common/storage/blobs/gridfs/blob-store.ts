import type { Document } from 'mongodb';
import { slices } from '../../../kernel/slices.ts';
import { once } from '../../../platform/async/once.ts';
import type { MongodbConnection } from '../../documents/mongodb/connection.ts';
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
import { readBlob } from './read-blob.ts';
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
