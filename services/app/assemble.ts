import { mkdir, rm } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import type { PasswordHasher } from '../auth/credentials/password-hasher.ts';
import { createAuditLog } from '../auth/repositories/audit-log.ts';
import { createModelSettings } from '../auth/repositories/model-settings.ts';
import { createTenantEmbedders, createTenantModels } from '../auth/repositories/tenant-models.ts';
import { SYSTEM_SCOPE } from '../common/kernel/scope.ts';
import { once } from '../common/platform/async/once.ts';
import { createRepeating } from '../common/platform/async/repeating.ts';
import type { Config } from '../common/platform/config/configuration.ts';
import { ConfigurationError } from '../common/platform/config/load-config.ts';
import { createEventLog } from '../common/platform/events/event-log.ts';
import { type App, createApp } from '../common/platform/http/app.ts';
import type { HealthChecks } from '../common/platform/http/health-probe.ts';
import { createWorkQueue } from '../common/platform/jobs/work-queue.ts';
import { createIdempotencyKeys } from '../common/platform/leases/idempotency-keys.ts';
import type { Lifecycle } from '../common/platform/lifecycle/lifecycle.ts';
import type { Service } from '../common/platform/lifecycle/service.ts';
import { createIdentify } from '../common/platform/messaging/identify.ts';
import { createSignedMessenger, type Messenger } from '../common/platform/messaging/messenger.ts';
import { rememberAccess } from '../common/platform/messaging/remembered-access.ts';
import type { Logger } from '../common/platform/observability/logger.ts';
import type { Metrics } from '../common/platform/observability/metrics.ts';
import { createAesGcmSecretBox } from '../common/platform/secrets/aes-gcm-secret-box.ts';
import { createSystemClock } from '../common/platform/system/clock.ts';
import { loadOrCreateSecret } from '../common/platform/system/generated-secret.ts';
import { createIdSource } from '../common/platform/system/id-source.ts';
import type { WorkerPool } from '../common/platform/workers/worker-pool.ts';
import type { Fetcher, PageFetcher } from '../common/ports/documents.ts';
import type { ModelCallContext } from '../common/ports/models.ts';
import type { Clock } from '../common/ports/system.ts';
import { NO_TRACER, NO_TRACES } from '../common/ports/tracer.ts';
import { createModelUsage } from '../common/records/budgets/model-usage.ts';
import { createLedger } from '../common/records/cognify/ledger.ts';
import type { Subscription } from '../common/storage/ports/bus.ts';
import { createDocumentLoader } from '../common/text/documents/document-loader.ts';
import { createTextWorkers } from '../common/text/extraction/rules/extraction-pool.ts';
import { openBudgets } from './budgets.ts';
import { createConsole } from './console.ts';
import type { Descriptors } from './descriptors.ts';
import { createMcp } from './mcp.ts';
import { modelCheck } from './model-health.ts';
import { type Models, openModels } from './models.ts';
import { answerForServices, otherServices } from './other-services.ts';
import { type BuildService, loadServices, type Parts, spoolDirectory } from './registry.ts';
import { rootKeysOf } from './root-keys.ts';
import type { Stores } from './stores.ts';
import type { Tracing } from './tracing.ts';

/** Version of the HTTP contract, which clients read at `/health`. The version of Engram itself is in package.json. */
const CONTRACT_VERSION = '1.6.5';

export interface Foundation {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Absent: off. */
  readonly tracing?: Tracing;
  readonly stores: Stores;
  /** Absent: as many connections as come. */
  readonly descriptors?: Descriptors;
  /** Shared with other assemblies of this process, and not closed with this one. Absent: processes of its own. */
  readonly textWorkers?: WorkerPool;
  /** Absent: the costly ones. */
  readonly passwords?: PasswordHasher;
}

/** Adds the services and their HTTP server to the lifecycle; the result returns the address once that has started. */
type Assemble = (foundation: Foundation, lifecycle: Lifecycle) => Promise<() => string>;

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
  await addEventRelay(parts, lifecycle);
  for (const service of services)
    lifecycle.add({ name: service.name, start: () => service.start(), stop: () => service.stop() });
  const address = addHttp(lifecycle, parts, services);
  lifecycle.add({ name: 'metrics', stop: () => foundation.metrics.close() });
  return address;
}

async function openParts(foundation: Foundation, lifecycle: Lifecycle): Promise<Parts & Foundation> {
  const { config, metrics, stores, tracing } = foundation;
  const { documents: store, bus } = stores;
  const clock = createSystemClock();
  const ids = createIdSource(clock);
  const messenger = addMessenger(foundation, clock, lifecycle);
  if (tracing !== undefined) lifecycle.add(tracing.sharing({ ...foundation, messenger }));
  const secretBox = createAesGcmSecretBox(rootKeysOf(config));
  const eventLog = createEventLog({ store, clock, ids });
  const budgets = openBudgets(
    { config, store, clock, ids, eventLog, messenger, metrics, logger: foundation.logger },
    lifecycle,
  );
  const workers = workerLimits(config);
  const textWorkers =
    foundation.textWorkers ??
    createTextWorkers({ timeoutMs: config.documentTimeoutMs, memoryBytes: workers.memoryBytes });
  const models = await openModels({
    textWorkers,
    config,
    clock,
    metrics,
    messenger,
    secretBox,
    logger: foundation.logger,
    usage: createModelUsage(store),
    budgets,
    settings: createModelSettings(store),
    tenantModels: createTenantModels(store),
    tenantEmbedders: createTenantEmbedders(store),
    isShared: store.capabilities.sharedBetweenProcesses,
  });
  addModels(lifecycle, models, foundation);
  const documents = createDocumentLoader({
    workers: workers.documentWorkers,
    timeoutMs: config.documentTimeoutMs,
    memoryBytes: workers.memoryBytes,
  });
  lifecycle.add({
    name: 'workers',
    async stop() {
      await Promise.all([documents.close(), foundation.textWorkers === undefined && textWorkers.close()]);
    },
  });
  const workQueue = createWorkQueue({ store, bus, clock, ids });
  addIndexInspection(lifecycle, foundation);
  metrics.watchQueue(() => workQueue.depth(SYSTEM_SCOPE));
  if (!store.capabilities.sharedBetweenProcesses) {
    // This process alone owns the store: leases that are still open belonged to one that was killed.
    lifecycle.add({ name: 'leases', start: () => workQueue.endLeases(SYSTEM_SCOPE).then(() => undefined) });
  }
  return {
    ...foundation,
    tracer: tracing?.tracer ?? NO_TRACER,
    traces: tracing?.traces ?? NO_TRACES,
    models,
    messenger,
    secretBox,
    workQueue,
    eventLog,
    budgets,
    audit: createAuditLog(store, clock),
    ledger: createLedger(store),
    documents,
    textWorkers,
    fetcher: guardedFetcher(config),
    clock,
    ids,
    secrets: { jwt: await jwtSecret(config) },
  };
}

/** Interval of checks, also of datasets without requests. */
const INSPECT_EVERY_MS = 30_000;

function addIndexInspection(lifecycle: Lifecycle, { stores, logger }: Foundation): void {
  const inspection = createRepeating({
    work: () => stores.inspectIndexes(),
    everyMs: INSPECT_EVERY_MS,
    onError: (error) => logger.error('index.inspection.failed', { error }),
  });
  lifecycle.add({ name: 'index inspection', start: () => inspection.start(), stop: () => inspection.stop() });
}

/** Loaded with the first page that is asked for. */
function guardedFetcher({
  allowHttpRequests,
  webFetchTimeoutMs: timeoutMs,
  uploadLimitBytes: maxBytes,
}: Config): Fetcher & PageFetcher {
  const made = once(async () => {
    const { createGuardedFetcher } = await import('../common/platform/fetch/guarded-fetcher.ts');
    return createGuardedFetcher({ allowHttpRequests, timeoutMs, maxBytes });
  });
  return {
    fetch: async (url, signal) => (await made()).fetch(url, signal),
    fetchChanged: async (url, known, signal) => (await made()).fetchChanged(url, known, signal),
  };
}

/** Remembers recent answers of auth where that is another process. */
function addMessenger({ config, stores }: Foundation, clock: Clock, lifecycle: Lifecycle): Messenger {
  const asking = createSignedMessenger(stores.bus, clock);
  if (config.stores.bus === 'embedded') return asking;
  const { messenger, listen } = rememberAccess(asking, { clock });
  let listening: Subscription | null = null;
  lifecycle.add({
    name: 'access',
    async start() {
      listening = await listen();
    },
    stop: async () => listening?.stop(),
  });
  return messenger;
}

/** Every replica of auth must sign alike, so a file of one of them will not do. */
async function jwtSecret({ jwtSecret: configured, services, stores, dataDir }: Config): Promise<string> {
  if (configured !== undefined) return configured;
  if (stores.documents === 'embedded') return loadOrCreateSecret(join(dataDir, 'jwt.secret'));
  if (!services.includes('auth')) return '';
  throw new ConfigurationError([
    'FASTAPI_USERS_JWT_SECRET: must be set in a cluster, because every replica of auth signs login tokens with it.',
  ]);
}

/** Requests are taken last and refused first. */
function addHttp(
  lifecycle: Lifecycle,
  parts: Parts & Pick<Foundation, 'tracing' | 'descriptors'>,
  services: readonly Service[],
): () => string {
  const { config, messenger, logger, metrics } = parts;
  const spool = spoolDirectory(config);
  const mcp = createMcp({ config, messenger, app: () => app });
  const app: App = createApp({
    routes: [...services.flatMap(({ routes }) => routes), ...mcp.routes],
    sockets: services.flatMap(({ sockets }) => sockets),
    authenticate: createIdentify(messenger, parts.clock),
    budgets: parts.budgets,
    idempotencyKeys: createIdempotencyKeys({ ...parts, store: parts.stores.documents }),
    settings: {
      spoolDirectory: spool,
      uploadLimitBytes: config.uploadLimitBytes,
      jsonLimitBytes: config.jsonLimitBytes,
      bodyTimeoutMs: config.bodyTimeoutMs,
      corsOrigins: config.corsOrigins,
      cookieName: config.cookieName,
      authRequired: config.posture.required,
      guard: {
        isActive: config.posture.guarded,
        refusesProxies: config.posture.openByDefault,
        allowedHosts: config.allowedHosts,
      },
      trustedProxies: config.trustedProxies,
      selectsTenantByHost: config.hosted,
      ...(parts.descriptors === undefined ? {} : { maxConnections: parts.descriptors.maxConnections }),
      drainTimeoutMs: config.drainTimeoutMs,
    },
    health: healthChecks(parts),
    others: otherServices(config.services, messenger),
    // The service that answers for the whole.
    ...(config.services.includes('auth') ? { pages: createConsole(logger) } : {}),
    logger,
    metrics,
    ...(parts.tracing === undefined ? {} : { tracer: parts.tracing.tracer }),
    version: CONTRACT_VERSION,
  });
  let answers: readonly Subscription[] = [];
  let port = config.port;
  lifecycle.add({
    name: 'http',
    async start() {
      // What a killed process left there belongs to no request.
      await rm(spool, { recursive: true, force: true });
      await mkdir(spool, { recursive: true, mode: 0o700 });
      ({ port } = await app.listen(config.port, config.host));
      // Also where all are here: an operator beside it asks over the bus, too.
      answers = await answerForServices(config.services, app, messenger);
    },
    async stop() {
      await Promise.all(answers.map((answer) => answer.stop()));
      await mcp.stop();
      const closing = app.close();
      await Promise.all(services.map((service) => service.drain?.()));
      await closing;
    },
  });
  return () => `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
}

/** A configured model is loaded before it is asked: the first run need not wait for it, and the log says which it is. */
function addModels(lifecycle: Lifecycle, models: Models, { logger }: Pick<Foundation, 'logger'>): void {
  let news: Subscription | undefined;
  lifecycle.add({
    name: 'models',
    async start() {
      news = await models.listen();
      await models.current().catch((error: unknown) => logger.warn('models.unopened', { error }));
    },
    stop: () => news?.stop(),
  });
}

function healthChecks({ config, stores, models }: Pick<Parts, 'config' | 'stores' | 'models'>): HealthChecks {
  return {
    ...stores.health,
    llm_provider: modelCheck('rules', async () => {
      const { provider, missingModelKey, languageModel } = await models.current();
      const question = { system: 'Answer with one word.', prompt: 'Hello', maxOutputTokens: PROBE_TOKENS };
      const ask = languageModel === null ? null : (context: ModelCallContext) => languageModel.text(question, context);
      return { provider, fault: missingModelKey, ask, identity: languageModel };
    }),
    embedding_service: modelCheck(models.embedder.space.model, async () => {
      const provider = config.embedding?.provider ?? null;
      const ask = (context: ModelCallContext) => models.embedder.embed(['Hello'], context);
      return { provider, fault: null, ask: provider === null ? null : ask, identity: models.embedder };
    }),
  };
}

/** Some providers take no less. */
const PROBE_TOKENS = 16;

interface WorkerLimits {
  /** Processes that read documents at the same time; one more works on texts. */
  readonly documentWorkers: number;
  /** Memory of one worker process. */
  readonly memoryBytes: number;
}

interface Machine {
  readonly memoryBytes: number;
  readonly processors: number;
}

const MIB = 1024 * 1024;
/** Less would not do for documents as they are: a reader of PDF and its libraries hold 120 MiB. */
const LEAST_BYTES = 256 * MIB;
const MOST_BYTES = 1024 * MIB;

/** Shares half of the memory among the worker processes, so that all of them together never crowd out the server. */
export function workerLimits(
  { documentWorkers, workerMemoryBytes }: Pick<Config, 'documentWorkers' | 'workerMemoryBytes'>,
  machine: Machine = thisMachine(),
): WorkerLimits {
  const share = machine.memoryBytes / 2;
  const fitting = Math.floor(share / (workerMemoryBytes ?? LEAST_BYTES)) - 1;
  const workers = Math.max(1, Math.min(documentWorkers, machine.processors, fitting));
  const memoryBytes = workerMemoryBytes ?? Math.min(MOST_BYTES, Math.max(LEAST_BYTES, share / (workers + 1)));
  return { documentWorkers: workers, memoryBytes: Math.floor(memoryBytes) };
}

/** The limit of its container, where there is one. */
function thisMachine(): Machine {
  const limit = process.constrainedMemory();
  const memoryBytes = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return { memoryBytes, processors: availableParallelism() };
}

/**
 * The relay of domain events to Kafka, where brokers are configured. It stands beside `auth`, which has the least to do;
 * of several replicas one works.
 */
async function addEventRelay(parts: Parts, lifecycle: Lifecycle): Promise<void> {
  const { config, stores, eventLog, clock, ids, logger, metrics } = parts;
  const { kafkaBrokers: brokers } = config;
  if (brokers === undefined || brokers.length === 0 || !config.services.includes('auth')) return;
  const { createKafkaEventPublisher } = await import('../common/storage/kafka/event-publisher.ts');
  const { createEventRelay } = await import('../common/platform/events/event-relay.ts');
  const publisher = createKafkaEventPublisher({
    brokers,
    topicPrefix: config.kafkaTopicPrefix,
    ...(config.kafkaUser === undefined ? {} : { user: config.kafkaUser }),
    ...(config.kafkaPassword === undefined ? {} : { password: config.kafkaPassword }),
    ...(config.kafkaCaFile === undefined ? {} : { caFile: config.kafkaCaFile }),
  });
  const relay = createEventRelay({ store: stores.documents, eventLog, publisher, clock, ids, logger, metrics });
  metrics.watchRelay(() => relay.lag());
  lifecycle.add({
    name: 'event-relay',
    start: () => relay.start(),
    async stop() {
      await relay.stop();
      await publisher.close();
    },
  });
}
