import type { UserRestore } from '../repositories/restores.ts';
import type { SnapshotRecord } from '../repositories/snapshots.ts';

export function presentSnapshot(record: SnapshotRecord) {
  const { name, datasetId, at, items, sizeBytes, sha256, place, takenBy, done, total, failure } = record;
  const isComplete = record.isComplete;
  return {
    ...{ id: name, dataset_id: datasetId, status: statusOf(record), at, items, size_bytes: sizeBytes },
    sha256: isComplete ? sha256 : null,
    place,
    taken_by: takenBy ?? null,
    ...{ done, total, failure: failure ?? null },
  };
}

export function presentRestore(restore: UserRestore) {
  const { id, name, datasetId, step, done, total, failure, isComplete } = restore;
  return {
    ...{ id, name, status: statusOf(restore), dataset_id: isComplete ? datasetId : null },
    ...{ step, done, total, failure: failure ?? null },
  };
}

function statusOf({ isComplete, failure }: Pick<SnapshotRecord, 'isComplete' | 'failure'>) {
  if (isComplete) return 'complete';
  return failure === null ? 'running' : 'failed';
}
