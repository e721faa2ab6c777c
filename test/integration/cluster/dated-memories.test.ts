import { checkDatedMemories } from '../../e2e/dated-memories-steps.ts';
import { withBackends } from '../backend.ts';
import { startCluster } from '../cluster-process.ts';

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('dated memories on six processes', function () {
    this.timeout(240_000);

    it('are found by their time, and the graph holds it', async () => {
      const cluster = await startCluster({
        REQUIRE_AUTHENTICATION: 'false',
        ENABLE_BACKEND_ACCESS_CONTROL: 'false',
      });
      try {
        await checkDatedMemories(cluster.baseUrl);
      } finally {
        await cluster.stop();
      }
    });
  });
});
