import { isSnapshotName } from '../../common/domain/snapshot.ts';
import type { DatasetId, UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import {
  admitDataset,
  type RestoreDatasetRequest,
  type RestoreProgress,
} from '../../common/platform/messaging/methods/snapshots.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Clock, IdSource } from '../../common/ports/system.ts';
import type { Datasets } from '../../common/records/auth/datasets.ts';
import type { ManagedResources } from '../../common/records/auth/managed-resources.ts';
import { beingErased } from '../../common/records/auth/require-managed.ts';
import type { Tenants } from '../../common/records/auth/tenants.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import type { SnapshotPlaces } from '../../common/storage/ports/snapshot-places.ts';
import { partPlace } from '../../common/storage/snapshots/manifest.ts';
import { createLeasedWork, type WorkWatch } from '../forgetting/leased-work.ts';
import type { Restore, Restores } from '../repositories/restores.ts';
import { discardRestored, type RestoreSources, restoreSnapshot } from './restore-snapshot.ts';

export type RestoreDependencies = RestoreSources & {
  readonly restores: Restores;
  /** Of auth, which writes them. */
  readonly datasets: Pick<Datasets, 'get'>;
  readonly tenants: Pick<Tenants, 'get'>;
  readonly managedResources: Pick<ManagedResources, 'byResource'>;
  readonly places: SnapshotPlaces;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** Datasets from snapshots, for the operator. See common/platform/messaging/methods/snapshots.ts. */
export interface ManagedRestores {
  restore(request: RestoreDatasetRequest, context: CallContext): Promise<RestoreProgress>;
  /** Discards what nobody goes on with. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

const ABANDONED_AFTER_MS = 3_600_000;

export function createManagedRestores(
  deps: RestoreDependencies,
  options: { readonly answerAfterMs?: number } = {},
): ManagedRestores {
  const { restores, store } = deps;
  const save = (restore: Restore) => store.commit({ tenant: restore.tenantId }, [restores.replaceWrite(restore)]);
  const work = createLeasedWork<Restore, RestoreDatasetRequest>({
    ...{ clock: deps.clock, logger: deps.logger, what: 'restore', ...options, save },
    isShared: store.capabilities.sharedBetweenProcesses,
    work: (restore, request, watch) => carryOut(deps, restore, { request, watch }),
  });
  return {
    async restore(request, { requestId }) {
      const { crUid } = request;
      if (!isSnapshotName(request.snapshot.name))
        throw engramError('InvalidRequestError', `${JSON.stringify(request.snapshot.name)} is no snapshot's name.`);
      const present = await presentDataset(deps, request);
      if (present !== null) return { datasetId: present, step: '', done: 1, total: 1, failure: null };
      await open(deps, request);
      const read = async (): Promise<Restore> => {
        const restore = await restores.get(crUid);
        if (restore === null) throw engramError('ConflictError', 'The restore was given up meanwhile; ask again.');
        return restore;
      };
      const { datasetId, isComplete, step, done, total, failure } = await work.progress({
        ...{ id: crUid, input: request, requestId, read },
      });
      return { datasetId: isComplete ? datasetId : null, step, done, total, failure };
    },
    async sweep() {
      const since = deps.clock.now().getTime() - ABANDONED_AFTER_MS;
      for (const restore of await restores.abandoned(since)) await giveUp(deps, restore);
    },
    stop: () => work.stop(),
  };
}

/** What the resource manages, if it is there: it came from the snapshot, or was there before. */
async function presentDataset(
  deps: RestoreDependencies,
  { tenantId, crUid }: RestoreDatasetRequest,
): Promise<DatasetId | null> {
  const managed = await deps.managedResources.byResource(crUid);
  if (managed === null || managed.dataset === null || managed.tenant !== tenantId) return null;
  return (await deps.datasets.get({ tenant: tenantId }, managed.dataset)) === null ? null : managed.dataset;
}

async function open(deps: RestoreDependencies, { tenantId, crUid }: RestoreDatasetRequest): Promise<void> {
  const known = await deps.restores.get(crUid);
  // Its dataset was removed by somebody: it is made once more, under another id.
  if (known?.isComplete === true) await deps.store.commit({ tenant: tenantId }, [deps.restores.removeWrite(known)]);
  else if (known !== null) return;
  const write = deps.restores.insertWrite({
    ...{ crUid, tenantId, datasetId: asId<DatasetId>(deps.ids.uuid()), step: 'waiting', done: 0, total: 0 },
    ...{ worker: null, leasedUntilMs: deps.clock.now().getTime(), failure: null, isComplete: false },
  });
  await deps.store.commit({ tenant: tenantId }, [write]).catch((error: unknown) => {
    if (!(error instanceof DuplicateKeyError)) throw error;
  });
}

interface Attempt {
  readonly request: RestoreDatasetRequest;
  readonly watch: WorkWatch<Restore>;
}

/** Begins anew each time: what an attempt before left is removed first, and what this one leaves when it fails. */
async function carryOut(
  deps: RestoreDependencies,
  restore: Restore,
  { request, watch }: Attempt,
): Promise<Partial<Restore>> {
  const { tenantId, name, crUid, snapshot, place, signers = [] } = request;
  const { datasetId } = restore;
  const { requestId, signal } = watch;
  const admitted = await presentDataset(deps, request);
  if (admitted !== null) return { datasetId: admitted, step: '' };
  const ownerId = await ownerOf(deps, tenantId);
  const target = { tenantId, datasetId, snapshot, place, requestId, ownerId, keepsOwners: true, signers };
  const progress = async (step: Partial<Restore>): Promise<void> => {
    // Nothing comes into a tenant that is being erased.
    await ownerOf(deps, tenantId);
    await watch.update(step);
  };
  const admit = () => deps.messenger.call(admitDataset, { tenantId, datasetId, name, crUid }, { requestId });
  await discardRestored(deps, target);
  try {
    const opened = await deps.places.open(place);
    try {
      const from = partPlace(opened.blobs, snapshot.tenantId, snapshot.name);
      await restoreSnapshot(deps, { ...target, from, signal, progress });
    } finally {
      await opened.close();
    }
    // Whoever has taken over began anew under the same id.
    await watch.update({ step: 'registering' });
    await admit();
  } catch (error) {
    // Its answer alone may have been lost.
    if ((await deps.datasets.get({ tenant: tenantId }, datasetId)) !== null) return { step: '' };
    if (!signal.aborted) await discardRestored(deps, target);
    throw error;
  }
  return { step: '' };
}

async function ownerOf(deps: RestoreDependencies, tenantId: RestoreDatasetRequest['tenantId']): Promise<UserId> {
  const tenant = await deps.tenants.get(tenantId);
  if (tenant === null) throw engramError('TenantNotFoundError', `Tenant ${tenantId} not found.`);
  if (tenant.state === 'Erasing') throw beingErased({ tenant: tenantId, dataset: null });
  return tenant.ownerId;
}

async function giveUp(deps: RestoreDependencies, restore: Restore): Promise<void> {
  const { tenantId, datasetId } = restore;
  if ((await deps.datasets.get({ tenant: tenantId }, datasetId)) === null) {
    const ownerId = (await deps.tenants.get(tenantId))?.ownerId ?? null;
    const snapshot = { tenantId, name: '' };
    await discardRestored(deps, { tenantId, datasetId, snapshot, place: null, requestId: deps.ids.uuid(), ownerId });
  }
  await deps.store.commit({ tenant: tenantId }, [deps.restores.removeWrite(restore)]);
}
