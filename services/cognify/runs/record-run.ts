import { isTerminal, type RunItem, type RunOrigin } from '../../common/domain/run.ts';
import type { RunId } from '../../common/kernel/brand.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { retry } from '../../common/platform/async/retry.ts';
import { scrubErrorText } from '../../common/platform/jobs/run-error.ts';
import type { RunRecorder, WholeRun } from '../../common/platform/jobs/run-recorder.ts';
import type { RequestOf } from '../../common/platform/messaging/messages.ts';
import { type Runs, runsCollection } from '../../common/records/cognify/runs.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';

interface Dependencies {
  readonly runs: Runs;
  readonly recorder: RunRecorder;
}

interface RecordedRun extends RequestOf<'cognify.RecordRun'> {
  readonly principal: Principal;
  readonly origin?: RunOrigin;
}

/** Records runs that another service drives. A short run is reported once, with its end. */
export async function recordRun(dependencies: Dependencies, recorded: RecordedRun): Promise<void> {
  // Start and end, or the same report twice, may arrive at the same time at two replicas: the second attempt finds the run.
  const isRetryable = (error: unknown) =>
    error instanceof DuplicateKeyError && error.collection === runsCollection.name;
  await retry(() => recordOnce(dependencies, recorded), { isRetryable, attempts: 2 });
}

async function recordOnce({ runs, recorder }: Dependencies, recorded: RecordedRun): Promise<void> {
  const { principal, dataset, pipeline, runId, status, items, error, outcome, background = false, session } = recorded;
  const { completedBefore = [], origin, jobId, counts } = recorded;
  const from = origin === undefined ? {} : { origin };
  const id = asId<RunId>(runId);
  const ids = [id, ...completedBefore.map((one) => asId<RunId>(one.runId))];
  const known = new Map((await runs.getMany(scopeOf(dataset), ids)).map((stored) => [stored.state.id, stored]));
  const run = known.get(id) ?? null;
  const started = {
    id,
    pipeline,
    dataset,
    userId: principal.id,
    background,
    ...from,
    ...(session === undefined ? {} : { sessionId: session }),
  };
  if (!isTerminal(status)) {
    if (run === null) await recorder.started(started, jobId === undefined ? undefined : () => ({ jobId, writes: [] }));
    return;
  }
  const ended = (items ?? []).map((item): RunItem => ({ item: asId(item), status: 'completed' }));
  const failure = { errorClass: error?.name ?? 'CogneeSystemError', message: scrubErrorText(error?.message ?? '') };
  const isErrored = status === 'DATASET_PROCESSING_ERRORED';
  const end = {
    items: ended,
    ...(isErrored ? { error: { ...failure, status: 500 } } : error === undefined ? {} : { itemError: failure }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(counts === undefined ? {} : { counts }),
  };
  const before = completedBefore
    .map((one): WholeRun => {
      const completed = { id: asId<RunId>(one.runId), pipeline: one.pipeline };
      return { run: { ...completed, dataset, userId: principal.id, background: false, ...from }, end: {} };
    })
    .filter(({ run: { id: other } }) => !known.has(other));
  const whole = [...before, ...(run === null ? [{ run: started, end }] : [])];
  if (whole.length > 0) await recorder.whole(dataset, whole);
  if (run !== null) await recorder.ended(run, dataset, end);
}
