import { createHash } from 'node:crypto';
import { type DataItem, itemBlobs } from '../../common/domain/data-item.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { IngestDependencies } from '../dependencies.ts';

/**
 * The SHA-256 of an item's original bytes. Of an item that does not have it noted it is computed and noted; null when the
 * bytes are gone.
 */
export async function sha256Of(
  { blobs, store, items }: IngestDependencies,
  scope: DatasetScope,
  item: DataItem,
): Promise<string | null> {
  if (item.sha256 !== undefined) return item.sha256;
  const content = await blobs.get(scope, itemBlobs.original(item));
  if (content === null) return null;
  const hash = createHash('sha256');
  for await (const chunk of content as AsyncIterable<Buffer>) hash.update(chunk);
  const sha256 = hash.digest('hex');
  await store.commit(scope, [items.noteSha256Write(item, sha256)]);
  return sha256;
}

/** Whether an item holds these bytes. Where its own are gone, their MD5 has to do. */
export async function holds(
  dependencies: IngestDependencies,
  scope: DatasetScope,
  item: DataItem,
  { sha256 }: { readonly sha256?: string | undefined },
): Promise<boolean> {
  const own = await sha256Of(dependencies, scope, item);
  return own === null || sha256 === undefined || own === sha256;
}
