import type { DatasetId, TenantId } from '../../../services/common/domain/brand.ts';
import { asId } from '../../../services/common/domain/ids.ts';
import type { ErasureProgress } from '../../../services/common/messaging/methods/ingest-managed.ts';
import type { SnapshotPlace } from '../../../services/common/ports/snapshot-places.ts';
import type { DatasetStatus } from '../../api/dataset.ts';
import type { Tenant } from '../../api/tenant.ts';
import type { ConditionDraft } from '../../runtime/conditions.ts';
import { done, progressing, retrying, StepFailure, type StepOutcome } from '../../runtime/step.ts';
import type { DatasetContext, DatasetParts, DatasetStep } from '../dependencies.ts';
import { writeReceipt } from '../receipt.ts';
import { type DatasetIds, readTenant, uidOf, wireName } from '../resource.ts';
import { askService, refusalOf } from '../service-failure.ts';
import { snapshotName } from '../snapshot-names.ts';
import { findPlace } from '../snapshot-place.ts';

const AGAIN_MS = 1_000;

const CARRIED_OUT = {
  type: 'Warning',
  reason: 'ErasureGoesOn',
  message: 'The erasure had begun when deletionPolicy was changed, so it is carried out: nothing is kept',
} as const;

/**
 * Keeps or erases the dataset, as `deletionPolicy` says; what has begun to be erased is erased, whatever that says by now.
 * What another resource manages is not touched.
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
      const outcome =
        found === null
          ? done<DatasetStatus>()
          : policy === 'Retain' && !isLate
            ? await retain(parts, context, found.ids)
            : await erase(
                parts,
                context,
                found.ids,
                policy === 'Snapshot' ? await findLast(parts, context, tenant) : {},
              );
      if (outcome.state === 'done') forget(parts, uidOf(context.object));
      return outcome;
    },
  };
}

/**
 * What auth knows the resource to manage, also in the middle of the erasure: the status may not have been written yet, and
 * its Tenant may stand for another tenant by now. Null where the resource came to manage nothing, whatever its spec names.
 */
async function find(
  { services }: DatasetParts,
  { object, status, signal }: DatasetContext,
): Promise<{ readonly ids: DatasetIds; readonly isErasing: boolean } | null> {
  const managed = await askService('auth', () => services.findManaged({ crUid: uidOf(object) }, signal));
  if (managed !== null && managed.datasetId !== null) {
    const { tenantId, datasetId, isErasing } = managed;
    return { ids: { tenantId, datasetId }, isErasing };
  }
  const { tenantId, datasetId } = status;
  if (tenantId === undefined || datasetId === undefined) return null;
  return { ids: { tenantId: asId<TenantId>(tenantId), datasetId: asId<DatasetId>(datasetId) }, isErasing: false };
}

async function retain(
  parts: DatasetParts,
  context: DatasetContext,
  ids: DatasetIds,
): Promise<StepOutcome<DatasetStatus>> {
  const { object, event, signal } = context;
  const request = { ...ids, crUid: uidOf(object) };
  // What is kept is kept for good: nobody declares any more how long.
  await whereOurs(() => askService('ingest', () => parts.services.setRetention(request, signal)));
  const answer = await whereOurs(() => askService('auth', () => parts.services.releaseDataset(request, signal)));
  if (answer === null || !answer.released) return done();
  const message = `The dataset ${wireName(object)} is kept with its data: spec.datasetId of another Dataset takes it over`;
  event({ type: 'Normal', reason: 'Retained', message });
  return done();
}

async function erase(
  parts: DatasetParts,
  context: DatasetContext,
  ids: DatasetIds,
  last: LastSnapshot,
): Promise<StepOutcome<DatasetStatus>> {
  const { object, event, signal } = context;
  if ('fault' in last) {
    const message = `Nothing is erased before its snapshot: ${last.fault}`;
    return retrying('SnapshotFailed', message, { conditions: [incomplete('SnapshotFailed', message)] });
  }
  const { place } = last;
  const at = new Date(object.metadata.deletionTimestamp ?? context.now);
  const name = snapshotName({ name: wireName(object), id: ids.datasetId }, at, '-final');
  const request = {
    ...{ ...ids, crUid: uidOf(object) },
    ...(place === undefined ? {} : { keepSnapshots: true, finalSnapshot: { name, place } }),
  };
  const progress = await whereOurs(() =>
    withErasure(() => askService('ingest', () => parts.services.eraseDataset(request, signal))),
  );
  if (progress === null) return done();
  if (!progress.erased || progress.receipt === null) return underWay(progress);
  const receipt = await writeReceipt(parts, context, { kind: 'Erased', json: progress.receipt });
  event({
    type: 'Normal',
    reason: 'Erased',
    message: `Everything was erased and counted, ConfigMap ${receipt} has the receipt`,
  });
  return done({ status: { erasure: { residue: 0, receipt } } });
}

/** Empty: none is wanted. */
type LastSnapshot = { readonly place?: SnapshotPlace } | { readonly fault: string };

function findLast(parts: DatasetParts, { signal }: DatasetContext, tenant: Tenant | null): Promise<LastSnapshot> {
  return findPlace(parts, tenant, tenant?.spec.backup?.destinationRef?.name, signal);
}

function underWay({ step, residue, failure }: ErasureProgress): StepOutcome<DatasetStatus> {
  const status = { erasure: { residue, ...(step === '' ? {} : { step }) } };
  if (failure !== null) {
    const reason = failure.name === 'ServiceUnavailableError' || residue === 0 ? 'StoreUnreachable' : 'ResidueFound';
    const message = `The erasure goes on when this is over: ${failure.message}`;
    return retrying(reason, message, { status, conditions: [incomplete(reason, message)] });
  }
  const message = step === '' ? 'The erasure is under way' : `Being erased now: ${step}`;
  return progressing('Erasing', message, {
    status,
    conditions: [incomplete('InProgress', message)],
    requeueAfterMs: AGAIN_MS,
  });
}

function incomplete(reason: string, message: string): ConditionDraft {
  return { type: 'ErasureComplete', status: 'False', reason, message };
}

/** What holds up the erasure is said of the erasure, too. */
async function withErasure<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    const { conditions = [], reason = 'Failed', message = '' } = error.outcome;
    throw new StepFailure({ ...error.outcome, conditions: [...conditions, incomplete(reason, message)] }, error.cause);
  }
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
