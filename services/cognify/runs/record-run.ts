import { isTerminal, type RunItem, type RunOrigin } from '../../common/domain/run.ts';
import type { RunId } from '../../common/kernel/brand.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { WholeRun } from '../../common/platform/jobs/run-recorder.ts';
import { scrubErrorText } from '../../common/platform/jobs/scrub-error.ts';
import type { RecordRunRequest } from '../../common/platform/messaging/methods/cognify.ts';
import { runsCollection } from '../../common/records/cognify/runs.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import type { CognifyDependencies } from '../dependencies.ts';

export interface RecordedRun extends RecordRunRequest {
  readonly principal: Principal;
  readonly origin?: RunOrigin;
}

/** Keeps the history of runs that another service drives. One that was short comes with its end alone. */
export async function recordRun(
  dependencies: Pick<CognifyDependencies, 'runs' | 'recorder'>,
  recorded: RecordedRun,
): Promise<void> {
  try {
    await recordOnce(dependencies, recorded);
  } catch (error) {
    if (!(error instanceof DuplicateKeyError) || error.collection !== runsCollection.name) throw error;
    // Start and end, or the same twice, came at the same time, perhaps to another replica: the run is there now.
    await recordOnce(dependencies, recorded);
  }
}

async function recordOnce(
  { runs, recorder }: Pick<CognifyDependencies, 'runs' | 'recorder'>,
  recorded: RecordedRun,
): Promise<void> {
  const { principal, dataset, pipeline, runId, status, items, error, outcome, background = false, session } = recorded;
  const { completedBefore = [], origin, jobId } = recorded;
  const came = origin === undefined ? {} : { origin };
  const id = asId<RunId>(runId);
  const ids = [id, ...completedBefore.map((one) => asId<RunId>(one.runId))];
  const known = new Map((await runs.getMany(scopeOf(dataset), ids)).map((stored) => [stored.state.id, stored]));
  const run = known.get(id) ?? null;
  const begun = {
    ...{ id, pipeline, dataset, userId: principal.id, background, ...came },
    ...(session === undefined ? {} : { sessionId: session }),
  };
  if (!isTerminal(status)) {
    if (run === null) await recorder.started(begun, jobId === undefined ? undefined : () => ({ jobId, writes: [] }));
    return;
  }
  const ended = (items ?? []).map((item): RunItem => ({ item: asId(item), status: 'completed' }));
  const failure = { errorClass: error?.name ?? 'CogneeSystemError', message: scrubErrorText(error?.message ?? '') };
  const isErrored = status === 'DATASET_PROCESSING_ERRORED';
  const end = {
    items: ended,
    ...(isErrored ? { error: { ...failure, status: 500 } } : error === undefined ? {} : { itemError: failure }),
    ...(outcome === undefined ? {} : { outcome }),
  };
  const before = completedBefore
    .map((one): WholeRun => {
      const completed = { id: asId<RunId>(one.runId), pipeline: one.pipeline };
      return { run: { ...completed, dataset, userId: principal.id, background: false, ...came }, end: {} };
    })
    .filter(({ run: { id: other } }) => !known.has(other));
  const whole = [...before, ...(run === null ? [{ run: begun, end }] : [])];
  if (whole.length > 0) await recorder.whole(dataset, whole);
  if (run !== null) await recorder.ended(run, dataset, end);
}
