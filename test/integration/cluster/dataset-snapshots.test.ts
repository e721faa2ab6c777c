import { DATASET_SNAPSHOT_SETTINGS, datasetSnapshotCases } from '../../behaviour/dataset-snapshots.ts';
import { withBackends } from '../backend.ts';
import { startInCluster } from './start-in-cluster.ts';

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('snapshots over HTTP, in a cluster', () => {
    datasetSnapshotCases(() => startInCluster(DATASET_SNAPSHOT_SETTINGS));
  });
});
