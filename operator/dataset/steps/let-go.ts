import type { DatasetId, TenantId } from '../../../services/common/domain/brand.ts';
import { asId } from '../../../services/common/domain/ids.ts';
import type { ErasureProgress } from '../../../services/common/messaging/methods/ingest-managed.ts';
import type { DatasetStatus } from '../../api/dataset.ts';
import type { ConditionDraft } from '../../runtime/conditions.ts';
import { done, progressing, retrying, StepFailure, type StepOutcome } from '../../runtime/step.ts';
import type { DatasetContext, DatasetParts, DatasetStep } from '../dependencies.ts';
import { writeReceipt } from '../receipt.ts';
import { type DatasetIds, readTenant, uidOf, wireName } from '../resource.ts';
import { askService, refusalOf } from '../service-failure.ts';

const AGAIN_MS = 1_000;

/** Keeps or erases the dataset, as `deletionPolicy` says. What another resource manages is not touched. */
export function letGo(parts: DatasetParts): DatasetStep {
  return {
    name: 'let-go',
    async run(context) {
      const tenant = await readTenant(parts.client, context.object, context.signal);
      const policy = context.object.spec.deletionPolicy ?? tenant?.spec.deletionPolicy ?? 'Retain';
      const ids = await findIds(parts, context);
      const outcome =
        ids === null ? done<DatasetStatus>() : await (policy === 'Delete' ? erase : retain)(parts, context, ids);
      if (outcome.state === 'done') forget(parts, uidOf(context.object));
      return outcome;
    },
  };
}

/**
 * What auth knows the resource to manage, also in the middle of the erasure: the status may not have been written yet, and
 * its Tenant may stand for another tenant by now. Once auth knows nothing any more there may still be a receipt to fetch, for
 * what the status names. Null where the resource came to manage nothing, whatever its spec names.
 */
async function findIds(
  { services }: DatasetParts,
  { object, status, signal }: DatasetContext,
): Promise<DatasetIds | null> {
  const managed = await askService('auth', () => services.findManaged({ crUid: uidOf(object) }, signal));
  if (managed !== null && managed.datasetId !== null) {
    return { tenantId: managed.tenantId, datasetId: managed.datasetId };
  }
  const { tenantId, datasetId } = status;
  if (tenantId === undefined || datasetId === undefined) return null;
  return { tenantId: asId<TenantId>(tenantId), datasetId: asId<DatasetId>(datasetId) };
}

async function retain(
  parts: DatasetParts,
  context: DatasetContext,
  ids: DatasetIds,
): Promise<StepOutcome<DatasetStatus>> {
  const { object, event, signal } = context;
  const request = { ...ids, crUid: uidOf(object) };
  await whereOurs(() => askService('auth', () => parts.services.releaseDataset(request, signal)));
  const message = `The dataset ${wireName(object)} is kept with its data: spec.datasetId of another Dataset takes it over`;
  event({ type: 'Normal', reason: 'Retained', message });
  return done();
}

async function erase(
  parts: DatasetParts,
  context: DatasetContext,
  ids: DatasetIds,
): Promise<StepOutcome<DatasetStatus>> {
  const { object, event, signal } = context;
  const request = { ...ids, crUid: uidOf(object) };
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
