import { join } from 'node:path';
import type { PasswordHasher } from '../auth/credentials/password-hasher.ts';
import type { AccountMailOptions } from '../auth/mail/account-mail.ts';
import type { OidcOptions } from '../auth/oidc/oidc-client.ts';
import type { RunModels } from '../cognify/settings.ts';
import type { ServiceName } from '../common/domain/service-paths.ts';
import { createHttpCloudApi } from '../common/platform/cloud-api/http-cloud-api.ts';
import type { Config } from '../common/platform/config/configuration.ts';
import { createProviderFetch } from '../common/platform/fetch/target-guard.ts';
import type { Service } from '../common/platform/lifecycle/service.ts';
import type { Messenger } from '../common/platform/messaging/messenger.ts';
import type { Logger } from '../common/platform/observability/logger.ts';
import type { Metrics } from '../common/platform/observability/metrics.ts';
import { createMemoryRateLimiter } from '../common/platform/system/memory-rate-limiter.ts';
import type { WorkerPool } from '../common/platform/workers/worker-pool.ts';
import type { ActiveModels } from '../common/ports/active-models.ts';
import type { AuditLog } from '../common/ports/audit-log.ts';
import type { Budgets } from '../common/ports/budgets.ts';
import type { DocumentLoader, Fetcher, PageFetcher } from '../common/ports/documents.ts';
import type { EventLog } from '../common/ports/event-log.ts';
import type { RemoteMemory } from '../common/ports/remote-memory.ts';
import type { SecretBox } from '../common/ports/secret-box.ts';
import type { Clock, IdSource } from '../common/ports/system.ts';
import type { Tracer, TraceSource } from '../common/ports/tracer.ts';
import type { WorkQueue } from '../common/ports/work-queue.ts';
import type { Ledger } from '../common/records/cognify/ledger.ts';
import type { BlobStore } from '../common/storage/ports/blob-store.ts';
import type { SnapshotPlaces } from '../common/storage/ports/snapshot-places.ts';
import { tenantCollections } from './collections.ts';
import { openMailer } from './mailer.ts';
import type { Models } from './models.ts';
import { createModelProbe } from './probe-model.ts';
import type { Stores } from './stores.ts';

/** Parts that services are created from. */
export interface Parts {
  readonly config: Config;
  readonly stores: Stores;
  readonly tracer: Tracer;
  readonly traces: TraceSource;
  readonly models: Models;
  readonly messenger: Messenger;
  readonly secretBox: SecretBox;
  readonly workQueue: WorkQueue;
  readonly eventLog: EventLog;
  readonly audit: AuditLog;
  readonly budgets: Budgets;
  readonly ledger: Ledger;
  readonly documents: DocumentLoader;
  /** Worker processes for work over whole texts. */
  readonly textWorkers: WorkerPool;
  readonly passwords?: PasswordHasher;
  readonly fetcher: Fetcher & PageFetcher;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly secrets: { readonly jwt: string };
}

export type BuildService = (parts: Parts) => Service;

/** Keeps runs that other processes can continue: neither the stop of this one nor of a store ends them. */
const IN_A_CLUSTER = { onStop: 'hand-over', onStoreFailure: 'retry' } as const;

/** The services of this build. Only those that are wanted are loaded. */
const REGISTRY: Readonly<Partial<Record<ServiceName, () => Promise<BuildService>>>> = {
  auth: async () => {
    const { createAuthService } = await import('../auth/service.ts');
    return (parts) => {
      const { config, secrets } = parts;
      return createAuthService({
        ...common(parts, 'auth'),
        wakes: parts.metrics,
        budgets: parts.budgets,
        ...(parts.passwords === undefined ? {} : { passwords: parts.passwords }),
        settings: {
          posture: config.posture,
          defaultUserEmail: config.defaultUserEmail,
          cookieName: config.cookieName,
          cookieDomain: config.cookieDomain ?? null,
          cookieSecure: /^https:/i.test(config.publicUrl ?? ''),
          publicUrl: config.publicUrl ?? null,
          selectsTenantByHost: config.hosted,
          tokenLifetimeSeconds: config.jwtLifetimeSeconds,
          maxApiKeysPerUser: config.maxUserApiKeys,
          signUp: config.signUp,
          registersFirstSuperuser:
            config.signUp === 'closed' &&
            config.stores.documents === 'embedded' &&
            config.defaultUserPassword === undefined &&
            config.oidcProviders.length === 0,
          minPasswordLength: config.minPasswordLength,
          tenantCreation: config.tenantCreation,
        },
        secretBox: parts.secretBox,
        models: { configured: config.languageModel, changed: parts.models.changed },
        cloudApi: createHttpCloudApi({ baseUrl: config.cloudApiUrl }),
        ...(config.agentMode && config.stores.documents === 'embedded' ? { agentMode: AGENT_MODE } : {}),
        secrets: {
          jwt: secrets.jwt,
          acceptedJwt: config.jwtAcceptedSecrets ?? [],
          tokenKeys: config.jwtSigningKeys ?? [],
          defaultUserPassword: config.defaultUserPassword ?? null,
        },
        oidc: oidcOptions(parts),
        limiter: createMemoryRateLimiter(parts),
        mail: accountMailOptions(parts),
      });
    };
  },
  ingest: async () => {
    const { createIngestService } = await import('../ingest/service.ts');
    return (parts) => {
      const { config, stores, documents, fetcher, ledger, models, workQueue } = parts;
      return createIngestService({
        ...common(parts, 'ingest'),
        budgets: parts.budgets,
        blobs: stores.blobs,
        documents,
        fetcher,
        workQueue,
        graph: stores.readers.graph,
        models,
        ledger,
        traces: parts.traces,
        tenantCollections,
        snapshots: { indexes: stores.readers, places: createSnapshotPlaces(stores.blobs) },
        settings: {
          maxDocumentBytes: config.uploadLimitBytes,
          parseConcurrency: 4,
          acceptLocalPaths: config.acceptLocalFilePath,
          localRoots: config.allowedLocalFileRoots,
          defaultUserEmail: config.defaultUserEmail,
          eventsArePublished: config.kafkaBrokers !== undefined,
          drainMs: config.drainTimeoutMs,
          sessions: {
            enabled: config.sessionMemory,
            autoFeedback: config.autoFeedback,
            ttlMs: config.sessionTtlMs,
            purgeEveryMs: config.sessionPurgeIntervalMs,
            abandonAfterMs: config.sessionAbandonAfterMs,
            tracesAreBridged: !config.improveStagesDisabled.includes('persist_agent_traces'),
            autoImprove: config.improveAutoEnabled
              ? { entries: config.improveDebounceEntries, ms: config.improveDebounceMs }
              : null,
          },
        },
      });
    };
  },
  cognify: async () => {
    const { createCognifyService } = await import('../cognify/service.ts');
    return (parts) => {
      const { config, stores, documents, textWorkers, models, workQueue, ledger, metrics } = parts;
      return createCognifyService({
        ...common(parts, 'cognify'),
        budgets: parts.budgets,
        blobs: stores.blobs,
        documents,
        textWorkers,
        text: stores.indexes.text,
        vectors: stores.indexes.vectors,
        graph: stores.indexes.graph,
        embedder: models.embedder,
        embedders: models.embedders,
        models: {
          current: async (tenant) => modelsOfRun(config, await models.current(tenant)),
          withoutModel: () => modelsOfRun(config, models.withoutModel()),
        },
        llm: { models, documents },
        probe: createModelProbe(config.tenantModelHosts),
        places: createSnapshotPlaces(stores.blobs),
        workQueue,
        ledger,
        metrics,
        tracer: parts.tracer,
        prepare() {
          models.prepare();
          stores.prepare();
        },
        settings: {
          ...(config.chunksPerBatch === undefined ? {} : { chunksPerBatch: config.chunksPerBatch }),
          raiseItemErrors: config.raiseItemErrors,
          ontologyMode: config.ontologyMode,
          ontologyFiles: config.ontologyFiles,
        },
        runs: {
          abandonedAfterMs: config.staleRunMinAgeMs,
          ownsRecords: !stores.documents.capabilities.sharedBetweenProcesses,
          drainMs: config.drainTimeoutMs,
          ...(stores.documents.capabilities.sharedBetweenProcesses ? IN_A_CLUSTER : {}),
        },
      });
    };
  },
  improve: async () => {
    const { createImproveService } = await import('../improve/service.ts');
    return (parts) => {
      const { config, stores, models, workQueue, ledger } = parts;
      return createImproveService({
        ...common(parts, 'improve'),
        workQueue,
        indexes: stores.readers,
        models,
        embedder: models.embedder,
        embedders: models.embedders,
        ledger,
        tracer: parts.tracer,
        settings: {
          feedbackAlpha: config.improveFeedbackAlpha,
          disabledStages: config.improveStagesDisabled,
          autoEnabled: config.improveAutoEnabled,
          traceWindowSteps: config.improveTraceWindowSteps,
          tripletEmbedding: config.tripletEmbedding,
          traceWindowsPerRun: config.improveTraceWindowsPerRun,
          distillMaxBatches: config.improveDistillMaxBatches,
          sessionMemory: config.sessionMemory,
          autoFeedback: config.autoFeedback,
          personalizationEnabled: config.personalizationEnabled,
          preferenceAlpha: config.preferenceAlpha,
          preferenceBeta: config.preferenceBeta,
          drainMs: config.drainTimeoutMs,
        },
      });
    };
  },
  search: async () => {
    const { createSearchService } = await import('../search/service.ts');
    return (parts) => {
      const { config, stores, models, ledger } = parts;
      return createSearchService({
        ...common(parts, 'search'),
        indexes: stores.readers,
        ...(stores.threads === null ? {} : { threads: stores.threads }),
        embedder: models.embedder,
        embedders: models.embedders,
        models,
        ledger,
        settings: {
          accessControl: config.accessControl ?? true,
          sessionMemory: config.sessionMemory,
          autoFeedback: config.autoFeedback,
          historyCharacters: config.sessionHistoryCharacters,
          logSearchHistory: config.logSearchHistory,
          answerStreaming: config.llmAnswerStreaming,
          allowCypherQuery: config.allowCypherQuery,
          skillGate: config.skillGateEnabled,
          feedbackInfluence: config.defaultFeedbackInfluence,
          personalization: config.personalizationEnabled
            ? { influence: config.personalizationInfluence, beta: config.preferenceBeta }
            : null,
          echoTtlMs: config.sessionTtlMs,
          copyMemoryBytes: config.copyMemoryBytes,
          concurrentSearches: config.stores.index === 'embedded' ? 4 : 64,
          recallWarmupShortcircuit: config.recallWarmupShortcircuit,
          recallWarmupThreshold: config.recallWarmupThreshold,
          recallWarmupCacheTtlMs: config.recallWarmupCacheTtlMs,
        },
      });
    };
  },
  integrations: async () => {
    const { createIntegrationsService } = await import('../integrations/service.ts');
    const { connectorsOf, slackOptionsOf } = await import('./connectors.ts');
    return (parts) => {
      const { config, stores, workQueue } = parts;
      return createIntegrationsService({
        ...common(parts, 'integrations'),
        workQueue,
        blobs: stores.blobs,
        connectors: connectorsOf(parts),
        slack: slackOptionsOf(config),
        secretBox: parts.secretBox,
        isSecure: /^https:/i.test(config.publicUrl ?? ''),
        remote: remoteMemory(config),
        hasRemote: Boolean(config.remoteUrl ?? config.remoteApiKey),
        tracer: parts.tracer,
        settings: { maxDocumentBytes: config.uploadLimitBytes, drainMs: config.drainTimeoutMs },
      });
    };
  },
};

/** Stops the process as its operator would: requests and runs end in order. */
const AGENT_MODE = { checkEveryMs: 60_000, stopProcess: () => void process.kill(process.pid, 'SIGTERM') };

/** Services of later releases have a name and a path already. */
export function isBuilt(name: ServiceName): boolean {
  return REGISTRY[name] !== undefined;
}

/** Loading takes a while and touches nothing: it can go on beside the opening of the stores. */
export function loadServices(names: readonly ServiceName[]): Promise<readonly BuildService[]> {
  return Promise.all(names.flatMap((name) => REGISTRY[name]?.() ?? []));
}

function common({ stores, messenger, eventLog, audit, clock, ids, logger }: Parts, name: ServiceName) {
  return { store: stores.documents, messenger, eventLog, audit, clock, ids, logger: logger.child({ service: name }) };
}

/** Loaded when it is needed: few services have a remote memory. */
function remoteMemory({ remoteUrl, cloudApiUrl, remoteApiKey }: Config): () => Promise<RemoteMemory> {
  return async () => {
    const { createHttpRemoteMemory } = await import('../common/platform/cloud-api/http-remote-memory.ts');
    return createHttpRemoteMemory({ baseUrl: remoteUrl ?? cloudApiUrl, key: remoteApiKey });
  };
}

/** A chunk must fit the embedder, and leave the model as much room for its answer (cognify-improve.md §1.6). */
function modelsOfRun(config: Config, { languageModel, missingModelKey, extractor }: ActiveModels): RunModels {
  const { embeddingMaxCompletionTokens: embedded, llmMaxCompletionTokens } = config;
  const halfAnswer = Math.floor(llmMaxCompletionTokens / 2);
  return {
    extractor,
    missingModelKey,
    keepExtractions: languageModel !== null,
    maxChunkTokens: languageModel === null ? embedded : Math.max(1, Math.min(embedded, halfAnswer)),
  };
}

function accountMailOptions({ config, logger }: Parts): AccountMailOptions {
  return {
    mailer: openMailer(config, logger),
    links: { reset: config.resetPasswordLink ?? null, verify: config.verifyAddressLink ?? null },
    perAccountAndHour: config.mailsPerHour,
    secrets: { reset: config.resetTokenSecret ?? null, verification: config.verificationTokenSecret ?? null },
  };
}

/** Returns the directory of uploads, which lie there until their request has ended. */
export function spoolDirectory(config: Config): string {
  return join(config.dataDir, 'spool');
}

/** Returns the options of auth for identity providers; undefined when none is configured. */
function oidcOptions({ config, clock }: { readonly config: Config; readonly clock: Clock }): OidcOptions | undefined {
  const { oidcProviders, publicUrl, corsOrigins } = config;
  if (oidcProviders.length === 0 || publicUrl === undefined) return undefined;
  return {
    providers: oidcProviders,
    publicUrl,
    returnOrigins: corsOrigins.filter((origin) => origin !== '*'),
    send: createProviderFetch(),
    limiter: createMemoryRateLimiter({ clock }),
  };
}

/** The blob store of the installation, and buckets of S3 by what each call says of them. */
function createSnapshotPlaces(own: BlobStore): SnapshotPlaces {
  return {
    async open(place) {
      if (place === null) return { blobs: own, close: async () => {} };
      const { openS3BlobStore } = await import('../common/storage/blobs/s3/blob-store.ts');
      const { endpoint, bucket, prefix, region, accessKey, secretKey } = place;
      const store = await openS3BlobStore({
        bucket,
        prefix,
        region,
        accessKey,
        secretKey,
        ...(endpoint === null ? {} : { endpoint }),
      });
      return { blobs: store, close: () => store.close() };
    },
  };
}
