import { randomBytes } from 'node:crypto';
import { canaryCases } from '../../behaviour/canary.ts';
import { startManagedApp } from '../../support/managed-app.ts';
import { withBackends } from '../backend.ts';
import { takeOwnNames } from '../own-names.ts';

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  describe('canaries, in a cluster', () => {
    canaryCases(async ({ wrap }) => {
      const names = takeOwnNames();
      const secret = randomBytes(32).toString('hex');
      const app = await startManagedApp({ ...names.environment, FASTAPI_USERS_JWT_SECRET: secret }, wrap);
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
