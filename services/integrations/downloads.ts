import type { Readable } from 'node:stream';
import { type DatasetRef, scopeOf } from '../common/kernel/dataset.ts';
import { DOWNLOADS_PREFIX } from '../common/platform/messaging/messages.ts';
import type { BlobInfo } from '../common/storage/ports/blob-store.ts';
import type { SyncDependencies } from './dependencies.ts';

/** A download that takes longer is swept as one of a process that died. */
const LONGEST_MS = 24 * 3_600_000;

/**
 * Stores content beside the blobs of the dataset while `take` has ingest make an item of it. A declared intent removes the
 * blob when this process dies.
 */
export async function withDownload<Result>(
  { blobs, intents, ids, clock }: SyncDependencies,
  { dataset, content, signal }: Download,
  take: (stored: BlobInfo) => Promise<Result>,
): Promise<Result> {
  const scope = scopeOf(dataset);
  const id = ids.ordered();
  const place = `${DOWNLOADS_PREFIX}${id}/`;
  const blobKey = `${place}file`;
  try {
    await intents.declare(scope, id, [place], new Date(clock.now().getTime() + LONGEST_MS).toISOString());
    return await take(await blobs.put(scope, blobKey, content, signal));
  } finally {
    if (!(content instanceof Uint8Array)) content.destroy();
    await blobs.remove(scope, [blobKey]).then(
      () => intents.settle(scope, id),
      () => null, // the sweep of intents removes it
    );
  }
}

interface Download {
  readonly dataset: DatasetRef;
  readonly content: Readable | Uint8Array;
  readonly signal: AbortSignal;
}
