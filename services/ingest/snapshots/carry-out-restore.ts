import { COGNIFY_PIPELINE } from '../../common/domain/run.ts';
import type { IdSource } from '../../common/ports/system.ts';
import type { Datasets } from '../../common/records/auth/datasets.ts';
import type { SnapshotPlaces } from '../../common/storage/ports/snapshot-places.ts';
import { partPlace } from '../../common/storage/snapshots/manifest.ts';
import { impersonateOwner } from '../forgetting/impersonate-owner.ts';
import type { RecordedWorkDependencies, WorkProgress } from '../jobs/recorded-work.ts';
import { discardRestored, type RestoreRequest, type RestoreSources, restoreSnapshot } from './restore-snapshot.ts';

export type RestoreDependencies = RestoreSources &
  Omit<RecordedWorkDependencies, 'store'> & {
    /** Written by auth. */
    readonly datasets: Datasets;
    readonly places: SnapshotPlaces;
    readonly ids: IdSource;
  };

export interface Restoring {
  readonly target: Omit<RestoreRequest, 'from' | 'requestId' | 'signal' | 'progress'>;
  /** Called before anything is written. Throws when it may not be. */
  authorise(): Promise<void>;
  /** The same at every step. */
  onStep?(): Promise<void>;
  /** Registers the dataset, so that it can be named. */
  admit(): Promise<void>;
}

interface RestoreStep {
  readonly step: string;
  readonly done: number;
  readonly total: number;
}

/**
 * Makes the dataset. Each attempt starts over: it removes what an earlier one left, and what it wrote itself when it
 * fails.
 */
export async function carryOutRestore(
  deps: RestoreDependencies,
  { target, authorise, onStep, admit }: Restoring,
  { requestId, signal, update }: Pick<WorkProgress<RestoreStep>, 'requestId' | 'signal' | 'update'>,
): Promise<void> {
  const { tenantId: tenant, datasetId, snapshot, place } = target;
  const isRegistered = async () => (await deps.datasets.get({ tenant }, datasetId)) !== null;
  if (await isRegistered()) return recordBuild(deps, target, signal);
  const discard = () => discardRestored(deps, { ...target, requestId });
  try {
    await authorise();
    await discard();
    const opened = await deps.places.open(place);
    try {
      const from = partPlace(opened.blobs, snapshot.tenantId, snapshot.name);
      const progress = async (step: RestoreStep): Promise<void> => {
        await onStep?.();
        await update(step);
      };
      await restoreSnapshot(deps, { ...target, from, requestId, signal, progress });
    } finally {
      await opened.close();
    }
    // Another worker that has taken over starts over under the same id.
    await update({ step: 'registering' });
    await admit();
  } catch (error) {
    // The dataset may be registered, and only the answer lost.
    if (!(await isRegistered())) {
      if (!signal.aborted) await discard();
      throw error;
    }
  }
  await recordBuild(deps, target, signal);
}

/** Records the build that came with the snapshot, once: a dataset without a run would be shown as not built. */
async function recordBuild(
  deps: RestoreDependencies,
  { tenantId: tenant, datasetId }: Restoring['target'],
  signal: AbortSignal,
): Promise<void> {
  const dataset = await deps.datasets.get({ tenant }, datasetId);
  const context = dataset === null ? null : await impersonateOwner(deps, dataset, signal);
  if (dataset === null || context === null) return;
  // A dataset is restored once, so that its id tells the run from others.
  const run = {
    dataset,
    runId: datasetId,
    pipeline: COGNIFY_PIPELINE,
    status: 'DATASET_PROCESSING_COMPLETED',
  } as const;
  await deps.messenger.call('cognify.RecordRun', run, context);
}
