import { buildPoisoned, POISONED } from '../../e2e/poisoned-items.ts';
import { createWire } from '../../support/wire.ts';
import { withBackends } from '../backend.ts';
import { type ClusterProcess, startCluster } from '../cluster-process.ts';

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('poisoned items among good ones, in a cluster', function () {
    this.timeout(300_000);
    let cluster: ClusterProcess;
    before(async () => {
      cluster = await startCluster({ REQUIRE_AUTHENTICATION: 'false', ...POISONED });
    });
    after(() => cluster?.stop());

    it('cost themselves only, although one ends each worker that builds it', async () => {
      const wire = () => createWire(cluster.baseUrl);
      // The cluster starts its processes again; the lease of a lost worker has to lapse first.
      await buildPoisoned(wire, 'letters', ['good', 'deadly', 'broken', 'cut', 'chunk', 'good'], async () => {});
    });
  });
});
