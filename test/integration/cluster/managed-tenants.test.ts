import { randomBytes } from 'node:crypto';
import { embeddingMigrationCases } from '../../behaviour/embedding-migration.ts';
import { managedTenantCases } from '../../behaviour/managed-tenants.ts';
import { RETENTION_SETTINGS, retentionCases } from '../../behaviour/retention.ts';
import { withBackends } from '../backend.ts';
import { startInCluster } from './start-in-cluster.ts';

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('tenants of resources, in a cluster', () => {
    managedTenantCases(() => startInCluster());
  });

  describe('migration of embeddings, in a cluster', () => {
    embeddingMigrationCases((settings) =>
      startInCluster({ ...settings, ENGRAM_ROOT_KEYS: `k1:${randomBytes(32).toString('base64')}` }),
    );
  });

  describe('retention that resources declare, in a cluster', () => {
    retentionCases(() => startInCluster(RETENTION_SETTINGS));
  });
});
