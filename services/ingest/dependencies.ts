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
import type { AgentConnections } from '../common/records/auth/agent-connections.ts';
import type { ApiKeys } from '../common/records/auth/api-keys.ts';
import type { Datasets } from '../common/records/auth/datasets.ts';
import type { Users } from '../common/records/auth/users.ts';
import type { Ledger } from '../common/records/cognify/ledger.ts';
import type { RunRecords } from '../common/records/cognify/run-records.ts';
import type { Supersessions } from '../common/records/cognify/supersessions.ts';
import type { Debounce, ImproveRequests } from '../common/records/improve/improve-requests.ts';
import type { Watermarks } from '../common/records/improve/watermarks.ts';
import type { BlobIntents } from '../common/records/ingest/blob-intents.ts';
import type { DataItems } from '../common/records/ingest/data-items.ts';
import type { EchoMarks } from '../common/records/ingest/echo-marks.ts';
import type { Ontologies } from '../common/records/ingest/ontologies.ts';
import type { Repetitions } from '../common/records/ingest/repetitions.ts';
import type { Skills } from '../common/records/ingest/skills.ts';
import type { SourceAccess } from '../common/records/integrations/source-access.ts';
import type { SearchHistory } from '../common/records/search/search-history.ts';
import type { SessionRemoval } from '../common/records/session-removal.ts';
import type { SessionContexts } from '../common/records/sessions/session-context.ts';
import type { SessionEntries } from '../common/records/sessions/session-entries.ts';
import type { Sessions } from '../common/records/sessions/sessions.ts';
import type { VisibleSessions } from '../common/records/sessions/visible-sessions.ts';
import type { BlobStore } from '../common/storage/ports/blob-store.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
import type { GraphStore } from '../common/storage/ports/graph-store.ts';
import type { Proposals } from './repositories/proposals.ts';
import type { Retentions } from './repositories/retention.ts';
import type { SkillRuns } from './repositories/skill-runs.ts';
import type { SnapshotIndex } from './repositories/snapshots.ts';

/** Dependencies of every use case. */
export interface CommonDependencies {
  readonly store: DocumentStore;
  readonly messenger: Messenger;
  readonly datasets: Datasets;
  readonly sourceAccess: SourceAccess;
  readonly models: { current(tenant?: TenantId): Promise<Pick<ActiveModels, 'languageModel'>> };
  readonly workQueue: WatchedWorkQueue;
  /** The worker of the service's jobs. */
  readonly jobs: JobWorker;
  readonly eventLog: EventLog;
  readonly budgets: Budgets;
  readonly audit: AuditLog;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly settings: IngestSettings;
}

/** Dependencies of adding, updating, reading and deleting items. */
export interface ItemDependencies extends CommonDependencies {
  readonly items: DataItems;
  readonly intents: BlobIntents;
  readonly blobs: BlobStore;
  readonly documents: DocumentLoader;
  readonly fetcher: Fetcher;
  readonly retentions: Retentions;
  /** Texts that search has shown. */
  readonly echoes: EchoMarks;
  readonly repetitions: Repetitions;
  /** Found by cognify; only reverts are written here. */
  readonly supersessions: Supersessions;
  /** Built by cognify, only read here. */
  readonly graph: GraphStore;
  readonly ledger: Ledger;
  readonly sessionRemoval: SessionRemoval;
  readonly visibleSessions: VisibleSessions;
  readonly sessionEntries: SessionEntries;
  /** Absent: no snapshots are taken here. */
  readonly snapshotIndex?: SnapshotIndex;
}

/** Dependencies of sessions, their entries and their statistics. */
export interface SessionDependencies extends CommonDependencies {
  readonly sessions: Sessions;
  readonly sessionEntries: SessionEntries;
  readonly visibleSessions: VisibleSessions;
  readonly improveRequests: ImproveRequests;
  readonly sessionRemoval: SessionRemoval;
  readonly sessionContexts: SessionContexts;
  /** Records of improve, only read here. */
  readonly watermarks: Watermarks;
  readonly connections: AgentConnections;
  readonly users: Users;
}

/** Dependencies of skills, their runs and their proposals. */
export interface SkillDependencies extends CommonDependencies {
  readonly skills: Skills;
  readonly skillRuns: SkillRuns;
  readonly proposals: Proposals;
}

/** Dependencies of the ontologies of users. */
export type OntologyDependencies = Pick<CommonDependencies, 'audit' | 'clock' | 'ids' | 'logger'> &
  Pick<SessionDependencies, 'users'> & { readonly ontologies: Ontologies };

/** Dependencies of the reports on agents, accounts and traces. */
export interface ActivityDependencies extends CommonDependencies {
  readonly connections: SessionDependencies['connections'];
  readonly users: SessionDependencies['users'];
  readonly apiKeys: ApiKeys;
  readonly runRecords: RunRecords;
  readonly searchHistory: SearchHistory;
  /** Absent: nothing is traced. */
  readonly traces?: TraceSource;
}

/** Dependencies of the whole service. */
export interface IngestDependencies
  extends ItemDependencies,
    SessionDependencies,
    SkillDependencies,
    ActivityDependencies {
  readonly ontologies: Ontologies;
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
