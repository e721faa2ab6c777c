import { isSnapshotName } from '../../common/domain/snapshot.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { ignoreDuplicate } from '../../common/platform/async/retry-on-conflict.ts';
import type { RequestOf, SnapshotInfo } from '../../common/platform/messaging/messages.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { ManagedResources } from '../../common/records/auth/managed-resources.ts';
import { eraserOfTenant, requireManager } from '../../common/records/auth/require-managed.ts';
import { placeText } from '../../common/storage/ports/snapshot-places.ts';
import type { SnapshotRecord } from '../repositories/snapshots.ts';
import { removeSnapshot } from './remove-snapshots.ts';
import {
  newSnapshot,
  requireDataset,
  type SnapshotDependencies,
  type SnapshotWork,
  snapshotKey,
} from './take-snapshot.ts';

type Dependencies = SnapshotDependencies & { readonly managedResources: ManagedResources };

/** The operator asks every few seconds, or after minutes when an attempt failed. */
const ABANDONED_AFTER_MS = 24 * 3_600_000;

/** Takes snapshots for the operator, which asks again until each is complete. See `ingest.TakeSnapshot` in proto/. */
export function createManagedSnapshots(deps: Dependencies, work: SnapshotWork) {
  const { snapshots } = deps;
  return {
    async take(request: RequestOf<'ingest.TakeSnapshot'>, context: CallContext) {
      const record = await progress(deps, work, request, context);
      const { done, total, failure, isComplete } = record;
      return { snapshot: isComplete ? infoOf(record) : null, done, total, failure };
    },
    async list({ tenantId, datasetId }: RequestOf<'ingest.ListSnapshots'>): Promise<readonly SnapshotInfo[]> {
      const found = await snapshots.list({ tenant: tenantId }, datasetId);
      return found.filter(({ isComplete }) => isComplete).map(infoOf);
    },
    /** Removes the oldest snapshots in the place; others need other credentials. Returns the names of those removed. */
    async prune(request: RequestOf<'ingest.PruneSnapshots'>): Promise<readonly string[]> {
      const { tenantId: tenant, datasetId, crUid, keep, place } = request;
      await requireManager(deps, { tenant, dataset: datasetId }, crUid);
      const found = await snapshots.list({ tenant }, datasetId);
      const complete = found.filter((record) => record.isComplete && record.place === placeText(place));
      const removed = complete.slice(Math.max(1, keep));
      for (const record of removed) await removeSnapshot(deps, record, place);
      return removed.map(({ name }) => name);
    },
    /** Removes incomplete snapshots in the installation's own store that the operator no longer asks for. */
    async sweep(): Promise<void> {
      const since = deps.clock.now().getTime() - ABANDONED_AFTER_MS;
      for (const record of await snapshots.incomplete(SYSTEM_SCOPE, since)) {
        if (record.isInstalled) await removeSnapshot(deps, record, null);
      }
    },
  };
}

async function progress(
  deps: Dependencies,
  work: SnapshotWork,
  request: RequestOf<'ingest.TakeSnapshot'>,
  { requestId }: CallContext,
): Promise<SnapshotRecord> {
  const { tenantId: tenant, datasetId, crUid, name, place, verify = false } = request;
  if (!isSnapshotName(name))
    throw engramError('InvalidRequestError', `${JSON.stringify(name)} is not a valid snapshot name.`);
  const known = await deps.snapshots.get({ tenant }, name);
  if (known !== null && known.datasetId !== datasetId)
    throw engramError('ConflictError', `The snapshot ${name} belongs to another dataset.`);
  // The resource that erases the tenant may ask as well.
  if ((await eraserOfTenant(deps, tenant, crUid)) === null)
    await requireManager(deps, { tenant, dataset: datasetId }, crUid);
  if (known?.isComplete !== true) await requireDataset(deps, { tenant, datasetId });
  const key = snapshotKey({ tenant, name });
  if (known === null) {
    const write = deps.snapshots.insertWrite(newSnapshot(deps, { name, datasetId }, place));
    await ignoreDuplicate(deps.store.commit({ tenant }, [write, ...(await work.jobWrites(key))]));
  }
  const read = async (): Promise<SnapshotRecord> => {
    const record = await deps.snapshots.get({ tenant }, name);
    if (record === null) throw engramError('ConflictError', `The snapshot ${name} was removed meanwhile.`);
    return record;
  };
  return work.progress({ work: key, input: { place, verify }, requestId, read });
}

function infoOf({ name, tenant, datasetId, at, items, sizeBytes, sha256, place }: SnapshotRecord): SnapshotInfo {
  return { name, tenantId: tenant, datasetId, at, items, sizeBytes, sha256, place };
}
