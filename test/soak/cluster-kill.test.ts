import { withBackends } from '../integration/backend.ts';
import { describeClusterKills } from '../integration/cluster/kill-cases.ts';

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describeClusterKills({ datasets: 20, rounds: 10, killEveryMs: 4_000, minKills: 10, timeoutMs: 1_500_000 });
});
