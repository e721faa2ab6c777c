import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collections, tenantCollections } from '../../services/app/collections.ts';
import type { AuthSettings } from '../../services/auth/model.ts';
import { createAuditLog } from '../../services/auth/repositories/audit-log.ts';
import { createAuthService } from '../../services/auth/service.ts';
import { createCognifyService } from '../../services/cognify/service.ts';
import type { RunSettings } from '../../services/cognify/settings.ts';
import { NO_RESULT } from '../../services/common/domain/run.ts';
import type { RunId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { createHashingEmbedder } from '../../services/common/models/hashing/hashing-embedder.ts';
import { createHttpRemoteMemory } from '../../services/common/platform/cloud-api/http-remote-memory.ts';
import { createEventLog } from '../../services/common/platform/events/event-log.ts';
import { createGuardedFetcher } from '../../services/common/platform/fetch/guarded-fetcher.ts';
import { createApp } from '../../services/common/platform/http/app.ts';
import { createWorkQueue, type DurableWorkQueue } from '../../services/common/platform/jobs/work-queue.ts';
import type { Service } from '../../services/common/platform/lifecycle/service.ts';
import { createMessenger, type Messenger } from '../../services/common/platform/messaging/messenger.ts';
import { createLogger } from '../../services/common/platform/observability/logger.ts';
import { createMetrics } from '../../services/common/platform/observability/metrics.ts';
import { createAesGcmSecretBox } from '../../services/common/platform/secrets/aes-gcm-secret-box.ts';
import { createSystemClock } from '../../services/common/platform/system/clock.ts';
import { createIdSource } from '../../services/common/platform/system/id-source.ts';
import { createMemoryRateLimiter } from '../../services/common/platform/system/memory-rate-limiter.ts';
import type { DocumentLoader } from '../../services/common/ports/documents.ts';
import type { Extractor } from '../../services/common/ports/extractor.ts';
import type { Clock, IdSource } from '../../services/common/ports/system.ts';
import { createLedger, type Ledger } from '../../services/common/records/cognify/ledger.ts';
import { createInProcessBus } from '../../services/common/storage/bus/in-process/bus.ts';
import type { BlobStore } from '../../services/common/storage/ports/blob-store.ts';
import type { Bus } from '../../services/common/storage/ports/bus.ts';
import type { DatasetIndexes } from '../../services/common/storage/ports/dataset-indexes.ts';
import type { DocumentStore } from '../../services/common/storage/ports/document-store.ts';
import { createDocumentLoader } from '../../services/common/text/documents/document-loader.ts';
import type { ImproveSettings } from '../../services/improve/dependencies.ts';
import { createImproveService } from '../../services/improve/service.ts';
import { createIngestService } from '../../services/ingest/service.ts';
import type { SyncSettings } from '../../services/integrations/dependencies.ts';
import type { Connector } from '../../services/integrations/providers/connector.ts';
import { createIntegrationsService } from '../../services/integrations/service.ts';
import { createSearchService } from '../../services/search/service.ts';
import { AUTH_SETTINGS, modelOptions, NO_MAIL } from './auth-service.ts';
import { capitalsExtractor, fixedModels } from './cognify-service.ts';
import { createMemoryBlobStore } from './memory/blob-store.ts';
import { createMemoryDatasetIndexes } from './memory/dataset-indexes.ts';
import { createMemoryDocumentStore } from './memory/document-store.ts';
import { REMOTE_KEY } from './remote-memory-server.ts';
import { SETTINGS as SEARCH_SETTINGS, searchModels } from './search-world.ts';
import { textWorkers } from './text-workers.ts';
import { unsignedPrincipals } from './unsigned-principals.ts';
import { createWire, type Wire } from './wire.ts';

/** One process with every service; stores and bus are shared with the other replica. */
export interface Replica {
  readonly baseUrl: string;
  readonly wire: Wire;
  readonly messenger: Messenger;
  readonly store: PausableStore;
  readonly workQueue: DurableWorkQueue;
  /** Names of logged events. */
  readonly logged: () => readonly string[];
  /** Stops the services and the HTTP server in order. */
  stop(): Promise<void>;
}

export interface TwoReplicas extends AsyncDisposable {
  readonly store: DocumentStore;
  readonly blobs: BlobStore;
  readonly indexes: DatasetIndexes;
  readonly ledger: Ledger;
  readonly workQueue: DurableWorkQueue;
  readonly one: Replica;
  readonly two: Replica;
  readonly messages: SharedBus;
}

export interface TwoReplicasOptions {
  /** For replica one and two. */
  readonly extractors?: readonly [Extractor, Extractor];
  readonly documents?: DocumentLoader;
  readonly runs?: readonly [Partial<RunSettings>, Partial<RunSettings>];
  readonly auth?: Partial<AuthSettings>;
  readonly password?: string;
  readonly clock?: Clock;
  /** Whether host names select tenants. */
  readonly hosted?: boolean;
  /** The target of sync; none by default. */
  readonly remoteUrl?: string;
  readonly connectors?: readonly Connector[];
  readonly sync?: Partial<SyncSettings>;
  readonly improve?: Partial<ImproveSettings>;
  /** Poll interval of ingest for jobs. */
  readonly ingestPollMs?: number;
  /** Default: in memory. Closed by the caller. */
  readonly stores?: { readonly store: DocumentStore; readonly blobs: BlobStore };
  /** False: runs are accepted, and build nothing. */
  readonly builds?: boolean;
}

export async function startTwoReplicas(options: TwoReplicasOptions = {}): Promise<TwoReplicas> {
  const { store, blobs } = options.stores ?? { store: createMemoryDocumentStore(), blobs: createMemoryBlobStore() };
  await store.prepare(collections);
  const clock = options.clock ?? createSystemClock();
  const shared: Shared = {
    store,
    clock,
    options,
    blobs,
    indexes: createMemoryDatasetIndexes(),
    messages: createSharedBus(),
    directory: await mkdtemp(join(tmpdir(), 'engram-replicas-')),
  };
  const [one, two] = await Promise.all([startReplica(shared, 0), startReplica(shared, 1)]);
  const { indexes, messages } = shared;
  const workQueue = createWorkQueue({ store, clock, ids: createIdSource(), bus: messages.join() });
  return {
    store,
    blobs,
    indexes,
    messages,
    workQueue,
    one,
    two,
    ledger: createLedger(store),
    async [Symbol.asyncDispose]() {
      one.store.resume();
      two.store.resume();
      await Promise.all([one.stop(), two.stop()]);
      await rm(shared.directory, { recursive: true, force: true });
    },
  };
}

interface Shared {
  readonly store: DocumentStore;
  readonly blobs: BlobStore;
  readonly indexes: DatasetIndexes;
  readonly clock: Clock;
  readonly messages: SharedBus;
  readonly directory: string;
  readonly options: TwoReplicasOptions;
}

async function startReplica(shared: Shared, index: 0 | 1): Promise<Replica> {
  const { blobs, indexes, clock, options } = shared;
  const store = pausable(shared.store);
  const bus = shared.messages.join();
  const messenger = createMessenger(bus, unsignedPrincipals);
  const ids = createIdSource();
  const lines: string[] = [];
  const logger = createLogger({
    level: 'debug',
    name: 'test',
    destination: { write: (line) => void lines.push(line) },
  });
  const workQueue = createWorkQueue({ store, bus, clock, ids, pollMs: 25 });
  const ledger = createLedger(store);
  const records = { ledger, eventLog: createEventLog({ store, clock, ids }), audit: createAuditLog(store, clock) };
  const common = { store, messenger, clock, ids, logger, ...records };
  const embedder = createHashingEmbedder({ dimensions: 64 });
  const documents = options.documents ?? createDocumentLoader({ workers: 1 });
  const services: readonly Service[] = [
    createAuthService({
      ...common,
      ...modelOptions(),
      settings: { ...AUTH_SETTINGS, ...options.auth },
      secrets: { jwt: 'a secret that both replicas know', defaultUserPassword: options.password ?? null },
      mail: NO_MAIL,
      limiter: createMemoryRateLimiter({ clock }),
    }),
    options.builds === false
      ? createIdleCognify(messenger, ids)
      : createCognifyService({
          ...common,
          ...indexes,
          blobs,
          embedder,
          workQueue,
          models: fixedModels(options.extractors?.[index] ?? capitalsExtractor),
          textWorkers,
          runs: { leaseMs: 1500, pollMs: 25, onStop: 'hand-over', ...options.runs?.[index] },
        }),
    createIngestService({
      ...common,
      blobs,
      documents,
      graph: indexes.graph,
      tenantCollections,
      workQueue,
      fetcher: createGuardedFetcher({ allowHttpRequests: false, timeoutMs: 1000, maxBytes: 1000 }),
      models: searchModels(),
      settings: INGEST_SETTINGS,
      ...(options.ingestPollMs === undefined ? {} : { jobs: { pollMs: options.ingestPollMs } }),
    }),
    createImproveService({
      ...common,
      indexes,
      embedder,
      workQueue,
      models: { current: async () => ({ languageModel: null, missingModelKey: null, extractor: capitalsExtractor }) },
      settings: { leaseMs: 1500, pollMs: 25, ...options.improve },
    }),
    createIntegrationsService({
      ...common,
      blobs,
      workQueue,
      remote: async () =>
        createHttpRemoteMemory({ baseUrl: options.remoteUrl ?? 'http://127.0.0.1:9', key: REMOTE_KEY }),
      hasRemote: options.remoteUrl !== undefined,
      connectors: options.connectors ?? [],
      secretBox: createAesGcmSecretBox(async () => [{ id: 'test', bytes: new Uint8Array(32) }]),
      isSecure: false,
      settings: { maxDocumentBytes: 2 ** 24, leaseMs: 60_000, pollMs: 25, retryBaseMs: 1, ...options.sync },
    }),
    createSearchService({ ...common, indexes, embedder, models: searchModels(), settings: SEARCH_SETTINGS }),
  ];
  for (const service of services) await service.start();
  const metrics = createMetrics();
  const spoolDirectory = await mkdtemp(join(shared.directory, 'spool-'));
  const app = createApp({
    routes: services.flatMap(({ routes }) => routes),
    sockets: services.flatMap(({ sockets }) => sockets),
    authenticate: (credentials, strict, context, circumstances) =>
      messenger.call('auth.Authenticate', { credentials, strict, ...circumstances }, context),
    settings: {
      ...HTTP_SETTINGS,
      spoolDirectory,
      selectsTenantByHost: options.hosted ?? false,
      authRequired: options.auth?.posture?.required ?? false,
    },
    logger,
    metrics,
  });
  const { port } = await app.listen(0, '127.0.0.1');
  const baseUrl = `http://127.0.0.1:${port}`;
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    const closing = app.close();
    await Promise.all(services.map((service) => service.drain?.()));
    await closing;
    for (const service of services.toReversed()) await service.stop();
    await bus.drain();
    await documents.close();
    metrics.close();
  };
  return {
    baseUrl,
    wire: createWire(baseUrl),
    messenger,
    store,
    workQueue,
    logged: () => lines.map((line) => String((JSON.parse(line) as { readonly event?: unknown }).event)),
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** Accepts runs and builds nothing. */
function createIdleCognify(messenger: Messenger, ids: IdSource): Service {
  return {
    name: 'cognify',
    routes: [],
    sockets: [],
    async start() {
      await messenger.serve('cognify.StartRun', async ({ dataset }) => ({
        run: {
          id: asId<RunId>(ids.uuid()),
          pipeline: 'cognify_pipeline',
          dataset: dataset.id,
          datasetName: dataset.name,
          status: 'DATASET_PROCESSING_COMPLETED' as const,
          ...NO_RESULT,
          startedAt: new Date().toISOString(),
          endedAt: null,
        },
      }));
    },
    async stop() {},
  };
}

const INGEST_SETTINGS = {
  defaultUserEmail: 'default_user@example.com',
  eventsArePublished: false,
  maxDocumentBytes: 2 ** 24,
  parseConcurrency: 4,
  acceptLocalPaths: false,
  localRoots: [],
  drainMs: 2000,
  sessions: {
    enabled: true,
    autoFeedback: true,
    ttlMs: 0,
    purgeEveryMs: 3_600_000,
    abandonAfterMs: 1_800_000,
    tracesAreBridged: true,
    autoImprove: null,
  },
};

const HTTP_SETTINGS = {
  uploadLimitBytes: 2 ** 24,
  jsonLimitBytes: 2 ** 22,
  corsOrigins: [],
  cookieName: 'auth_token',
  guard: { isActive: false, refusesProxies: false, allowedHosts: [] },
  drainTimeoutMs: 2000,
};

/** A bus that several replicas join: all get what one publishes, and any of them answers a request. */
interface SharedBus {
  join(): Bus;
  /** Lets only this replica answer requests from now on; null: all in turn. */
  letAnswer(place: number | null): void;
  /** Whether messages that are published from now on are lost. */
  loseMessages(isLost: boolean): void;
}

function createSharedBus(): SharedBus {
  const buses: Bus[] = [];
  const gone = new Set<Bus>();
  const answering = new Map<string, Set<Bus>>();
  let chosen: number | null = null;
  let turn = 0;
  let isDeaf = false;
  const responder = (subject: string): Bus | undefined => {
    const able = [...(answering.get(subject) ?? [])].filter((bus) => !gone.has(bus));
    if (chosen !== null) return able.find((bus) => bus === buses[chosen ?? 0]);
    turn += 1;
    return able[turn % able.length];
  };
  return {
    letAnswer(place) {
      chosen = place;
    },
    loseMessages(isLost) {
      isDeaf = isLost;
    },
    join() {
      const own = createInProcessBus();
      buses.push(own);
      return {
        ...own,
        request: (subject, payload, options) => (responder(subject) ?? own).request(subject, payload, options),
        respond(subject, handler) {
          answering.set(subject, (answering.get(subject) ?? new Set()).add(own));
          return own.respond(subject, handler);
        },
        async publish(subject, payload) {
          for (const bus of isDeaf ? [] : buses) await bus.publish(subject, payload);
        },
        async drain() {
          gone.add(own);
          await own.drain();
        },
      };
    },
  };
}

/** A store whose calls wait while it is paused, like those of a stalled process or a cut network. */
interface PausableStore extends DocumentStore {
  pause(): void;
  resume(): void;
}

function pausable(store: DocumentStore): PausableStore {
  let running: Promise<void> = Promise.resolve();
  let resume = (): void => {};
  const waiting =
    <Call extends (...parts: never[]) => Promise<unknown>>(call: Call) =>
    async (...parts: Parameters<Call>) => {
      await running;
      return call(...parts);
    };
  return {
    capabilities: { ...store.capabilities, sharedBetweenProcesses: true },
    prepare: store.prepare,
    get: waiting(store.get) as DocumentStore['get'],
    getMany: waiting(store.getMany) as DocumentStore['getMany'],
    find: waiting(store.find) as DocumentStore['find'],
    count: waiting(store.count) as DocumentStore['count'],
    countEach: waiting(store.countEach) as DocumentStore['countEach'],
    countChanges: waiting(store.countChanges) as DocumentStore['countChanges'],
    commit: waiting(store.commit) as DocumentStore['commit'],
    view: waiting(store.view) as DocumentStore['view'],
    close: store.close,
    pause() {
      const pause = Promise.withResolvers<void>();
      running = pause.promise;
      resume = pause.resolve;
    },
    resume: () => resume(),
  };
}
