import type { ErasureProgress } from '../services/common/platform/messaging/methods/ingest-managed.ts';
import { type ConditionDraft, MESSAGE_LIMIT } from './kube-runtime/conditions.ts';
import { progressing, retrying, StepFailure, type StepOutcome } from './kube-runtime/steps.ts';

/** Of the status of either kind. */
interface ErasureStatus {
  readonly erasure?: { readonly residue: number; readonly step?: string; readonly receipt?: string };
}

export type ErasureOutcome = StepOutcome<ErasureStatus>;

const AGAIN_MS = 1_000;

const INSTEAD = ', or set deletionPolicy to Delete to do without';

/** Of an erasure that began with snapshots, where nobody says any more that it shall. */
export const TAKE_THEM = 'set deletionPolicy back to Snapshot so that they are taken';

export const CARRIED_OUT = {
  type: 'Warning',
  reason: 'ErasureGoesOn',
  message: 'The erasure had begun when deletionPolicy was changed, so it is carried out: the data is not kept',
} as const;

/** How far an erasure is that did not end. `fault`: what is wrong with the place of the snapshots that it begins with. */
export function underWay({ step, residue, failure }: ErasureProgress, fault: string | null): ErasureOutcome {
  const status = { erasure: { residue, ...(step === '' ? {} : { step }) } };
  if (failure !== null) {
    if (failure.name === 'FinalSnapshotFailed') return withoutSnapshots(fault ?? failure.message, status);
    const reason = failure.name === 'ServiceUnavailableError' || residue === 0 ? 'StoreUnreachable' : 'ResidueFound';
    const message = `The erasure goes on when this is over: ${failure.message}`;
    return retrying(reason, message, { status, conditions: [erasureComplete('False', reason, message)] });
  }
  const message = step === '' ? 'The erasure is under way' : `Being erased now: ${step}`;
  return progressing('Erasing', message, {
    status,
    conditions: [erasureComplete('False', 'InProgress', message)],
    requeueAfterMs: AGAIN_MS,
  });
}

/** It waits for the snapshots that it begins with. */
export function withoutSnapshots(why: string, status: ErasureStatus = {}): ErasureOutcome {
  const reason = 'SnapshotFailed';
  const said = `Nothing is erased without its snapshots: ${why.replace(/\.$/, '')}`;
  const message = `${said.slice(0, MESSAGE_LIMIT - INSTEAD.length)}${INSTEAD}`;
  return retrying(reason, message, { status, conditions: [erasureComplete('False', reason, message)] });
}

export function erasureComplete(status: ConditionDraft['status'], reason: string, message: string): ConditionDraft {
  return { type: 'ErasureComplete', status, reason, message };
}

/** What holds up the erasure is said of the erasure, too. */
export async function withErasure<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    const { conditions = [], reason = 'Failed', message = '' } = error.outcome;
    const said = [...conditions, erasureComplete('False', reason, message)];
    throw new StepFailure({ ...error.outcome, conditions: said }, error.cause);
  }
}
