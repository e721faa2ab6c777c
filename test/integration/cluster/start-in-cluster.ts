import { randomBytes } from 'node:crypto';
import type { Stores } from '../../../services/app/stores.ts';
import { type ManagedApp, startManagedApp } from '../../support/managed-app.ts';
import { takeOwnNames } from '../own-names.ts';

/** The whole service in this process on the servers of the cluster shape, with names of its own there. */
export async function startInCluster(
  settings: Readonly<Record<string, string>> = {},
  breakStores?: (stores: Stores) => Stores,
): Promise<ManagedApp> {
  const names = takeOwnNames();
  const secret = { FASTAPI_USERS_JWT_SECRET: randomBytes(32).toString('hex') };
  const app = await startManagedApp({ ...settings, ...names.environment, ...secret }, breakStores);
  return {
    ...app,
    async stop() {
      await app.stop();
      await names.remove();
    },
  };
}
