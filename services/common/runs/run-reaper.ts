import { engramError } from '../domain/errors.ts';
import { SYSTEM_SCOPE } from '../domain/scope.ts';
import type { Logger } from '../ports/logger.ts';
import type { Clock } from '../ports/system.ts';
import type { Runs, StoredRun } from '../repositories/runs.ts';
import { describeRunError, type RunRecorder } from './run-recorder.ts';
import type { RunSettings } from './run-settings.ts';

export interface RunReaper {
  start(): void;
  stop(): Promise<void>;
}

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
  readonly settings: Pick<RunSettings, 'abandonedAfterMs' | 'reapEveryMs'>;
}): RunReaper {
  const { runs, recorder, clock, logger, settings } = dependencies;
  let reaping: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const close = async (run: StoredRun): Promise<void> => {
    const { scope, state, userId } = run;
    const dataset = {
      id: scope.dataset,
      tenant: scope.tenant,
      name: state.datasetName,
      ownerId: userId,
      createdAt: state.startedAt,
      updatedAt: null,
    };
    const error = engramError('AbandonedPipelineRunError', 'The process that ran the pipeline is gone.');
    await recorder.ended(run, dataset, { error: describeRunError(error) });
    logger.warn('run.abandoned', { runId: state.id, pipeline: state.pipeline, startedAt: state.startedAt });
  };
  const reap = async (): Promise<void> => {
    try {
      const before = new Date(clock.now().getTime() - settings.abandonedAfterMs).toISOString();
      const found = await runs.unfinished(SYSTEM_SCOPE, { startedBefore: before, withoutJob: true, limit: BATCH });
      for (const run of found) await close(run);
    } catch (error) {
      logger.error('run.reaper.failed', { error });
    }
  };
  return {
    start() {
      reaping = reap();
      timer = setInterval(() => {
        reaping = reaping.then(reap);
      }, settings.reapEveryMs);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await reaping;
    },
  };
}
