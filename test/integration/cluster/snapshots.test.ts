import type { SnapshotPlace } from '../../../services/common/storage/ports/snapshot-places.ts';
import { snapshotCases } from '../../behaviour/snapshots.ts';
import { withBackend, withBackends } from '../backend.ts';
import { openTestBucket, type TestBucket } from '../s3/test-bucket.ts';
import { startInCluster } from './start-in-cluster.ts';

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
