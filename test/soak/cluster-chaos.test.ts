import { SERVICE_NAMES } from '../../services/common/domain/service-paths.ts';
import { withBackends } from '../integration/backend.ts';
import { describeClusterChaos } from '../integration/cluster/chaos-cases.ts';
import { startCluster } from '../integration/cluster-process.ts';
import { takeOwnNames } from '../integration/own-names.ts';
import { report } from './measures.ts';

const FAULT_SECONDS = Number(process.env['ENGRAM_SOAK_FAULT_SECONDS'] ?? 20);

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j', 's3', 'chaos'], () => {
  describeClusterChaos({
    servers: ['mongodb', 'nats', 'elasticsearch', 'neo4j', 's3'],
    faultMs: FAULT_SECONDS * 1_000,
    datasets: ['one', 'two', 'three'],
    pauseMs: 200,
    isSideBySide: false,
    async start(environment) {
      const names = takeOwnNames();
      const cluster = await startCluster({
        ...names.environment,
        ...environment,
        REQUIRE_AUTHENTICATION: 'false',
        ENABLE_BACKEND_ACCESS_CONTROL: 'false',
      });
      return {
        ...cluster,
        pids: () => [cluster.pid, ...SERVICE_NAMES.flatMap((service) => cluster.pidsOf(service))],
        async stop() {
          await cluster.stop();
          await names.remove();
        },
      };
    },
    timeoutMs: 1_500_000,
    tell: report,
  });
});
