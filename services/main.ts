import { access, constants, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createGuardedFetcher } from './common/adapters/fetch/guarded-fetcher.ts';
import { createSystemClock } from './common/adapters/system/clock.ts';
import { loadOrCreateSecret } from './common/adapters/system/generated-secret.ts';
import { createIdSource } from './common/adapters/system/id-source.ts';
import type { Config } from './common/config/configuration.ts';
import { ConfigurationError, type LoadedConfig, loadProcessConfig } from './common/config/load-config.ts';
import { createDocumentLoader } from './common/documents/document-loader.ts';
import { isEngramError } from './common/domain/errors.ts';
import { SYSTEM_SCOPE } from './common/domain/scope.ts';
import { createApp } from './common/http/app.ts';
import type { HealthChecks } from './common/http/health.ts';
import { createLifecycle, type Lifecycle } from './common/lifecycle/lifecycle.ts';
import type { Service } from './common/lifecycle/service.ts';
import { createMessenger } from './common/messaging/messenger.ts';
import { authenticate } from './common/messaging/methods/auth.ts';
import { createLogger, type Logger } from './common/observability/logger.ts';
import { createMetrics } from './common/observability/metrics.ts';
import { createLedger } from './common/repositories/ledger.ts';
import { createModelUsage } from './common/repositories/model-usage.ts';
import { createEventLog } from './common/runs/event-log.ts';
import { createWorkQueue } from './common/runs/work-queue.ts';
import { collections } from './composition/collections.ts';
import { openModels } from './composition/models.ts';
import { openStores, type Stores } from './composition/stores.ts';
import { type Parts, REGISTRY, spoolDirectory } from './registry.ts';

/** The version of the contract that is spoken, see `/health`. */
const CONTRACT_VERSION = '1.6.5';

export interface Engram {
  /** `http://127.0.0.1:8000` */
  readonly url: string;
  /** Stops taking requests, ends what runs, closes the stores. False when something had to be cut off. */
  stop(): Promise<boolean>;
}

/** The whole service in this process; any number of them may run beside each other on their own data directories. */
export async function startEngram({
  config,
  logger,
}: {
  readonly config: Config;
  readonly logger: Logger;
}): Promise<Engram> {
  const { url, lifecycle } = await start(config, logger);
  return { url, stop: () => lifecycle.stop() };
}

async function start(config: Config, logger: Logger): Promise<{ readonly url: string; readonly lifecycle: Lifecycle }> {
  const lifecycle = createLifecycle({ logger, stopTimeoutMs: config.drainTimeoutMs + 4000 });
  const metrics = createMetrics();
  const clock = createSystemClock();
  const ids = createIdSource(clock);
  const stores = await openStores({ config, collections, logger, metrics });
  lifecycle.add({ name: 'stores', stop: () => stores.close() });
  try {
    const { documents: store, bus } = stores;
    const messenger = createMessenger(bus);
    const models = await openModels({ config, usage: createModelUsage(store), clock, metrics });
    const documents = createDocumentLoader();
    const fetcher = createGuardedFetcher({
      allowHttpRequests: config.allowHttpRequests,
      timeoutMs: config.webFetchTimeoutMs,
      maxBytes: config.uploadLimitBytes,
    });
    const workQueue = createWorkQueue({ store, bus, clock, ids });
    metrics.watchQueue(() => workQueue.depth(SYSTEM_SCOPE));
    lifecycle.add({
      name: 'workers',
      stop: () => Promise.all([models.close(), documents.close()]).then(() => undefined),
    });
    const secrets = { jwt: config.jwtSecret ?? (await loadOrCreateSecret(join(config.dataDir, 'jwt.secret'))) };
    const eventLog = createEventLog({ store, clock, ids });
    const ledger = createLedger(store);
    const parts: Parts = {
      config,
      stores,
      models,
      messenger,
      workQueue,
      eventLog,
      ledger,
      documents,
      fetcher,
      clock,
      ids,
      logger,
      metrics,
      secrets,
    };
    // One process owns the store: leases that are still open belonged to one that was killed.
    lifecycle.add({ name: 'leases', start: () => workQueue.endLeases(SYSTEM_SCOPE).then(() => undefined) });
    const services = await buildServices(parts);
    for (const service of services)
      lifecycle.add({ name: service.name, start: () => service.start(), stop: () => service.stop() });
    const address = addHttp(lifecycle, parts, services);
    lifecycle.add({ name: 'metrics', stop: () => metrics.close() });
    await lifecycle.start();
    return { url: address(), lifecycle };
  } catch (error) {
    await lifecycle.stop();
    await stores.close();
    throw error;
  }
}

async function buildServices(parts: Parts): Promise<readonly Service[]> {
  const wanted = parts.config.services.flatMap((name) => REGISTRY[name] ?? []);
  return Promise.all(wanted.map((build) => build(parts)));
}

/** Requests are taken last and refused first. */
function addHttp(lifecycle: Lifecycle, parts: Parts, services: readonly Service[]): () => string {
  const { config, messenger, logger, metrics, stores } = parts;
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
    health: healthChecks(config, stores),
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
    stop: () => app.close(),
  });
  return () => `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
}

function healthChecks(config: Config, stores: Stores): HealthChecks {
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
  };
}

/** `npm start`, and `npm run migrate` with that word. A failure ends in one readable message and exit 1. */
export async function run(command: string | undefined): Promise<void> {
  let loaded: LoadedConfig;
  try {
    loaded = loadProcessConfig();
  } catch (error) {
    if (error instanceof ConfigurationError) return fail(error.message);
    throw error;
  }
  const { config, warnings } = loaded;
  const logger = createLogger({ level: config.logLevel, name: 'engram' });
  for (const warning of warnings) logger.warn('config.warning', { warning });
  try {
    if (command === 'migrate') return await migrate(config, logger);
    if (command !== undefined) return fail(`There is no command "${command}": leave it out, or use "migrate".`);
    await serve(config, logger);
  } catch (error) {
    fail(startMessage(error, config));
  }
}

async function serve(config: Config, logger: Logger): Promise<void> {
  const { url, lifecycle } = await start(config, logger);
  lifecycle.handleSignals(process);
  logger.info('engram.started', {
    url,
    dataDir: config.dataDir,
    authentication: config.posture.required ? 'required' : 'off',
    model: config.languageModel === null ? 'rules' : (config.languageModel.model ?? config.languageModel.provider),
  });
}

async function migrate(config: Config, logger: Logger): Promise<void> {
  const { migrateStores } = await import('./composition/migrate.ts');
  const datasetFiles = await migrateStores(config);
  logger.info('engram.migrated', { dataDir: config.dataDir, datasetFiles });
}

function startMessage(error: unknown, config: Config): string {
  if (error instanceof ConfigurationError || isEngramError(error)) return error.message;
  const code = (error as { code?: unknown } | null)?.code;
  if (code === 'EADDRINUSE') {
    return `Port ${config.port} on ${config.host} is in use. Stop what uses it, or set HTTP_API_PORT to another port.`;
  }
  if (code === 'EACCES')
    return `Port ${config.port} on ${config.host} may not be used by this user. Set HTTP_API_PORT to another port.`;
  if (code === 'EADDRNOTAVAIL') return `${config.host} is not an address of this machine. Set HTTP_API_HOST to one.`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
