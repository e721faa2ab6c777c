import { randomBytes } from 'node:crypto';
import { DATASET_SNAPSHOT_SETTINGS, datasetSnapshotCases } from '../../behaviour/dataset-snapshots.ts';
import { startManagedApp } from '../../support/managed-app.ts';
import { withBackends } from '../backend.ts';
import { takeOwnNames } from '../own-names.ts';

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('snapshots over HTTP, in a cluster', () => {
    datasetSnapshotCases(async () => {
      const names = takeOwnNames();
      const secret = { FASTAPI_USERS_JWT_SECRET: randomBytes(32).toString('hex') };
      const app = await startManagedApp({ ...DATASET_SNAPSHOT_SETTINGS, ...names.environment, ...secret });
      return {
        ...app,
        async stop() {
          await app.stop();
          await names.remove();
        },
      };
    });
  });
});
