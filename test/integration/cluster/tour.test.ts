import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { takeTour } from '../../e2e/tour-steps.ts';
import { withBackends } from '../backend.ts';
import { type ClusterProcess, startCluster } from '../cluster-process.ts';

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe("README's tour of six processes", function () {
    this.timeout(240_000);
    const folder = mkdtempSync(join(tmpdir(), 'engram-tour-'));
    let cluster: ClusterProcess;
    before(async () => {
      cluster = await startCluster({ REQUIRE_AUTHENTICATION: 'false', ENABLE_BACKEND_ACCESS_CONTROL: 'false' });
    });
    after(async () => {
      await cluster?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    it('works as in one', () => takeTour(cluster.baseUrl, folder));
  });
});
