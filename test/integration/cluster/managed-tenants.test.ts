import { randomBytes } from 'node:crypto';
import { embeddingMigrationCases } from '../../behaviour/embedding-migration.ts';
import { managedTenantCases } from '../../behaviour/managed-tenants.ts';
import { RETENTION_SETTINGS, retentionCases } from '../../behaviour/retention.ts';
import { type ManagedApp, startManagedApp } from '../../support/managed-app.ts';
import { withBackends } from '../backend.ts';
import { takeOwnNames } from '../own-names.ts';

async function startInCluster(settings: Readonly<Record<string, string>> = {}): Promise<ManagedApp> {
  const names = takeOwnNames();
  const secret = randomBytes(32).toString('hex');
  const app = await startManagedApp({ ...names.environment, ...settings, FASTAPI_USERS_JWT_SECRET: secret });
  return {
    ...app,
    async stop() {
      await app.stop();
      await names.remove();
    },
  };
}

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
