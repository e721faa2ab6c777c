import type { Logger } from '../../services/common/ports/logger.ts';
import { ForeignObjectError } from './applier.ts';
import type { ConditionDraft } from './conditions.ts';
import { KubeError, NotLeaderError } from './kube-error.ts';
import type { CustomObject } from './kube-object.ts';
import { retrying, type Step, type StepContext, StepFailure, type StepOutcome, stalled } from './step.ts';

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
