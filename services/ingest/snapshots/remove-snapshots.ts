import { MANIFEST_NAME, snapshotFolder } from '../../common/domain/snapshot.ts';
import type { DatasetId, TenantId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { SnapshotPlace } from '../../common/storage/ports/snapshot-places.ts';
import { partPlace, SNAPSHOT_SCOPE } from '../../common/storage/snapshots/manifest.ts';
import type { ForgettingCounts } from '../model.ts';
import type { SnapshotIndex, SnapshotRecord } from '../repositories/snapshots.ts';

interface Erased {
  readonly tenantId: TenantId;
  /** Absent: the whole tenant. */
  readonly datasetId?: DatasetId | undefined;
  readonly keepSnapshots: boolean;
}

/**
 * Removes the snapshots in the installation's own store of what is erased; with `keepSnapshots` only those that users
 * took. Snapshots in other buckets stay: nothing here opens those. Returns the snapshots that stay, for the receipt.
 */
export async function eraseSnapshots(
  index: SnapshotIndex | undefined,
  { tenantId, datasetId, keepSnapshots }: Erased,
  counts: ForgettingCounts,
): Promise<readonly string[]> {
  if (index === undefined) return [];
  const found = await index.snapshots.list({ tenant: tenantId }, datasetId);
  const kept = found.filter(
    ({ isComplete, isInstalled, takenBy }) => isComplete && (!isInstalled || (keepSnapshots && takenBy === undefined)),
  );
  let removed = 0;
  for (const record of found) {
    if (kept.includes(record) || !record.isInstalled) continue;
    await removeSnapshot(index, record, null);
    removed += 1;
  }
  counts.removed('snapshots', removed);
  if (!keepSnapshots && datasetId === undefined) await requireNone(index, tenantId);
  return kept.map(({ name, place }) => `snapshot ${name} in ${place}`).sort();
}

async function requireNone({ places }: SnapshotIndex, tenantId: TenantId): Promise<void> {
  const { blobs, close } = await places.open(null);
  try {
    const prefix = snapshotFolder(tenantId, '').slice(0, -1);
    await blobs.removeAll(SNAPSHOT_SCOPE, prefix);
    if ((await blobs.list(SNAPSHOT_SCOPE, { prefix, limit: 1 })).length === 0) return;
    throw engramError('CogneeSystemError', 'Parts of snapshots are left after the erasure; repeat it', {
      retryable: true,
    });
  } finally {
    await close();
  }
}

/**
 * Removes the parts of a snapshot in the installation's own store that is not listed any more: it, or its dataset, was
 * removed while the parts were still being written. Snapshots in buckets may outlive the index.
 */
export async function removeUnlessListed({ snapshots, places }: SnapshotIndex, { tenant, name }: SnapshotRecord) {
  if ((await snapshots.get({ tenant }, name)) !== null) return;
  const opened = await places.open(null);
  try {
    const { blobs, scope, folder } = partPlace(opened.blobs, tenant, name);
    await blobs.removeAll(scope, folder);
  } finally {
    await opened.close();
  }
}

/** Removes a snapshot, its manifest first: without it there is no snapshot. A worker that is taking it notices. */
export async function removeSnapshot(index: SnapshotIndex, record: SnapshotRecord, place: SnapshotPlace) {
  const opened = await index.places.open(place);
  try {
    const { blobs, scope, folder } = partPlace(opened.blobs, record.tenant, record.name);
    const removeObjects = async () => {
      await blobs.remove(scope, [`${folder}${MANIFEST_NAME}`]);
      await blobs.removeAll(scope, folder);
    };
    await removeObjects();
    // It may have become complete meanwhile.
    if ((await unlist(index, record)) > 1) await removeObjects();
  } finally {
    await opened.close();
  }
}

/** Removes the record, however often a worker updates it meanwhile. Returns the number of attempts. */
async function unlist({ snapshots, store }: SnapshotIndex, record: SnapshotRecord): Promise<number> {
  const { tenant, name } = record;
  let attempts = 0;
  await retryOnConflict(async () => {
    attempts += 1;
    const current = attempts === 1 ? record : await snapshots.get({ tenant }, name);
    if (current !== null) await store.commit({ tenant }, [snapshots.removeWrite(current)]);
  });
  return attempts;
}
