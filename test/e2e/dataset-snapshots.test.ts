import { DATASET_SNAPSHOT_SETTINGS, datasetSnapshotCases } from '../conformance/dataset-snapshots.ts';
import { startManagedApp } from '../support/managed-app.ts';

describe('snapshots over HTTP, embedded', () => {
  datasetSnapshotCases(() => startManagedApp(DATASET_SNAPSHOT_SETTINGS));
});
