import { snapshotFolder } from '../../common/domain/snapshot.ts';
import type { DatasetId, TenantId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { SnapshotPlaces } from '../../common/storage/ports/snapshot-places.ts';
import { SNAPSHOT_SCOPE } from '../../common/storage/snapshots/manifest.ts';
import type { ForgettingCounts } from '../forgetting/forget.ts';
import type { Snapshots } from '../repositories/snapshots.ts';
import { removeSnapshot } from './managed-snapshots.ts';

/** The index of backups, and what it is of. */
export interface SnapshotIndex {
  readonly snapshots: Snapshots;
  readonly places: SnapshotPlaces;
  readonly store: DocumentStore;
}

interface Erased {
  readonly tenantId: TenantId;
  /** Absent: the whole tenant. */
  readonly datasetId?: DatasetId;
  readonly keepSnapshots: boolean;
}

/**
 * Snapshots in the installation's own store go with what they show, unless they are to stay: those of resources, never those
 * that users took. What lies in a bucket of somebody else's stays: nothing here opens it. Resolves to what stays, for the
 * receipt.
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
    if ((await blobs.list(SNAPSHOT_SCOPE, { prefix, limit: 1 })).items.length === 0) return;
    throw engramError('CogneeSystemError', 'Parts of snapshots are left after the erasure; repeat it', {
      retryable: true,
    });
  } finally {
    await close();
  }
}
