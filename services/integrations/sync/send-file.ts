import { type DataItem, itemBlobs } from '../../common/domain/data-item.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import type { SyncDependencies } from '../dependencies.ts';
import type { DatasetSync } from './sync-dataset.ts';

/** What is needed of an item to send its file. */
export type LocalFile = Pick<DataItem, 'id' | 'revision' | 'fileName' | 'mimeType' | 'extension' | 'contentHash'>;

/** False: it was removed meanwhile. */
export async function sendFile(
  { blobs }: Pick<SyncDependencies, 'blobs'>,
  { dataset, remote, signal }: DatasetSync,
  item: LocalFile,
): Promise<boolean> {
  const scope = scopeOf(dataset);
  const key = itemBlobs.original(item);
  const facts = await blobs.stat(scope, key);
  const body = facts === null ? null : await blobs.get(scope, key);
  if (facts === null || body === null) return false;
  const { id, fileName: name, mimeType, extension, contentHash: hash } = item;
  await remote.upload(dataset, { id, name, mimeType, extension, hash, sizeBytes: facts.sizeBytes, body }, signal);
  return true;
}
