import type { Service } from '../common/platform/lifecycle/service.ts';
import { createDatasets } from '../common/records/auth/datasets.ts';
import { createBlobIntents } from '../common/records/ingest/blob-intents.ts';
import { createConnections } from '../common/records/integrations/connections.ts';
import { createSourceEvents } from '../common/records/integrations/deliveries.ts';
import { createSourceAccess } from '../common/records/integrations/source-access.ts';
import { createSourceItems } from '../common/records/integrations/source-items.ts';
import { createSyncRuns } from '../common/records/integrations/sync-runs.ts';
import { createSyncState } from '../common/records/integrations/sync-state.ts';
import type { Subscription } from '../common/storage/ports/bus.ts';
import { createCredentials } from './credentials/credentials.ts';
import { syncSources } from './declared/sync-sources.ts';
import { DEFAULT_SYNC_SETTINGS, type IntegrationsServiceOptions, type SourceDependencies } from './dependencies.ts';
import { createImportWorker } from './imports/import-worker.ts';
import { integrationRoutes } from './routes/integrations.ts';
import { receiveSyncRoutes } from './routes/receive-sync.ts';
import { slackRoutes } from './routes/slack.ts';
import { slackHistoryRoutes } from './routes/slack-history.ts';
import { syncRoutes } from './routes/sync.ts';
import { createSlackWorker } from './slack/tasks.ts';
import { createSyncWorker } from './sync/sync-worker.ts';
import { createQuestionWorker } from './webhooks/answer-question.ts';

/** Keeps datasets in step with sources and with another memory: see README.md. */
export function createIntegrationsService(options: IntegrationsServiceOptions): Service {
  const { store, slack = null } = options;
  const dependencies: SourceDependencies = {
    ...options,
    runs: createSyncRuns(store),
    state: createSyncState(store),
    intents: createBlobIntents(store),
    datasets: createDatasets(store),
    connectors: new Map(options.connectors.map((connector) => [connector.provider, connector])),
    slack,
    connections: createConnections(store),
    sourceItems: createSourceItems(store),
    sourceAccess: createSourceAccess(store),
    events: createSourceEvents(store),
    credentials: createCredentials(options),
    settings: { ...DEFAULT_SYNC_SETTINGS, ...options.settings },
  };
  const workers = [
    createSyncWorker(dependencies),
    createImportWorker(dependencies),
    createQuestionWorker(dependencies),
    ...(slack === null ? [] : [createSlackWorker(dependencies, slack)]),
  ];
  let subscriptions: readonly Subscription[] = [];
  return {
    name: 'integrations',
    routes: [
      ...[syncRoutes, receiveSyncRoutes, integrationRoutes, slackRoutes, slackHistoryRoutes].flatMap((routesOf) =>
        routesOf(dependencies),
      ),
    ],
    sockets: [],
    async start() {
      subscriptions = [
        await options.messenger.serve('integrations.SyncSources', (request, { signal }) =>
          syncSources(dependencies, request, signal ?? new AbortController().signal),
        ),
      ];
      await Promise.all(workers.map((worker) => worker.start()));
    },
    async stop() {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      subscriptions = [];
      await Promise.all(workers.map((worker) => worker.stop()));
    },
  };
}
