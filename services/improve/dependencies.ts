import type { StageName } from '../common/domain/improve-stages.ts';
import type { WatchedWorkQueue } from '../common/platform/jobs/work-queue.ts';
import type { Messenger } from '../common/platform/messaging/messenger.ts';
import type { ModelSource } from '../common/ports/active-models.ts';
import type { EmbedderSource } from '../common/ports/embedders.ts';
import type { Logger } from '../common/ports/logger.ts';
import type { Embedder } from '../common/ports/models.ts';
import type { Clock, IdSource } from '../common/ports/system.ts';
import type { Tracer } from '../common/ports/tracer.ts';
import type { Ledger } from '../common/records/cognify/ledger.ts';
import type { ScheduledStarts } from '../common/records/cognify/scheduled-starts.ts';
import type { VectorIndexVersions } from '../common/records/cognify/vector-index-versions.ts';
import type { ElementWeights } from '../common/records/improve/element-weights.ts';
import type { ImproveClaims } from '../common/records/improve/improve-claims.ts';
import type { ImproveRequests } from '../common/records/improve/improve-requests.ts';
import type { Watermarks } from '../common/records/improve/watermarks.ts';
import type { SessionEntries } from '../common/records/sessions/session-entries.ts';
import type { Sessions } from '../common/records/sessions/sessions.ts';
import type { IndexStores } from '../common/storage/ports/dataset-indexes.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';

/** Parts that the service is created from. */
export interface ImproveServiceOptions {
  readonly store: DocumentStore;
  readonly messenger: Messenger;
  readonly workQueue: WatchedWorkQueue;
  readonly models: ModelSource;
  /** The embedder of the server. */
  readonly embedder: Embedder;
  /** Default: `embedder` for every tenant. */
  readonly embedders?: EmbedderSource;
  /** Read only: cognify writes graph and indexes. */
  readonly indexes: IndexStores;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  /** Absent: no traces are recorded. */
  readonly tracer?: Tracer;
  readonly settings?: Partial<ImproveSettings>;
}

/** Dependencies of engine and stages. A stage takes what it needs of them. */
export interface ImproveDependencies extends Omit<ImproveServiceOptions, 'settings' | 'embedder'> {
  /** `indexes.vectors` reaches each version by its own scope. */
  readonly vectorVersions: VectorIndexVersions;
  readonly embedders: EmbedderSource;
  readonly sessions: Sessions;
  readonly entries: SessionEntries;
  readonly watermarks: Watermarks;
  readonly weights: ElementWeights;
  readonly claims: ImproveClaims;
  readonly improveRequests: ImproveRequests;
  readonly scheduledStarts: ScheduledStarts;
  readonly settings: ImproveSettings;
}

export interface ImproveSettings {
  /** (0, 1] */
  readonly feedbackAlpha: number;
  readonly disabledStages: readonly StageName[];
  /** Improves that sessions request start by themselves. */
  readonly autoEnabled: boolean;
  /** Steps of one window; 0: all of the backlog. */
  readonly traceWindowSteps: number;
  /** Windows of one improve; 0: no limit. */
  readonly traceWindowsPerRun: number;
  /** Model calls for one session in one improve; 0: no limit. */
  readonly distillMaxBatches: number;
  /** CACHING: there are sessions. */
  readonly sessionMemory: boolean;
  /** AUTO_FEEDBACK: lessons are extracted from the steps of agents. */
  readonly autoFeedback: boolean;
  readonly personalizationEnabled: boolean;
  /** (0, 1]: how far one rating moves a preference. */
  readonly preferenceAlpha: number;
  /** [0, 1): what a preference loses towards neutral with each turn. */
  readonly preferenceBeta: number;
  /** TRIPLET_EMBEDDING: edges become texts that TRIPLET_COMPLETION searches. */
  readonly tripletEmbedding: boolean;
  /** Passes of one improve, including the first. */
  readonly maxPasses: number;
  /** An improve without a heartbeat for this long has lost its claims. */
  readonly leaseMs: number;
  /** How often jobs and requests of sessions are polled. */
  readonly pollMs: number;
  /** Improves in the background of one process at the same time. */
  readonly maxConcurrent: number;
  /** How long stopping waits for running improves. */
  readonly drainMs: number;
}

export const DEFAULT_IMPROVE_SETTINGS: ImproveSettings = {
  feedbackAlpha: 0.1,
  disabledStages: [],
  autoEnabled: true,
  traceWindowSteps: 30,
  traceWindowsPerRun: 10,
  distillMaxBatches: 0,
  sessionMemory: true,
  autoFeedback: true,
  personalizationEnabled: false,
  preferenceAlpha: 0.3,
  preferenceBeta: 0.02,
  tripletEmbedding: false,
  maxPasses: 3,
  leaseMs: 15_000,
  pollMs: 1000,
  maxConcurrent: 4,
  drainMs: 8000,
};
