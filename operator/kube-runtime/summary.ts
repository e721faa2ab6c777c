import { type Condition, type ConditionDraft, findCondition } from './conditions.ts';
import type { StepOutcome } from './step.ts';

export interface Summary {
  readonly drafts: readonly ConditionDraft[];
  /** Reconciling and Stalled are there only while they are true. */
  readonly removed: readonly string[];
  readonly result: 'success' | 'progressing' | 'retrying' | 'stalled';
}

/** Failures outside become Stalled after so many tries in a row. */
const TRIES_TO_STALL = 5;

const SEVERITY = { done: 0, progressing: 1, retrying: 2, stalled: 3 } as const;

/** Ready, Reconciling and Stalled out of how the steps ended: the worst of them, the first one where several are as bad. */
export function summarise(
  outcomes: readonly Pick<StepOutcome<unknown>, 'state' | 'reason' | 'message'>[],
  context: {
    /** Ready when all are done. */
    readonly ready: Omit<ConditionDraft, 'type'>;
    readonly previous: readonly Condition[];
    /** Tries in a row that failed like this one, itself included. */
    readonly tries: number;
  },
): Summary {
  const worst = outcomes.reduce<Pick<StepOutcome<unknown>, 'state' | 'reason' | 'message'>>(
    (held, outcome) => (SEVERITY[outcome.state] > SEVERITY[held.state] ? outcome : held),
    { state: 'done' },
  );
  if (worst.state === 'done') {
    return { drafts: [{ type: 'Ready', ...context.ready }], removed: ['Reconciling', 'Stalled'], result: 'success' };
  }
  const reason = worst.reason ?? 'Progressing';
  const message = worst.message ?? 'Work is under way';
  const ready: ConditionDraft = { type: 'Ready', status: 'False', reason, message };
  const held = findCondition(context.previous, 'Stalled');
  // A restart of the operator forgets the tries: what was stalled for this reason stays so until it is not.
  const stuck = context.tries >= TRIES_TO_STALL || (held?.status === 'True' && held.reason === reason);
  if (worst.state === 'stalled' || (worst.state === 'retrying' && stuck)) {
    return {
      drafts: [ready, { type: 'Stalled', status: 'True', reason, message }],
      removed: ['Reconciling'],
      result: worst.state,
    };
  }
  return {
    drafts: [ready, { type: 'Reconciling', status: 'True', reason, message }],
    removed: ['Stalled'],
    result: worst.state,
  };
}
