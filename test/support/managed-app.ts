import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAssembly } from '../../services/app/assemble.ts';
import { collections } from '../../services/app/collections.ts';
import { openStores, type Stores } from '../../services/app/stores.ts';
import { loadConfig } from '../../services/common/platform/config/load-config.ts';
import { createLifecycle } from '../../services/common/platform/lifecycle/lifecycle.ts';
import type { Messenger } from '../../services/common/platform/messaging/messenger.ts';
import { createSignedMessenger } from '../../services/common/platform/messaging/messenger.ts';
import { createSilentLogger } from '../../services/common/platform/observability/logger.ts';
import { createMetrics } from '../../services/common/platform/observability/metrics.ts';
import { createSystemClock } from '../../services/common/platform/system/clock.ts';
import { quickPasswords } from './quick-passwords.ts';
import { startSharedSearchThread } from './search-threads.ts';
import { sharedTextWorkers } from './text-workers.ts';

/** The whole service in this process, with its bus as the operator sees it, and its stores to be looked at. */
export interface ManagedApp {
  readonly baseUrl: string;
  readonly messenger: Messenger;
  readonly stores: Stores;
  stop(): Promise<void>;
}

/** `breakStores` puts something between the services and their stores. */
export async function startManagedApp(
  variables: Readonly<Record<string, string>> = {},
  breakStores: (stores: Stores) => Stores = (stores) => stores,
): Promise<ManagedApp> {
  const dataDir = await mkdtemp(join(tmpdir(), 'engram-managed-'));
  const { config } = loadConfig({
    ENGRAM_DATA_DIR: dataDir,
    HTTP_API_PORT: '0',
    HTTP_API_HOST: '127.0.0.1',
    REQUIRE_AUTHENTICATION: 'true',
    ...variables,
  });
  const logger = createSilentLogger();
  const metrics = createMetrics();
  const lifecycle = createLifecycle({ logger, stopTimeoutMs: config.drainTimeoutMs + 4000 });
  const stores = breakStores(
    await openStores({ config, collections, logger, metrics, startSearchThread: startSharedSearchThread }),
  );
  lifecycle.add({ name: 'stores', stop: () => stores.close() });
  const address = await (await loadAssembly(config))(
    { config, logger, metrics, stores, passwords: quickPasswords(), ...sharedTextWorkers(variables) },
    lifecycle,
  );
  await lifecycle.start();
  return {
    baseUrl: address(),
    messenger: createSignedMessenger(stores.bus, createSystemClock()),
    stores,
    async stop() {
      await lifecycle.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
