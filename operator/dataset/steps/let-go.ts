import { finalSnapshotName } from '../../../services/common/domain/snapshot-name.ts';
import type { DatasetId, TenantId } from '../../../services/common/kernel/brand.ts';
import { asId } from '../../../services/common/kernel/ids.ts';
import type { DatasetStatus } from '../../api/dataset.ts';
import type { Tenant } from '../../api/tenant.ts';
import { CARRIED_OUT, TAKE_THEM, underWay, withErasure, withoutSnapshots } from '../../erasure-outcome.ts';
import { done, type StepOutcome } from '../../kube-runtime/steps.ts';
import { type FoundPlace, findPlace } from '../../snapshot-place.ts';
import type { DatasetContext, DatasetParts, DatasetStep } from '../dependencies.ts';
import { writeReceipt } from '../receipt.ts';
import { type DatasetIds, readTenant, uidOf, wireName } from '../resource.ts';
import { askService, refusalOf } from '../service-failure.ts';

const LEFT_TO_TENANT = {
  type: 'Normal',
  reason: 'LeftToTenant',
  message: 'The Tenant is being deleted by Snapshot: the dataset is snapshot and erased with all the others of it',
} as const;

/**
 * Keeps or erases the dataset, as `deletionPolicy` says; what has begun to be erased is erased, whatever that says by now.
 * What another resource manages is not touched. Where only a Tenant that goes itself asks for a snapshot, the dataset is left to
 * that: nothing of a tenant is erased before all of it is snapshot.
 */
export function letGo(parts: DatasetParts): DatasetStep {
  return {
    name: 'let-go',
    async run(context) {
      const tenant = await readTenant(parts.client, context.object, context.signal);
      const policy = context.object.spec.deletionPolicy ?? tenant?.spec.deletionPolicy ?? 'Retain';
      const found = await find(parts, context);
      const isLate = policy === 'Retain' && found?.isErasing === true;
      if (isLate) context.event(CARRIED_OUT);
      const isTenants = policy === 'Snapshot' && context.object.spec.deletionPolicy === undefined && isDeleted(tenant);
      const isKept = (policy === 'Retain' || isTenants) && found?.isErasing !== true;
      const outcome =
        found === null
          ? done<DatasetStatus>()
          : isKept
            ? await retain(parts, context, { ids: found.ids, isTenants })
            : await erase(parts, context, { ...found, policy, tenant });
      if (outcome.state === 'done') forget(parts, uidOf(context.object));
      return outcome;
    },
  };
}

/**
 * What auth knows the resource to manage, also in the middle of the erasure: the status may not have been written yet, and
 * its Tenant may stand for another tenant by now. Null where the resource came to manage nothing, whatever its spec names.
 */
async function find({ services }: DatasetParts, { object, status, signal }: DatasetContext): Promise<Found | null> {
  const managed = await askService('auth', () => services.findManaged({ crUid: uidOf(object) }, signal));
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

async function retain(
  parts: DatasetParts,
  context: DatasetContext,
  { ids, isTenants }: { readonly ids: DatasetIds; readonly isTenants: boolean },
): Promise<StepOutcome<DatasetStatus>> {
  const { object, event, signal } = context;
  const request = { ...ids, crUid: uidOf(object) };
  // What is kept is kept for good: nobody declares any more how long.
  await whereOurs(() => askService('ingest', () => parts.services.setRetention(request, signal)));
  const answer = await whereOurs(() => askService('auth', () => parts.services.releaseDataset(request, signal)));
  if (answer === null || !answer.released) return done();
  const message = `The dataset ${wireName(object)} is kept with its data: spec.datasetId of another Dataset takes it over`;
  event(isTenants ? LEFT_TO_TENANT : { type: 'Normal', reason: 'Retained', message });
  return done();
}

interface Erasing extends Found {
  readonly policy: Tenant['spec']['deletionPolicy'];
  readonly tenant: Tenant | null;
}

async function erase(
  parts: DatasetParts,
  context: DatasetContext,
  { ids, isErasing, policy, tenant }: Erasing,
): Promise<StepOutcome<DatasetStatus>> {
  const { object, event, signal } = context;
  const last = await findLast(parts, context, { policy, tenant });
  // Once it has begun, ingest knows whether all that it waits for is there.
  if (last !== null && 'fault' in last && !isErasing) return withoutSnapshots(last.fault);
  const at = new Date(object.metadata.deletionTimestamp ?? context.now);
  const name = finalSnapshotName({ name: wireName(object), id: ids.datasetId }, at);
  const request = {
    ...{ ...ids, crUid: uidOf(object) },
    ...(policy === 'Delete' ? { withoutSnapshots: true } : { keepSnapshots: true }),
    ...(last === null || 'fault' in last ? {} : { finalSnapshot: { name, place: last.place } }),
  };
  const progress = await whereOurs(() =>
    withErasure(() => askService('ingest', () => parts.services.eraseDataset(request, signal))),
  );
  if (progress === null) return done();
  if (!progress.erased || progress.receipt === null)
    return underWay(progress, last !== null && 'fault' in last ? last.fault : null);
  const receipt = await writeReceipt(parts, context, { kind: 'Erased', json: progress.receipt });
  event({
    type: 'Normal',
    reason: 'Erased',
    message: `Everything was erased and counted, ConfigMap ${receipt} has the receipt`,
  });
  return done({ status: { erasure: { residue: 0, receipt } } });
}

/** Null: no snapshot is wanted. */
async function findLast(
  parts: DatasetParts,
  { signal }: DatasetContext,
  { policy, tenant }: Pick<Erasing, 'policy' | 'tenant'>,
): Promise<FoundPlace | null> {
  if (policy === 'Retain') return { fault: TAKE_THEM };
  if (policy === 'Delete') return null;
  return findPlace(parts, tenant, tenant?.spec.backup?.destinationRef?.name, signal);
}

const NOT_OURS = ['DatasetNotFoundError', 'TenantNotFoundError', 'OwnedByAnother'];

/** Null where there is nothing, or something of another resource: this one goes, the dataset does not. */
async function whereOurs<Answer>(call: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await call();
  } catch (error) {
    if (NOT_OURS.includes(refusalOf(error) ?? '')) return null;
    throw error;
  }
}

function forget({ memory }: DatasetParts, uid: string): void {
  for (const checks of [memory.identity, memory.access, memory.configuration, memory.statistics]) checks.forget(uid);
  for (const pipeline of ['cognify', 'improve']) memory.starts.forget(`${uid} ${pipeline}`);
}
