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
import type { VectorHomes } from '../common/records/cognify/vector-homes.ts';
import type { ElementWeights } from '../common/records/improve/element-weights.ts';
import type { ImproveClaims } from '../common/records/improve/improve-claims.ts';
import type { ImproveWishes } from '../common/records/improve/improve-wishes.ts';
import type { Watermarks } from '../common/records/improve/watermarks.ts';
import type { SessionEntries } from '../common/records/sessions/session-entries.ts';
import type { Sessions } from '../common/records/sessions/sessions.ts';
import type { DatasetIndexes } from '../common/storage/ports/dataset-indexes.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';

/** What the service is made from. */
export interface ImproveServiceOptions {
  readonly store: DocumentStore;
  readonly messenger: Messenger;
  readonly workQueue: WatchedWorkQueue;
  readonly models: ModelSource;
  /** The server's own. */
  readonly embedder: Embedder;
  /** Default: that one for everybody. */
  readonly embedders?: EmbedderSource;
  /** The graph and the indexes are cognify's, which writes what it is sent. */
  readonly indexes: Pick<DatasetIndexes, 'text' | 'vectors' | 'graph'>;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer;
  readonly settings?: Partial<ImproveSettings>;
}

/** What the engine and the stages work with. A stage takes what it needs of it. */
export interface ImproveDependencies extends Omit<ImproveServiceOptions, 'settings' | 'embedder'> {
  /** `indexes.vectors` reach each home by its own scope. */
  readonly homes: Pick<VectorHomes, 'active'>;
  readonly embedders: EmbedderSource;
  readonly sessions: Sessions;
  readonly entries: SessionEntries;
  readonly watermarks: Watermarks;
  readonly weights: ElementWeights;
  readonly claims: ImproveClaims;
  readonly wishes: ImproveWishes;
  readonly scheduledStarts: ScheduledStarts;
  readonly settings: ImproveSettings;
}

export interface ImproveSettings {
  /** (0, 1] */
  readonly feedbackAlpha: number;
  readonly disabledStages: readonly StageName[];
  /** Wishes are taken up. */
  readonly autoEnabled: boolean;
  /** 0: all that wait. */
  readonly traceWindowSteps: number;
  /** 0: no limit. */
  readonly traceWindowsPerRun: number;
  /** Model calls for one session in one improve; 0: no limit. */
  readonly distillMaxBatches: number;
  /** CACHING: there are sessions. */
  readonly sessionMemory: boolean;
  /** AUTO_FEEDBACK: what agents do is learned from. */
  readonly autoFeedback: boolean;
  readonly personalizationEnabled: boolean;
  /** (0, 1]: how far one rating moves a preference. */
  readonly preferenceAlpha: number;
  /** [0, 1): what a preference loses towards neutral with each turn. */
  readonly preferenceBeta: number;
  /** TRIPLET_EMBEDDING: edges become texts that TRIPLET_COMPLETION searches. */
  readonly tripletEmbedding: boolean;
  /** Of one improve, the first included. */
  readonly maxPasses: number;
  /** An improve that shows no sign of life for so long has lost what it claimed. */
  readonly leaseMs: number;
  /** How often jobs and wishes are looked for without having been told of one. */
  readonly pollMs: number;
  /** Improves in the background of one process at the same time. */
  readonly maxConcurrent: number;
  /** How long stopping waits for what runs. */
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
