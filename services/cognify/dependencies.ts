import type { RunRecorder } from '../common/platform/jobs/run-recorder.ts';
import type { WatchedWorkQueue } from '../common/platform/jobs/work-queue.ts';
import type { AnswerOf, RequestOf } from '../common/platform/messaging/messages.ts';
import type { Messenger } from '../common/platform/messaging/messenger.ts';
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
import type { Runs } from '../common/records/cognify/runs.ts';
import type { Statements } from '../common/records/cognify/statements.ts';
import type { Supersessions } from '../common/records/cognify/supersessions.ts';
import type { VectorIndexVersions } from '../common/records/cognify/vector-index-versions.ts';
import type { OntologyFile } from '../common/records/ingest/ontologies.ts';
import type { BlobStore } from '../common/storage/ports/blob-store.ts';
import type { IndexStores } from '../common/storage/ports/dataset-indexes.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
import type { SnapshotPlaces } from '../common/storage/ports/snapshot-places.ts';
import type { LlmDependencies } from './llm/model-call.ts';
import type { RunEngine } from './model.ts';
import type { CognifySettings, RunModelSource, RunSettings } from './settings.ts';

/** Parts that the service is created from. */
export interface CognifyServiceOptions extends IndexStores {
  readonly store: DocumentStore;
  readonly blobs: BlobStore;
  /** Parses the original again when the stored text of a document is damaged or missing; absent: this is not done. */
  readonly documents?: Pick<DocumentLoader, 'loadEncoded'>;
  /** The embedder of the server. */
  readonly embedder: Embedder;
  /** Default: `embedder` for every tenant. */
  readonly embedders?: EmbedderSource;
  readonly models: RunModelSource;
  /** Worker processes for work over whole texts. */
  readonly textWorkers: WorkerPool;
  readonly messenger: Messenger;
  readonly workQueue: WatchedWorkQueue;
  readonly eventLog: EventLog;
  readonly audit: AuditLog;
  readonly ledger: Ledger;
  /** Default: the budgets in the store, without server-wide limits. */
  readonly budgets?: Budgets;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  /** Called when data is added: a run will probably follow, and its threads take a while to start. */
  readonly prepare?: () => void;
  /** Tests a provider with credentials from the request; absent: `ProbeModel` is not served. */
  readonly probe?: (
    request: RequestOf<'cognify.ProbeModel'>,
    signal?: AbortSignal,
  ) => Promise<AnswerOf<'cognify.ProbeModel'>>;
  /** Stores of snapshots; absent: none is restored. */
  readonly places?: SnapshotPlaces;
  /** Dependencies of the routes below `/llm`; absent: they are not served. */
  readonly llm?: Omit<LlmDependencies, 'logger'>;
  readonly settings?: Partial<CognifySettings>;
  readonly runs?: Partial<RunSettings>;
  /** Absent: no traces are recorded. */
  readonly tracer?: Tracer;
  /** Counts every state that a run enters. */
  readonly metrics?: { runState(pipeline: string, status: string): void };
}

/** Dependencies that several use cases of the service share. */
export interface CognifyDependencies
  extends Pick<
    CognifyServiceOptions,
    'text' | 'vectors' | 'graph' | 'models' | 'messenger' | 'ledger' | 'clock' | 'logger' | 'store' | 'audit'
  > {
  /** `vectors` reaches all of them. */
  readonly vectorVersions: VectorIndexVersions;
  readonly embedders: EmbedderSource;
  readonly settings: CognifySettings;
  readonly runs: Runs;
  readonly recorder: RunRecorder;
  readonly engine: RunEngine;
  readonly configurations: DatasetConfigurations;
  readonly statements: Statements;
  readonly supersessions: Supersessions;
  /** Read only: auth writes them. */
  readonly datasets: Datasets;
  readonly managedResources: ManagedResources;
  /** Ontologies of runs that name none. */
  readonly serverOntologies: () => readonly OntologyFile[];
}
