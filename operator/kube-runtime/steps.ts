import type { Logger } from '../../services/common/ports/logger.ts';
import { ForeignObjectError } from './applier.ts';
import { type Condition, type ConditionDraft, type ConditionState, findCondition } from './conditions.ts';
import type { EventNote } from './events.ts';
import { KubeError, NotLeaderError } from './kube-client.ts';
import type { CustomObject } from './kube-object.ts';

/** One part of a reconcile: brings one thing to its declared state and reports the outcome. Idempotent. */
export interface Step<T extends CustomObject, Status> {
  /** For logs and metrics: `ensure-identity`. */
  readonly name: string;
  run(context: StepContext<T, Status>): Promise<StepOutcome<Status>>;
}

export interface StepContext<T extends CustomObject, Status> {
  /** As read at the start of this reconcile; its generation becomes `observedGeneration`. */
  readonly object: T;
  /** The status as it will be written: the present one with the changes of the previous steps. */
  readonly status: Readonly<Partial<Status>>;
  /** Records an event about the object; repetitions are counted. */
  event(note: EventNote): void;
  readonly now: Date;
  readonly signal: AbortSignal;
}

/**
 * Result of a step.
 * - `done`: the declared state is reached.
 * - `progressing`: under way; reconciled again after `requeueAfterMs`. Shown as Reconciling.
 * - `retrying`: something outside failed; retried with back-off, shown as Stalled after a few times.
 * - `stalled`: needs a change by a person. Shown as Stalled; reconciled again with the next change or resync.
 */
export interface StepOutcome<Status> {
  readonly state: 'done' | 'progressing' | 'retrying' | 'stalled';
  /** Used for Ready, Reconciling and Stalled when the step is not done. */
  readonly reason?: string;
  readonly message?: string;
  /** Further conditions of this step. */
  readonly conditions?: readonly ConditionDraft[];
  /** Types of abnormal conditions that are not true. */
  readonly removed?: readonly string[];
  /** Fields to replace in the status; undefined removes a field. */
  readonly status?: Partial<Status>;
  /** Latest time of the next reconcile; the earliest of all steps is used, with jitter. */
  readonly requeueAfterMs?: number;
  /** Run the following steps although this one is not done. */
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
 * Thrown inside a step in place of returning its outcome, by code deep inside where passing outcomes up would obscure it.
 */
export class StepFailure extends Error {
  readonly outcome: StepOutcome<Record<string, unknown>>;
  constructor(outcome: StepOutcome<Record<string, unknown>>, cause?: unknown) {
    super(outcome.message ?? outcome.reason ?? outcome.state, cause === undefined ? undefined : { cause });
    this.name = 'StepFailure';
    this.outcome = outcome;
  }
}

export interface StepsResult<Status> {
  /** Outcomes of the steps that ran, in order. */
  readonly outcomes: readonly StepOutcome<Status>[];
  /** The status with their changes; conditions are not merged yet. */
  readonly status: Partial<Status>;
  readonly drafts: readonly ConditionDraft[];
  readonly removed: readonly string[];
  /** The earliest requested time of the next reconcile. */
  readonly requeueAfterMs: number | undefined;
  /** True when every step ran and is done. */
  readonly complete: boolean;
}

/**
 * Runs steps in order until one is not done. Their errors become outcomes; only errors that do not belong into a status are
 * thrown: a conflict or time-out of the API server, the loss of leadership and a stop.
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
    logger.error('reconcile.step.failed', {
      kind,
      name: metadata.name,
      namespace: metadata.namespace,
      step: step.name,
      error,
    });
    return retrying('InternalError', `The step ${step.name} failed: see the log of the operator`);
  }
}

function refusedOutcome<Status>(error: KubeError): StepOutcome<Status> {
  if (error.transient) throw error;
  // The request is invalid, which only another spec can solve.
  if (error.code === 400 || error.code === 422) return stalled(error.reason, error.message);
  return retrying(error.reason, error.message);
}

interface Summary {
  readonly drafts: readonly ConditionDraft[];
  /** Reconciling and Stalled are there only while they are true. */
  readonly removed: readonly string[];
  readonly result: 'success' | 'progressing' | 'retrying' | 'stalled';
}

/** A failure outside is shown as Stalled after this number of tries in a row. */
const TRIES_TO_STALL = 5;

const SEVERITY = { done: 0, progressing: 1, retrying: 2, stalled: 3 } as const;

/** Derives Ready, Reconciling and Stalled from the worst outcome of the steps, the first one of several. */
export function summarise(
  outcomes: readonly Pick<StepOutcome<unknown>, 'state' | 'reason' | 'message'>[],
  context: {
    /** Ready condition when all steps are done. */
    readonly ready: ConditionState;
    readonly previous: readonly Condition[];
    /** Number of tries in a row that failed with this reason, including this one. */
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
  // A restart of the operator forgets the number of tries: a resource that was stalled for this reason stays stalled.
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
