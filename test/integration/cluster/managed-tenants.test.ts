import { randomBytes } from 'node:crypto';
import { managedTenantCases } from '../../conformance/managed-tenants.ts';
import { startManagedApp } from '../../support/managed-app.ts';
import { withBackends } from '../backend.ts';
import { takeOwnNames } from '../own-names.ts';

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('tenants of resources, in a cluster', () => {
    managedTenantCases(async () => {
      const names = takeOwnNames();
      const secret = randomBytes(32).toString('hex');
      const app = await startManagedApp({ ...names.environment, FASTAPI_USERS_JWT_SECRET: secret });
      return {
        ...app,
        async stop() {
          await app.stop();
          await names.remove();
        },
      };
    });
  });
});
