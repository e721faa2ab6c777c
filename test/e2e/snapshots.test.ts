import { snapshotCases } from '../behaviour/snapshots.ts';
import { startManagedApp } from '../support/managed-app.ts';

describe('snapshots, embedded', () => {
  snapshotCases(() => startManagedApp());
});
