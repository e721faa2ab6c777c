import type { Datasets } from '../../common/records/auth/datasets.ts';
import type { SnapshotPlaces } from '../../common/storage/ports/snapshot-places.ts';
import { partPlace } from '../../common/storage/snapshots/manifest.ts';
import type { RecordedWorkDependencies, WorkProgress } from '../jobs/recorded-work.ts';
import { discardRestored, type RestoreRequest, type RestoreSources, restoreSnapshot } from './restore-snapshot.ts';

export type RestoreDependencies = RestoreSources &
  Omit<RecordedWorkDependencies, 'store'> & {
    /** Written by auth. */
    readonly datasets: Datasets;
    readonly places: SnapshotPlaces;
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
  if (await isRegistered()) return;
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
    if (await isRegistered()) return;
    if (!signal.aborted) await discard();
    throw error;
  }
}
