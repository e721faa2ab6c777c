import { engramError } from '../../common/kernel/errors.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { createRepeating, type Repeating } from '../../common/platform/async/repeating.ts';
import { describeRunError, type RunRecorder } from '../../common/platform/jobs/run-recorder.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Clock } from '../../common/ports/system.ts';
import { datasetOf, type Runs, type StoredRun } from '../../common/records/cognify/runs.ts';
import type { RunSettings } from './run-settings.ts';

const BATCH = 200;

/**
 * Closes runs that stay STARTED although no job drives them: their recorder died between start and end. At start and then
 * at intervals; a run with a job is never touched, its next claim takes it up.
 */
export function createRunReaper(dependencies: {
  readonly runs: Runs;
  readonly recorder: RunRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: Pick<RunSettings, 'abandonedAfterMs' | 'ownsRecords' | 'reapEveryMs'>;
}): Repeating {
  const { runs, recorder, clock, logger, settings } = dependencies;
  const createdAt = clock.now().getTime();
  const close = async (run: StoredRun): Promise<void> => {
    const { state } = run;
    const error = engramError(
      'AbandonedPipelineRunError',
      'The process that ran the pipeline is gone. What it had not stored has to be sent again.',
    );
    await recorder.ended(run, datasetOf(run), { error: describeRunError(error) });
    logger.warn('run.abandoned', { runId: state.id, pipeline: state.pipeline, startedAt: state.startedAt });
  };
  const reap = async (): Promise<void> => {
    const old = clock.now().getTime() - settings.abandonedAfterMs;
    const before = new Date(settings.ownsRecords ? Math.max(createdAt, old) : old).toISOString();
    const found = await runs.unfinished(SYSTEM_SCOPE, { startedBefore: before, withoutJob: true, limit: BATCH });
    for (const run of found) await close(run);
  };
  return createRepeating({
    work: reap,
    everyMs: settings.reapEveryMs,
    onError: (error) => logger.error('run.reaper.failed', { error }),
  });
}
