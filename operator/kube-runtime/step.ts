import type { ConditionDraft } from './conditions.ts';
import type { EventNote } from './events.ts';
import type { CustomObject } from './kube-object.ts';

/** One small part of a reconcile: makes one thing true and says how it went. Idempotent; looks again each time. */
export interface Step<T extends CustomObject, Status> {
  /** For logs and metrics: `ensure-identity`. */
  readonly name: string;
  run(context: StepContext<T, Status>): Promise<StepOutcome<Status>>;
}

export interface StepContext<T extends CustomObject, Status> {
  /** As read at the start of this reconcile; its generation is the one that `observedGeneration` will say. */
  readonly object: T;
  /** The status as it will be written: what was there, with what the steps before this one said. */
  readonly status: Readonly<Partial<Status>>;
  /** About the object; deduplicated. */
  event(note: EventNote): void;
  readonly now: Date;
  readonly signal: AbortSignal;
}

/**
 * How a step ended.
 * - `done`: what it is for is so.
 * - `progressing`: under way; look again after `requeueAfterMs`. Shown as Reconciling.
 * - `retrying`: something outside failed; tried again with back-off, Stalled after a few times.
 * - `stalled`: only a change by a person helps. Shown as Stalled; looked at again with the next change or resync.
 */
export interface StepOutcome<Status> {
  readonly state: 'done' | 'progressing' | 'retrying' | 'stalled';
  /** For Ready, Reconciling and Stalled when not done. */
  readonly reason?: string;
  readonly message?: string;
  /** Conditions of the step's own. */
  readonly conditions?: readonly ConditionDraft[];
  /** Types of abnormal conditions that are not true (any more). */
  readonly removed?: readonly string[];
  /** Fields to replace in the status; undefined values remove. */
  readonly status?: Partial<Status>;
  /** Wanted at the latest then; the earliest of all steps wins, with jitter. */
  readonly requeueAfterMs?: number;
  /** The steps after this one are run although it is not done. */
  readonly continues?: boolean;
}

type Detail<Status> = Omit<StepOutcome<Status>, 'state' | 'reason' | 'message'>;

export function done<Status>(detail: Detail<Status> = {}): StepOutcome<Status> {
  return { state: 'done', ...detail };
}

export function progressing<Status>(reason: string, message: string, detail: Detail<Status> = {}): StepOutcome<Status> {
  return { state: 'progressing', reason, message, ...detail };
}

export function retrying<Status>(reason: string, message: string, detail: Detail<Status> = {}): StepOutcome<Status> {
  return { state: 'retrying', reason, message, ...detail };
}

export function stalled<Status>(reason: string, message: string, detail: Detail<Status> = {}): StepOutcome<Status> {
  return { state: 'stalled', reason, message, ...detail };
}

/**
 * Thrown inside a step instead of being answered by it: the frame turns it into the outcome. For deep code, where passing
 * outcomes up would hide what the code does.
 */
export class StepFailure extends Error {
  readonly outcome: StepOutcome<Record<string, unknown>>;
  constructor(outcome: StepOutcome<Record<string, unknown>>, cause?: unknown) {
    super(outcome.message ?? outcome.reason ?? outcome.state, cause === undefined ? undefined : { cause });
    this.name = 'StepFailure';
    this.outcome = outcome;
  }
}
