import type { TenantId } from '../common/kernel/brand.ts';
import type { JobWorker } from '../common/platform/jobs/job-worker.ts';
import type { WatchedWorkQueue } from '../common/platform/jobs/work-queue.ts';
import type { Messenger } from '../common/platform/messaging/messenger.ts';
import type { ActiveModels } from '../common/ports/active-models.ts';
import type { AuditLog } from '../common/ports/audit-log.ts';
import type { Budgets } from '../common/ports/budgets.ts';
import type { DocumentLoader, Fetcher } from '../common/ports/documents.ts';
import type { EventLog } from '../common/ports/event-log.ts';
import type { Logger } from '../common/ports/logger.ts';
import type { Clock, IdSource } from '../common/ports/system.ts';
import type { TraceSource } from '../common/ports/tracer.ts';
import { createAgentConnections } from '../common/records/auth/agent-connections.ts';
import { createApiKeys } from '../common/records/auth/api-keys.ts';
import { createDatasets } from '../common/records/auth/datasets.ts';
import { createUsers } from '../common/records/auth/users.ts';
import type { Ledger } from '../common/records/cognify/ledger.ts';
import { createRunRecords } from '../common/records/cognify/run-records.ts';
import { createSupersessions } from '../common/records/cognify/supersessions.ts';
import { createImproveRequests, type Debounce } from '../common/records/improve/improve-requests.ts';
import { createWatermarks } from '../common/records/improve/watermarks.ts';
import { createBlobIntents } from '../common/records/ingest/blob-intents.ts';
import { createDataItems } from '../common/records/ingest/data-items.ts';
import { createEchoMarks } from '../common/records/ingest/echo-marks.ts';
import { createOntologies } from '../common/records/ingest/ontologies.ts';
import { createRepetitions } from '../common/records/ingest/repetitions.ts';
import { createSkills } from '../common/records/ingest/skills.ts';
import { createSourceAccess } from '../common/records/integrations/source-access.ts';
import { createSearchHistory } from '../common/records/search/search-history.ts';
import { createSessionRemoval } from '../common/records/session-removal.ts';
import { createSessionContexts } from '../common/records/sessions/session-context.ts';
import { createSessionEntries } from '../common/records/sessions/session-entries.ts';
import { createSessions } from '../common/records/sessions/sessions.ts';
import { createVisibleSessions } from '../common/records/sessions/visible-sessions.ts';
import type { BlobStore } from '../common/storage/ports/blob-store.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
import type { GraphStore } from '../common/storage/ports/graph-store.ts';
import { createProposals } from './repositories/proposals.ts';
import { createRetentions } from './repositories/retention.ts';
import { createSkillRuns } from './repositories/skill-runs.ts';
import type { SnapshotIndex } from './repositories/snapshots.ts';

/** Parts of the service beside its records. */
export interface IngestParts {
  readonly store: DocumentStore;
  readonly messenger: Messenger;
  readonly models: { current(tenant?: TenantId): Promise<Pick<ActiveModels, 'languageModel'>> };
  readonly workQueue: WatchedWorkQueue;
  readonly eventLog: EventLog;
  readonly audit: AuditLog;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly settings: IngestSettings;
  readonly blobs: BlobStore;
  readonly documents: DocumentLoader;
  readonly fetcher: Fetcher;
  /** Built by cognify, only read here. */
  readonly graph: GraphStore;
  readonly ledger: Ledger;
  /** Absent: nothing is traced. */
  readonly traces?: TraceSource;
}

/** Repositories of the service, and those of others that it reads. */
export function createRecords({ store, ids }: IngestParts) {
  const sessions = createSessions(store);
  return {
    items: createDataItems(store),
    intents: createBlobIntents(store),
    sessions,
    sessionEntries: createSessionEntries(store, sessions),
    visibleSessions: createVisibleSessions(store, sessions),
    improveRequests: createImproveRequests(store),
    echoes: createEchoMarks(store),
    ontologies: createOntologies(store),
    repetitions: createRepetitions(store),
    supersessions: createSupersessions(store),
    sessionRemoval: createSessionRemoval(store),
    sessionContexts: createSessionContexts(store),
    watermarks: createWatermarks(store),
    datasets: createDatasets(store),
    sourceAccess: createSourceAccess(store),
    retentions: createRetentions(store),
    skills: createSkills(store),
    skillRuns: createSkillRuns(store),
    proposals: createProposals(store),
    connections: createAgentConnections(store),
    apiKeys: createApiKeys(store),
    runRecords: createRunRecords(store),
    searchHistory: createSearchHistory(store, ids),
    users: createUsers(store),
  };
}

/** Dependencies of the use cases and routes. */
export interface IngestDependencies extends IngestParts, ReturnType<typeof createRecords> {
  readonly budgets: Budgets;
  readonly jobs: JobWorker;
  /** Absent: no snapshots are taken here. */
  readonly snapshotIndex?: SnapshotIndex;
}

export interface IngestSettings {
  /** Greatest size of one document, uploaded or fetched. */
  readonly maxDocumentBytes: number;
  /** Documents parsed at the same time for one request. */
  readonly parseConcurrency: number;
  readonly acceptLocalPaths: boolean;
  /** Folders below which paths of the server may be read; nothing is readable while it is empty. */
  readonly localRoots: readonly string[];
  readonly sessions: SessionSettings;
  /** Kafka gets every event: none goes before it was published. */
  readonly eventsArePublished: boolean;
  /** How long stopping waits for additions in the background; what is left goes on with the next start. */
  readonly drainMs: number;
  /** DEFAULT_USER_EMAIL */
  readonly defaultUserEmail: string;
}

export interface SessionSettings {
  /** CACHING */
  readonly enabled: boolean;
  /** AUTO_FEEDBACK: a model may describe steps. */
  readonly autoFeedback: boolean;
  /** After the last use; 0: entries are kept for ever. */
  readonly ttlMs: number;
  readonly purgeEveryMs: number;
  /** A session that is not used for so long is shown as abandoned. */
  readonly abandonAfterMs: number;
  /** Improve brings steps of agents into the memory of datasets; otherwise they need not wait for it. */
  readonly tracesAreBridged: boolean;
  /** When what is remembered in a session is improved by itself; null: never. */
  readonly autoImprove: Debounce | null;
}
