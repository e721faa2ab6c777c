import type { Logger } from '../../services/common/ports/logger.ts';
import { ForeignObjectError } from './applier.ts';
import { type Condition, type ConditionDraft, findCondition } from './conditions.ts';
import type { EventNote } from './events.ts';
import { KubeError, NotLeaderError } from './kube-client.ts';
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

/** What all steps together said. */
export interface StepsResult<Status> {
  /** Of the steps that ran, in order. */
  readonly outcomes: readonly StepOutcome<Status>[];
  /** The status with what they said; conditions not yet merged. */
  readonly status: Partial<Status>;
  readonly drafts: readonly ConditionDraft[];
  readonly removed: readonly string[];
  /** The earliest that a step wants to be run again. */
  readonly requeueAfterMs: number | undefined;
  /** True when every step ran and is done. */
  readonly complete: boolean;
}

/**
 * Runs steps in order until one is not done. What they throw becomes an outcome, but for what nobody should read in a
 * status: a conflict or time-out of the API server, the loss of leadership and a stop are thrown on.
 */
export async function runSteps<T extends CustomObject, Status>(
  steps: readonly Step<T, Status>[],
  context: StepContext<T, Status>,
  logger: Logger,
): Promise<StepsResult<Status>> {
  const outcomes: StepOutcome<Status>[] = [];
  let status: Partial<Status> = { ...context.status };
  for (const step of steps) {
    const outcome = await outcomeOf(step, { ...context, status }, logger);
    outcomes.push(outcome);
    status = { ...status, ...outcome.status };
    if (outcome.state !== 'done' && outcome.continues !== true) break;
  }
  const waits = outcomes.flatMap(({ requeueAfterMs }) => requeueAfterMs ?? []);
  return {
    outcomes,
    status,
    drafts: outcomes.flatMap(({ conditions = [] }) => conditions),
    removed: outcomes.flatMap(({ removed = [] }) => removed),
    requeueAfterMs: waits.length === 0 ? undefined : Math.min(...waits),
    complete: outcomes.length === steps.length && outcomes.every(({ state }) => state === 'done'),
  };
}

async function outcomeOf<T extends CustomObject, Status>(
  step: Step<T, Status>,
  context: StepContext<T, Status>,
  logger: Logger,
): Promise<StepOutcome<Status>> {
  try {
    return await step.run(context);
  } catch (error) {
    if (error instanceof StepFailure) return error.outcome as StepOutcome<Status>;
    if (error instanceof NotLeaderError || context.signal.aborted) throw error;
    if (error instanceof ForeignObjectError) {
      return stalled(
        'ObjectExists',
        `${error.object} exists and is not managed for this resource: rename or delete it`,
      );
    }
    if (error instanceof KubeError) return refusedOutcome(error);
    const { kind, metadata } = context.object;
    logger.error('reconcile.step-failed', {
      kind,
      name: metadata.name,
      namespace: metadata.namespace,
      step: step.name,
      error,
    });
    return retrying('InternalError', `The step ${step.name} failed: the log of the operator says why`);
  }
}

function refusedOutcome<Status>(error: KubeError): StepOutcome<Status> {
  if (error.transient) throw error;
  // What was sent is wrong, which only another spec can make right.
  if (error.code === 400 || error.code === 422) return stalled(error.reason, error.message);
  return retrying(error.reason, error.message);
}

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
