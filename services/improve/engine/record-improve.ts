import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { HandOverError } from '../../common/platform/jobs/job-failure.ts';
import { isTransient, scrubErrorText } from '../../common/platform/jobs/run-error.ts';
import type { CompletedRun, RequestOf } from '../../common/platform/messaging/messages.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';
import type { Logger } from '../../common/ports/logger.ts';
import { LeaseLostError } from '../../common/ports/work-queue.ts';
import { type ImproveResult, statusOf } from './improve-result.ts';

/** Pipeline name in the history of runs. */
const PIPELINE = 'improve';

/** A shorter improve is recorded once, with its end. */
const SHORT_MS = 200;

const OUTCOMES = { completed: 'succeeded', skipped: 'noop', errored: 'failed', running: 'succeeded' } as const;

interface RecordedImprove {
  readonly id: string;
  readonly dataset: DatasetRef;
  readonly background: boolean;
  readonly sessionIds: readonly string[];
  readonly context: CallContext;
}

/**
 * Records start and end of an improve in the history of runs, the end in one commit with the idle runs that `work` collects. A
 * failed record is logged.
 */
export async function recordImprove(
  { messenger, logger }: { readonly messenger: Messenger; readonly logger: Logger },
  { id, dataset, background, sessionIds, context: { signal: _, ...context } }: RecordedImprove,
  work: (idleRuns: CompletedRun[]) => Promise<ImproveResult>,
): Promise<ImproveResult> {
  const completedBefore: CompletedRun[] = [];
  const [session, ...others] = new Set(sessionIds);
  const about = session === undefined || others.length > 0 ? {} : { session };
  const record = (end: Omit<RequestOf<'cognify.RecordRun'>, 'dataset' | 'pipeline' | 'runId'>) =>
    messenger
      .call('cognify.RecordRun', { dataset, pipeline: PIPELINE, runId: id, background, ...about, ...end }, context)
      .catch((error: unknown) => logger.warn('improve.record.failed', { runId: id, error }));
  let started: Promise<unknown> = Promise.resolve();
  const timer = setTimeout(() => {
    started = record({ status: 'DATASET_PROCESSING_STARTED' });
  }, SHORT_MS);
  const [ended] = await Promise.allSettled([work(completedBefore)]);
  clearTimeout(timer);
  await started;
  if (ended.status === 'rejected') {
    if (background && isContinued(ended.reason)) throw ended.reason;
    await record({ status: 'DATASET_PROCESSING_ERRORED', error: knownError(ended.reason), completedBefore });
    throw ended.reason;
  }
  const result = ended.value;
  const status = statusOf(result);
  const end = { completedBefore, counts: { stages: stagesOf(result) } };
  if (status === 'errored') await record({ status: 'DATASET_PROCESSING_ERRORED', error: errorOf(result), ...end });
  else await record({ status: 'DATASET_PROCESSING_COMPLETED', outcome: OUTCOMES[status], ...end });
  return result;
}

/** Whether another worker, or the next attempt, continues the improve and records its end. */
function isContinued(error: unknown): boolean {
  return error instanceof HandOverError || error instanceof LeaseLostError || isTransient(error);
}

function knownError(error: unknown): { readonly name: string; readonly message: string } {
  if (isEngramError(error)) return { name: error.wireName, message: error.message };
  return { name: 'CogneeSystemError', message: 'internal error' };
}

/** Returns the results of the first pass, as the wire has them. */
function stagesOf({ stages }: ImproveResult): readonly JsonObject[] {
  return stages.map(({ stage, status, reason, error, counts, durationMs: duration_ms }) => {
    return { stage, status, reason, error: error === null ? null : scrubErrorText(error), counts, duration_ms };
  });
}

/** Returns the error of the first stage that failed. */
function errorOf({ stages, rerunPasses, failure }: ImproveResult): { readonly name: string; readonly message: string } {
  if (failure !== null) return knownError(failure);
  const failed = [stages, ...rerunPasses].flat().find(({ status }) => status === 'errored');
  const [, name = 'CogneeSystemError', message = ''] = /^(\w+): (.*)$/s.exec(failed?.error ?? '') ?? [];
  return { name, message: `${failed?.stage}: ${message === '' ? failed?.error : message}` };
}
