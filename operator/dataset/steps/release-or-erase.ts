import { finalSnapshotName } from '../../../services/common/domain/snapshot-name.ts';
import type { DatasetId, TenantId } from '../../../services/common/kernel/brand.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import type { DatasetStatus } from '../../api/dataset.ts';
import type { Tenant } from '../../api/tenant.ts';
import {
  ERASURE_CONTINUES,
  erasing,
  ifManagedByUs,
  RESTORE_SNAPSHOT_POLICY,
  withErasureCondition,
  withoutSnapshots,
} from '../../erasure/outcome.ts';
import { writeReceipt } from '../../erasure/receipts.ts';
import { type FoundPlace, findPlace } from '../../erasure/snapshots.ts';
import { done, type StepOutcome } from '../../kube-runtime/steps.ts';
import {
  type DatasetContext,
  type DatasetIds,
  type DatasetParts,
  type DatasetStep,
  readTenant,
  uidOf,
  wireName,
} from '../model.ts';
import { askService } from '../service-failure.ts';

const LEFT_TO_TENANT = {
  type: 'Normal',
  reason: 'LeftToTenant',
  message:
    'The Tenant is being deleted with policy Snapshot: this dataset is snapshotted and erased together with its other datasets',
} as const;

/**
 * Releases or erases the dataset, as `deletionPolicy` says; an erasure that has begun continues whatever the policy is now.
 * Touches nothing that another resource manages. When the policy Snapshot comes from a Tenant that is itself being deleted,
 * the dataset is left to the deletion of the tenant: nothing of a tenant is erased before all of it has snapshots.
 */
export function releaseOrErase(parts: DatasetParts): DatasetStep {
  return {
    name: 'release-or-erase',
    async run(context) {
      const tenant = await readTenant(parts.client, context.object, context.signal);
      const policy = context.object.spec.deletionPolicy ?? tenant?.spec.deletionPolicy ?? 'Retain';
      const found = await find(parts, context);
      const isLate = policy === 'Retain' && found?.isErasing === true;
      if (isLate) context.event(ERASURE_CONTINUES);
      const isTenants = policy === 'Snapshot' && context.object.spec.deletionPolicy === undefined && isDeleted(tenant);
      const isKept = (policy === 'Retain' || isTenants) && found?.isErasing !== true;
      await releaseSources(parts, context);
      const outcome =
        found === null
          ? done<DatasetStatus>()
          : isKept
            ? await release(parts, context, { ids: found.ids, isTenants })
            : await erase(parts, context, { ...found, policy, tenant });
      if (outcome.state === 'done') forget(parts, uidOf(context.object));
      return outcome;
    },
  };
}

/**
 * Returns the dataset that auth knows the resource to manage, also in the middle of its erasure: the status may not have been
 * written yet, and the Tenant may now stand for another tenant. Null when the resource manages nothing, whatever its spec
 * names.
 */
async function find({ services }: DatasetParts, { object, status, signal }: DatasetContext): Promise<Found | null> {
  const { managed } = await askService(services, 'auth.FindManaged', { request: { crUid: uidOf(object) }, signal });
  if (managed !== null && managed.datasetId !== null) {
    const { tenantId, datasetId, isErasing } = managed;
    return { ids: { tenantId, datasetId }, isErasing };
  }
  const { tenantId, datasetId } = status;
  if (tenantId === undefined || datasetId === undefined) return null;
  return { ids: { tenantId: asId<TenantId>(tenantId), datasetId: asId<DatasetId>(datasetId) }, isErasing: false };
}

interface Found {
  readonly ids: DatasetIds;
  readonly isErasing: boolean;
}

function isDeleted(tenant: Tenant | null): boolean {
  return tenant?.metadata.deletionTimestamp !== undefined;
}

async function release(
  parts: DatasetParts,
  context: DatasetContext,
  { ids, isTenants }: { readonly ids: DatasetIds; readonly isTenants: boolean },
): Promise<StepOutcome<DatasetStatus>> {
  const { object, event, signal } = context;
  const request = { ...ids, crUid: uidOf(object) };
  // Without a resource nobody declares a retention any more, so nothing expires.
  await ifManagedByUs(() => askService(parts.services, 'ingest.SetRetention', { request, signal }));
  const answer = await ifManagedByUs(() => askService(parts.services, 'auth.ReleaseDataset', { request, signal }));
  if (answer === null || !answer.released) return done();
  const message = `The dataset ${wireName(object)} is kept with its data: another Dataset adopts it by spec.datasetId`;
  event(isTenants ? LEFT_TO_TENANT : { type: 'Normal', reason: 'Retained', message });
  return done();
}

interface Erasing extends Found {
  readonly policy: Tenant['spec']['deletionPolicy'];
  readonly tenant: Tenant | null;
}

async function erase(parts: DatasetParts, context: DatasetContext, { ids, isErasing, policy, tenant }: Erasing) {
  const { object, event, signal } = context;
  const last = await findLast(parts, context, { policy, tenant });
  // Once the erasure has begun, ingest knows whether its snapshot exists.
  if (last !== null && 'fault' in last && !isErasing) return withoutSnapshots(last.fault);
  const at = new Date(object.metadata.deletionTimestamp ?? context.now);
  const name = finalSnapshotName({ name: wireName(object), id: ids.datasetId }, at);
  const request = {
    ...ids,
    crUid: uidOf(object),
    ...(policy === 'Delete' ? { withoutSnapshots: true } : { keepSnapshots: true }),
    ...(last === null || 'fault' in last ? {} : { finalSnapshot: { name, place: last.place } }),
  };
  const answer = await ifManagedByUs(() =>
    withErasureCondition(() => askService(parts.services, 'ingest.EraseDataset', { request, signal })),
  );
  if (answer === null) return done();
  const { progress } = answer;
  if (!progress.erased || progress.receipt === null)
    return erasing(progress, last !== null && 'fault' in last ? last.fault : null);
  const receipt = await writeReceipt(parts, context, { kind: 'Erased', json: progress.receipt });
  event({
    type: 'Normal',
    reason: 'Erased',
    message: `Everything was erased and counted, ConfigMap ${receipt} has the receipt`,
  });
  return done({ status: { erasure: { residue: 0, receipt } } });
}

/** Ends what sources the resource has declared, before anything is erased; what came by them goes with the dataset or stays. */
async function releaseSources({ services }: DatasetParts, { object, status, signal }: DatasetContext): Promise<void> {
  const { tenantId, datasetId, sources = [] } = status;
  if (tenantId === undefined || datasetId === undefined) return;
  if (sources.length === 0 && (object.spec.sources ?? []).length === 0) return;
  const ids = { tenantId: asId<TenantId>(tenantId), datasetId: asId<DatasetId>(datasetId) };
  const request = { ...ids, crUid: uidOf(object), sources: [], release: true };
  await askService(services, 'integrations.SyncSources', { request, signal });
}

/** Returns where the final snapshot goes; null when none is wanted. */
async function findLast(
  parts: DatasetParts,
  { signal }: DatasetContext,
  { policy, tenant }: Pick<Erasing, 'policy' | 'tenant'>,
): Promise<FoundPlace | null> {
  if (policy === 'Retain') return { fault: RESTORE_SNAPSHOT_POLICY };
  if (policy === 'Delete') return null;
  return findPlace(parts.client, tenant, tenant?.spec.backup?.destinationRef?.name, signal);
}

function forget({ memory }: DatasetParts, uid: string): void {
  const { identity, access, configuration, sources, statistics } = memory;
  for (const checks of [identity, access, configuration, sources, statistics]) checks.forget(uid);
  for (const pipeline of ['cognify', 'improve']) memory.starts.forget(`${uid} ${pipeline}`);
}
