import { isSnapshotName } from '../../common/domain/snapshot.ts';
import type { DatasetId, UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { ignoreDuplicate } from '../../common/platform/async/retry-on-conflict.ts';
import type { RequestOf } from '../../common/platform/messaging/messages.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { ManagedResources } from '../../common/records/auth/managed-resources.ts';
import { beingErased } from '../../common/records/auth/require-managed.ts';
import type { Tenants } from '../../common/records/auth/tenants.ts';
import { createRecordedWork, type WorkProgress } from '../jobs/recorded-work.ts';
import type { ManagedRestore, ManagedRestores as Records } from '../repositories/restores.ts';
import { carryOutRestore, type RestoreDependencies, type Restoring } from './carry-out-restore.ts';
import { discardRestored } from './restore-snapshot.ts';

/** Kind of the jobs that make datasets from snapshots for resources. */
export const MANAGED_RESTORE_JOB = 'managed-restore';

type Dependencies = RestoreDependencies & {
  readonly restores: Records;
  readonly tenants: Tenants;
  readonly managedResources: ManagedResources;
};

const ABANDONED_AFTER_MS = 3_600_000;

/** Restores datasets from snapshots for the operator. See `ingest.RestoreDataset` in proto/. */
export function createManagedRestores(deps: Dependencies) {
  const { restores, store } = deps;
  const work = createRecordedWork<ManagedRestore, RequestOf<'ingest.RestoreDataset'>>(deps, {
    kind: MANAGED_RESTORE_JOB,
    read: ({ payload }) => restores.get(String(payload['crUid'])),
    save: (_, restore, writes) => store.commit({ tenant: restore.tenant }, [...writes, restores.replaceWrite(restore)]),
    async work(restore, request, progress) {
      if (request === null) throw new Error('a restore of a resource cannot be carried out without its request');
      return carryOut(deps, restore, request, progress);
    },
  });
  const keyOf = ({ tenantId: tenant, crUid }: Pick<RequestOf<'ingest.RestoreDataset'>, 'tenantId' | 'crUid'>) => ({
    scope: { tenant },
    key: crUid,
    payload: { crUid },
    onRequest: true,
  });
  return {
    handler: work.handler,
    async restore(request: RequestOf<'ingest.RestoreDataset'>, { requestId }: CallContext) {
      const { crUid } = request;
      if (!isSnapshotName(request.snapshot.name))
        throw engramError(
          'InvalidRequestError',
          `${JSON.stringify(request.snapshot.name)} is not a valid snapshot name.`,
        );
      const present = await presentDataset(deps, request);
      const known = await restores.get(crUid);
      // One that is admitted and not complete is still to be recorded as built.
      if (present !== null && known?.isComplete !== false)
        return { datasetId: present, step: '', done: 1, total: 1, failure: null };
      await open(deps, request);
      const read = async (): Promise<ManagedRestore> => {
        const restore = await restores.get(crUid);
        if (restore === null) throw engramError('ConflictError', 'The restore was discarded meanwhile; ask again.');
        return restore;
      };
      const asked = { work: keyOf(request), input: request, requestId, read };
      const { datasetId, isComplete, step, done, total, failure } = await work.progress(asked);
      return { datasetId: isComplete ? datasetId : null, step, done, total, failure };
    },
    /** Discards restores that the operator no longer asks for. */
    async sweep(): Promise<void> {
      const since = deps.clock.now().getTime() - ABANDONED_AFTER_MS;
      for (const restore of await restores.incomplete(since)) await giveUp(deps, restore);
    },
  };
}

/** Returns the dataset that the resource manages: restored, or there before. Null: there is none. */
async function presentDataset(deps: Dependencies, { tenantId, crUid }: RequestOf<'ingest.RestoreDataset'>) {
  const managed = await deps.managedResources.byResource(crUid);
  if (managed === null || managed.dataset === null || managed.tenant !== tenantId) return null;
  return (await deps.datasets.get({ tenant: tenantId }, managed.dataset)) === null ? null : managed.dataset;
}

async function open(
  { restores, store, ids, clock }: Dependencies,
  { tenantId: tenant, crUid }: RequestOf<'ingest.RestoreDataset'>,
): Promise<void> {
  const known = await restores.get(crUid);
  // Its dataset was removed meanwhile: it is restored again under another id.
  if (known?.isComplete === true) await store.commit({ tenant }, [restores.removeWrite(known)]);
  else if (known !== null) return;
  const write = restores.insertWrite({
    crUid,
    tenant,
    datasetId: asId<DatasetId>(ids.uuid()),
    step: 'waiting',
    done: 0,
    total: 0,
    failure: null,
    isComplete: false,
    touchedAtMs: clock.now().getTime(),
  });
  await ignoreDuplicate(store.commit({ tenant }, [write]));
}

async function carryOut(
  deps: Dependencies,
  { datasetId }: ManagedRestore,
  request: RequestOf<'ingest.RestoreDataset'>,
  progress: WorkProgress<ManagedRestore>,
): Promise<Partial<ManagedRestore>> {
  const { tenantId, name, crUid, snapshot, place, signers = [] } = request;
  const { requestId } = progress;
  const admitted = await presentDataset(deps, request);
  if (admitted !== null && admitted !== datasetId) return { datasetId: admitted, step: '' };
  const ownerId = await ownerOf(deps, tenantId);
  // Nothing is restored into a tenant that is being erased.
  const requireTenant = async (): Promise<void> => {
    await ownerOf(deps, tenantId);
  };
  const restoring: Restoring = {
    target: { tenantId, datasetId, snapshot, place, ownerId, keepsOwners: true, signers },
    authorise: requireTenant,
    onStep: requireTenant,
    async admit() {
      await deps.messenger.call('auth.AdmitDataset', { tenantId, datasetId, name, crUid }, { requestId });
    },
  };
  await carryOutRestore(deps, restoring, progress);
  return { step: '' };
}

async function ownerOf(deps: Dependencies, tenantId: RequestOf<'ingest.RestoreDataset'>['tenantId']): Promise<UserId> {
  const tenant = await deps.tenants.get(tenantId);
  if (tenant === null) throw engramError('TenantNotFoundError', `Tenant ${tenantId} not found.`);
  if (tenant.state === 'Erasing') throw beingErased({ tenant: tenantId, dataset: null });
  return tenant.ownerId;
}

async function giveUp(deps: Dependencies, restore: ManagedRestore): Promise<void> {
  const { tenant, datasetId } = restore;
  if ((await deps.datasets.get({ tenant }, datasetId)) === null) {
    const ownerId = (await deps.tenants.get(tenant))?.ownerId ?? null;
    const snapshot = { tenantId: tenant, name: '' };
    const requestId = deps.ids.uuid();
    await discardRestored(deps, { tenantId: tenant, datasetId, snapshot, place: null, requestId, ownerId });
  }
  await deps.store.commit({ tenant }, [deps.restores.removeWrite(restore)]);
}
