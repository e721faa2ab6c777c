import { nullIf } from '../../services/common/platform/async/null-if.ts';
import type { ErasureProgress } from '../../services/common/platform/messaging/messages.ts';
import { refusalOf } from '../installation/services.ts';
import { type ConditionDraft, MESSAGE_LIMIT } from '../kube-runtime/conditions.ts';
import type { EventNote } from '../kube-runtime/events.ts';
import { progressing, retrying, StepFailure, type StepOutcome } from '../kube-runtime/steps.ts';

/** Part of the status of tenants and datasets. */
interface ErasureStatus {
  readonly erasure?: { readonly residue: number; readonly step?: string; readonly receipt?: string };
}

export type ErasureOutcome = StepOutcome<ErasureStatus>;

const AGAIN_MS = 1_000;

const ADVICE_DELETE = ', or set deletionPolicy to Delete to skip them';

/** Advice when an erasure that began with snapshots has lost its place for them because the policy was changed to Retain. */
export const RESTORE_SNAPSHOT_POLICY = 'set deletionPolicy back to Snapshot so that they are taken';

/** Event when `deletionPolicy` was changed to Retain too late. */
export const ERASURE_CONTINUES: EventNote = {
  type: 'Warning',
  reason: 'ErasureGoesOn',
  message: 'The erasure began before deletionPolicy was changed, so it continues: the data is not kept',
};

/** Outcome of an erasure that has not ended. `placeFault`: problem of the place of the snapshots that it begins with. */
export function erasing({ step, residue, failure }: ErasureProgress, placeFault: string | null): ErasureOutcome {
  const status = { erasure: { residue, ...(step === '' ? {} : { step }) } };
  if (failure !== null) {
    if (failure.name === 'FinalSnapshotFailed') return withoutSnapshots(placeFault ?? failure.message, status);
    const reason = failure.name === 'ServiceUnavailableError' || residue === 0 ? 'StoreUnreachable' : 'ResidueFound';
    const message = `The erasure continues when this is solved: ${failure.message}`;
    return retrying(reason, message, { status, conditions: [erasureComplete('False', reason, message)] });
  }
  const message = step === '' ? 'The erasure is under way' : `Being erased now: ${step}`;
  return progressing('Erasing', message, {
    status,
    conditions: [erasureComplete('False', 'InProgress', message)],
    requeueAfterMs: AGAIN_MS,
  });
}

/** Outcome of an erasure that waits for the snapshots that it begins with. */
export function withoutSnapshots(why: string, status: ErasureStatus = {}): ErasureOutcome {
  const reason = 'SnapshotFailed';
  const said = `Nothing is erased without its snapshots: ${why.replace(/\.$/, '')}`;
  const message = `${said.slice(0, MESSAGE_LIMIT - ADVICE_DELETE.length)}${ADVICE_DELETE}`;
  return retrying(reason, message, { status, conditions: [erasureComplete('False', reason, message)] });
}

export function erasureComplete(status: ConditionDraft['status'], reason: string, message: string): ConditionDraft {
  return { type: 'ErasureComplete', status, reason, message };
}

/** Reports a failure of the call in `ErasureComplete` as well. */
export async function withErasureCondition<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    const { conditions = [], reason = 'Failed', message = '' } = error.outcome;
    const all = [...conditions, erasureComplete('False', reason, message)];
    throw new StepFailure({ ...error.outcome, conditions: all }, error.cause);
  }
}

const NOT_OURS = ['DatasetNotFoundError', 'TenantNotFoundError', 'OwnedByAnother'];

/** Null when the tenant or dataset does not exist or another resource manages it: only the resource is removed then. */
export async function ifManagedByUs<Answer>(call: () => Promise<Answer>): Promise<Answer | null> {
  return nullIf((error) => NOT_OURS.includes(refusalOf(error) ?? ''), call());
}
