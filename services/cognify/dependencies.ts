import type { RunRecorder } from '../common/platform/jobs/run-recorder.ts';
import type { WatchedWorkQueue } from '../common/platform/jobs/work-queue.ts';
import type { Messenger } from '../common/platform/messaging/messenger.ts';
import type { ProbeModelRequest, ProbeModelResponse } from '../common/platform/messaging/methods/cognify-managed.ts';
import type { WorkerPool } from '../common/platform/workers/worker-pool.ts';
import type { AuditLog } from '../common/ports/audit-log.ts';
import type { Budgets } from '../common/ports/budgets.ts';
import type { DocumentLoader } from '../common/ports/documents.ts';
import type { EmbedderSource } from '../common/ports/embedders.ts';
import type { EventLog } from '../common/ports/event-log.ts';
import type { Logger } from '../common/ports/logger.ts';
import type { Embedder } from '../common/ports/models.ts';
import type { Clock, IdSource } from '../common/ports/system.ts';
import type { Tracer } from '../common/ports/tracer.ts';
import type { Datasets } from '../common/records/auth/datasets.ts';
import type { ManagedResources } from '../common/records/auth/managed-resources.ts';
import type { DatasetConfigurations } from '../common/records/cognify/dataset-configurations.ts';
import type { Ledger } from '../common/records/cognify/ledger.ts';
import type { RunRecords } from '../common/records/cognify/run-records.ts';
import type { Runs } from '../common/records/cognify/runs.ts';
import type { ScheduledStarts } from '../common/records/cognify/scheduled-starts.ts';
import type { Statements } from '../common/records/cognify/statements.ts';
import type { Supersessions } from '../common/records/cognify/supersessions.ts';
import type { VectorHomes } from '../common/records/cognify/vector-homes.ts';
import type { ImproveClaims } from '../common/records/improve/improve-claims.ts';
import type { DataItems } from '../common/records/ingest/data-items.ts';
import type { Repetitions } from '../common/records/ingest/repetitions.ts';
import type { BlobStore } from '../common/storage/ports/blob-store.ts';
import type { DatasetIndexes } from '../common/storage/ports/dataset-indexes.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
import type { SnapshotPlaces } from '../common/storage/ports/snapshot-places.ts';
import type { LlmDependencies } from './llm/dependencies.ts';
import type { ItemBuilds } from './pipeline/item-builds.ts';
import type { ModelCache } from './repositories/model-cache.ts';
import type { RunEngine } from './runs/run-engine.ts';
import type { CognifySettings, RunModelSource, RunSettings } from './settings.ts';

/** What the service is made from. */
export interface CognifyServiceOptions extends Pick<DatasetIndexes, 'text' | 'vectors' | 'graph'> {
  readonly store: DocumentStore;
  readonly blobs: BlobStore;
  /** Reads a document again whose stored text is damaged; absent: it stays so. */
  readonly documents?: Pick<DocumentLoader, 'loadEncoded'>;
  /** The server's own. */
  readonly embedder: Embedder;
  /** Default: that one for everybody. */
  readonly embedders?: EmbedderSource;
  readonly models: RunModelSource;
  /** For work over whole texts. */
  readonly textWorkers: Pick<WorkerPool, 'run'>;
  readonly messenger: Messenger;
  readonly workQueue: WatchedWorkQueue;
  readonly eventLog: EventLog;
  readonly audit: AuditLog;
  readonly ledger: Ledger;
  /** Default: those of the store, without server-wide limits. */
  readonly budgets?: Budgets;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  /** Called when data begins to come in: a run will probably follow, and its threads take a while to start. */
  readonly prepare?: () => void;
  /** Asks a provider with a credential that is no setting; `ProbeModel` is not served without it. */
  readonly probe?: (request: ProbeModelRequest, signal?: AbortSignal) => Promise<ProbeModelResponse>;
  /** Where snapshots are kept; none is restored without it. */
  readonly places?: SnapshotPlaces;
  /** What the routes below `/llm` work with; they are not served without it. */
  readonly llm?: Omit<LlmDependencies, 'logger'>;
  readonly settings?: Partial<CognifySettings>;
  readonly runs?: Partial<RunSettings>;
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer;
  /** Told of every state a run enters. */
  readonly metrics?: { runState(pipeline: string, status: string): void };
}

/** What its use cases work with. */
export interface CognifyDependencies
  extends Pick<
    CognifyServiceOptions,
    'text' | 'vectors' | 'graph' | 'models' | 'messenger' | 'ledger' | 'clock' | 'ids' | 'logger' | 'store' | 'audit'
  > {
  /** `vectors` are the ones of all homes. */
  readonly homes: VectorHomes;
  readonly embedders: EmbedderSource;
  readonly settings: CognifySettings;
  readonly budgets: Budgets;
  readonly cache: ModelCache;
  readonly runs: Runs;
  readonly configurations: DatasetConfigurations;
  readonly scheduledStarts: ScheduledStarts;
  /** Of auth, which writes them. */
  readonly datasets: Pick<Datasets, 'get'>;
  readonly managedResources: Pick<ManagedResources, 'of'>;
  readonly records: RunRecords;
  readonly recorder: RunRecorder;
  readonly engine: RunEngine;
  readonly workQueue: Pick<WatchedWorkQueue, 'deadLetters' | 'withdrawWrites'>;
  readonly builds: ItemBuilds;
  readonly statements: Statements;
  readonly supersessions: Supersessions;
  readonly repetitions: Repetitions;
  /** Of ingest; that one is built is noted in the commit of the ledger. */
  readonly items: Pick<DataItems, 'countWaiting' | 'longestWait'>;
  /** Of improve, which writes them. */
  readonly claims: Pick<ImproveClaims, 'holds'>;
}
