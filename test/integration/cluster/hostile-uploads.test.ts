import { expect } from 'chai';
import {
  CONTAINER_BYTES,
  findGoodDocuments,
  SMALL_WORKERS,
  uploadHostileDocuments,
} from '../../behaviour/hostile-uploads.ts';
import { watchTreeMemory } from '../../support/process-tree.ts';
import { withBackends } from '../backend.ts';
import { startCluster } from '../cluster-process.ts';

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('a cluster that is sent hostile documents', () => {
    it('refuses each alone or takes it, within 2 GiB of memory for each service', async function () {
      this.timeout(300_000);
      const cluster = await startCluster(SMALL_WORKERS);
      try {
        const pids = ['ingest', 'cognify'].flatMap((service) => cluster.pidsOf(service));
        expect(pids).to.have.length(2);
        const memories = pids.map((pid) => watchTreeMemory(pid));
        await uploadHostileDocuments(cluster.baseUrl);
        await findGoodDocuments(cluster.baseUrl);
        for (const memory of memories) expect(memory()).to.be.lessThan(CONTAINER_BYTES);
        // The same processes: none died and was started again.
        expect(['ingest', 'cognify'].flatMap((service) => cluster.pidsOf(service))).to.deep.equal(pids);
      } finally {
        await cluster.stop();
      }
    });
  });
});
