import { access, constants, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createGuardedFetcher } from '../common/adapters/fetch/guarded-fetcher.ts';
import { createSystemClock } from '../common/adapters/system/clock.ts';
import { loadOrCreateSecret } from '../common/adapters/system/generated-secret.ts';
import { createIdSource } from '../common/adapters/system/id-source.ts';
import type { Config } from '../common/config/configuration.ts';
import { createDocumentLoader } from '../common/documents/document-loader.ts';
import { SYSTEM_SCOPE } from '../common/domain/scope.ts';
import { createApp } from '../common/http/app.ts';
import type { HealthChecks } from '../common/http/health.ts';
import type { Lifecycle } from '../common/lifecycle/lifecycle.ts';
import type { Service } from '../common/lifecycle/service.ts';
import { createMessenger } from '../common/messaging/messenger.ts';
import { authenticate } from '../common/messaging/methods/auth.ts';
import type { Logger } from '../common/observability/logger.ts';
import type { Metrics } from '../common/observability/metrics.ts';
import { createLedger } from '../common/repositories/ledger.ts';
import { createModelUsage } from '../common/repositories/model-usage.ts';
import { createEventLog } from '../common/runs/event-log.ts';
import { createWorkQueue } from '../common/runs/work-queue.ts';
import { type BuildService, loadServices, type Parts, spoolDirectory } from '../registry.ts';
import { openModels } from './models.ts';
import type { Stores } from './stores.ts';

/** The version of the contract that is spoken, see `/health`. */
const CONTRACT_VERSION = '1.6.5';

export interface Foundation {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly stores: Stores;
}

/** Adds the services and their HTTP server to the lifecycle; the answer tells the address once that has started. */
export type Assemble = (foundation: Foundation, lifecycle: Lifecycle) => Promise<() => string>;

/** Loads the services, which needs no store: that can open meanwhile, in its own thread. */
export async function loadAssembly({ services }: Config): Promise<Assemble> {
  const builds = await loadServices(services);
  return (foundation, lifecycle) => assemble(builds, foundation, lifecycle);
}

async function assemble(
  builds: readonly BuildService[],
  foundation: Foundation,
  lifecycle: Lifecycle,
): Promise<() => string> {
  const parts = await openParts(foundation, lifecycle);
  const services = builds.map((build) => build(parts));
  for (const service of services)
    lifecycle.add({ name: service.name, start: () => service.start(), stop: () => service.stop() });
  const address = addHttp(lifecycle, parts, services);
  lifecycle.add({ name: 'metrics', stop: () => foundation.metrics.close() });
  return address;
}

async function openParts(foundation: Foundation, lifecycle: Lifecycle): Promise<Parts> {
  const { config, metrics, stores } = foundation;
  const { documents: store, bus } = stores;
  const clock = createSystemClock();
  const ids = createIdSource(clock);
  const models = await openModels({ config, usage: createModelUsage(store), clock, metrics });
  const documents = createDocumentLoader();
  lifecycle.add({
    name: 'workers',
    stop: () => Promise.all([models.close(), documents.close()]).then(() => undefined),
  });
  const workQueue = createWorkQueue({ store, bus, clock, ids });
  metrics.watchQueue(() => workQueue.depth(SYSTEM_SCOPE));
  // One process owns the store: leases that are still open belonged to one that was killed.
  lifecycle.add({ name: 'leases', start: () => workQueue.endLeases(SYSTEM_SCOPE).then(() => undefined) });
  return {
    ...foundation,
    models,
    messenger: createMessenger(bus),
    workQueue,
    eventLog: createEventLog({ store, clock, ids }),
    ledger: createLedger(store),
    documents,
    fetcher: createGuardedFetcher({
      allowHttpRequests: config.allowHttpRequests,
      timeoutMs: config.webFetchTimeoutMs,
      maxBytes: config.uploadLimitBytes,
    }),
    clock,
    ids,
    secrets: { jwt: config.jwtSecret ?? (await loadOrCreateSecret(join(config.dataDir, 'jwt.secret'))) },
  };
}

/** Requests are taken last and refused first. */
function addHttp(lifecycle: Lifecycle, parts: Parts, services: readonly Service[]): () => string {
  const { config, messenger, logger, metrics } = parts;
  const spool = spoolDirectory(config);
  const app = createApp({
    routes: services.flatMap(({ routes }) => routes),
    sockets: services.flatMap(({ sockets }) => sockets),
    authenticate: (credentials, strict, context) => messenger.call(authenticate, { credentials, strict }, context),
    settings: {
      spoolDirectory: spool,
      uploadLimitBytes: config.uploadLimitBytes,
      jsonLimitBytes: config.jsonLimitBytes,
      corsOrigins: config.corsOrigins,
      cookieName: config.cookieName,
      authRequired: config.posture.required,
      guard: {
        isActive: config.posture.guarded,
        refusesProxies: config.posture.openByDefault,
        allowedHosts: config.allowedHosts,
      },
      drainTimeoutMs: config.drainTimeoutMs,
    },
    health: healthChecks(parts),
    logger,
    metrics,
    version: CONTRACT_VERSION,
  });
  let port = config.port;
  lifecycle.add({
    name: 'http',
    async start() {
      // What a killed process left there belongs to no request.
      await rm(spool, { recursive: true, force: true });
      await mkdir(spool, { recursive: true, mode: 0o700 });
      ({ port } = await app.listen(config.port, config.host));
    },
    async stop() {
      const closing = app.close();
      await Promise.all(services.map((service) => service.drain?.()));
      await closing;
    },
  });
  return () => `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
}

function healthChecks({ config, stores, models }: Pick<Parts, 'config' | 'stores' | 'models'>): HealthChecks {
  const readable = async (): Promise<void> => {
    await stores.documents.count(SYSTEM_SCOPE, { name: 'users', level: 'system', indexes: [] }, {});
  };
  const writable = (): Promise<void> => access(config.dataDir, constants.W_OK);
  const check = (provider: string, probe: () => Promise<void>) => ({
    critical: true,
    check: async () => {
      await probe();
      return { status: 'healthy' as const, provider, details: 'Connection successful' };
    },
  });
  return {
    relational_db: check('sqlite', readable),
    vector_db: check('sqlite', writable),
    graph_db: check('sqlite', writable),
    file_storage: check('local', writable),
    llm_provider: modelCheck(config.languageModel, { builtin: 'rules', fault: models.missingModelKey }),
    embedding_service: modelCheck(config.embedding, { builtin: models.embedder.space.model, fault: null }),
  };
}

/** Says what is configured. A model is not called for it: every look would be billed. */
function modelCheck(
  settings: { readonly provider: string } | null,
  { builtin, fault }: { readonly builtin: string; readonly fault: string | null },
): HealthChecks[string] {
  const provider = settings?.provider ?? builtin;
  const details =
    fault ?? (settings === null ? 'Built in; nothing is configured' : 'Configured; not called for this answer');
  return {
    critical: false,
    check: async () => ({ status: fault === null ? 'healthy' : 'degraded', provider, details }),
  };
}
