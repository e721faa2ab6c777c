import { withBackends } from '../backend.ts';
import { describeClusterKills } from './kill-cases.ts';

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describeClusterKills({ datasets: 5, rounds: 4, killEveryMs: 4_000, minKills: 1, timeoutMs: 480_000 });
});
