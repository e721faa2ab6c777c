import type { RunId } from '../../common/domain/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/domain/dataset.ts';
import { asId } from '../../common/domain/ids.ts';
import type { Principal } from '../../common/domain/principal.ts';
import { isTerminal, type RunItem, type RunStatus } from '../../common/domain/run.ts';
import { scrubErrorText } from '../../common/runs/scrub-error.ts';
import type { CognifyDependencies } from '../dependencies.ts';

export interface RecordedRun {
  readonly principal: Principal;
  readonly dataset: DatasetRef;
  readonly pipeline: string;
  readonly runId: string;
  readonly status: RunStatus;
  readonly items?: readonly string[];
  readonly error?: { readonly name: string; readonly message: string };
}

/** Keeps the history of runs that another service drives. A terminal state may come without its start. */
export async function recordRun(
  { runs, recorder }: Pick<CognifyDependencies, 'runs' | 'recorder'>,
  { principal, dataset, pipeline, runId, status, items, error }: RecordedRun,
): Promise<void> {
  const id = asId<RunId>(runId);
  const scope = scopeOf(dataset);
  let run = await runs.get(scope, id);
  if (run === null) {
    await recorder.started({ id, pipeline, dataset, userId: principal.id, background: false });
    run = await runs.get(scope, id);
  }
  if (run === null || !isTerminal(status)) return;
  const ended = (items ?? []).map((item): RunItem => ({ item: asId(item), status: 'completed' }));
  const failure = { errorClass: error?.name ?? 'CogneeSystemError', message: scrubErrorText(error?.message ?? '') };
  const isErrored = status === 'DATASET_PROCESSING_ERRORED';
  await recorder.ended(run, dataset, { items: ended, ...(isErrored ? { error: { ...failure, status: 500 } } : {}) });
}
