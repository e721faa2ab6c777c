import type { Service } from '../common/platform/lifecycle/service.ts';
import { createDatasets } from '../common/records/auth/datasets.ts';
import { createBlobIntents } from '../common/records/ingest/blob-intents.ts';
import { createSyncRuns } from '../common/records/integrations/sync-runs.ts';
import { createSyncState } from '../common/records/integrations/sync-state.ts';
import { DEFAULT_SYNC_SETTINGS, type IntegrationsServiceOptions, type SyncDependencies } from './dependencies.ts';
import { syncRoutes } from './routes/sync.ts';
import { createSyncWorker } from './sync/sync-worker.ts';

/** Synchronises datasets with other services: see README.md. */
export function createIntegrationsService(options: IntegrationsServiceOptions): Service {
  const { store } = options;
  const dependencies: SyncDependencies = {
    ...options,
    runs: createSyncRuns(store),
    state: createSyncState(store),
    intents: createBlobIntents(store),
    datasets: createDatasets(store),
    settings: { ...DEFAULT_SYNC_SETTINGS, ...options.settings },
  };
  const worker = createSyncWorker(dependencies);
  return {
    name: 'integrations',
    routes: syncRoutes(dependencies),
    sockets: [],
    start: () => worker.start(),
    stop: () => worker.stop(),
  };
}
