import { randomBytes } from 'node:crypto';
import type { SnapshotPlace } from '../../../services/common/storage/ports/snapshot-places.ts';
import { snapshotCases } from '../../behaviour/snapshots.ts';
import { type ManagedApp, startManagedApp } from '../../support/managed-app.ts';
import { withBackend, withBackends } from '../backend.ts';
import { takeOwnNames } from '../own-names.ts';
import { openTestBucket, type TestBucket } from '../s3/test-bucket.ts';

async function startInCluster(): Promise<ManagedApp> {
  const names = takeOwnNames();
  const secret = randomBytes(32).toString('hex');
  const app = await startManagedApp({ ...names.environment, FASTAPI_USERS_JWT_SECRET: secret });
  return {
    ...app,
    async stop() {
      await app.stop();
      await names.remove();
    },
  };
}

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('snapshots, in a cluster', () => {
    snapshotCases(startInCluster);
  });
});

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () =>
  withBackend('s3', (address) => {
    describe('snapshots in a bucket of S3', () => {
      let bucket: TestBucket;
      before(async () => {
        bucket = await openTestBucket(address);
      });
      after(() => bucket.dispose());
      const place = (): SnapshotPlace => {
        const { endpoint = null, region, accessKey = '', secretKey = '' } = bucket.options;
        return { endpoint, bucket: bucket.bucket, prefix: 'backups/', region, accessKey, secretKey };
      };
      snapshotCases(startInCluster, place);
    });
  }),
);
