import { canaryCases } from '../../behaviour/canary.ts';
import { withBackends } from '../backend.ts';
import { startInCluster } from './start-in-cluster.ts';

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('canaries, in a cluster', () => {
    canaryCases(({ wrap }) => startInCluster({}, wrap));
  });
});
