import type { TenantId } from '../common/kernel/brand.ts';
import type { Extractor } from '../common/ports/extractor.ts';

/** The models as configured when a run begins. A run keeps them even when the configuration changes. */
export interface RunModels {
  readonly extractor: Extractor;
  /** The extractor calls a paid model: its answers are cached per dataset, so that no call is paid twice. */
  readonly keepExtractions: boolean;
  /** Upper limit of chunks, whatever the request says: they must fit the embedder and leave the model room for its answer. */
  readonly maxChunkTokens: number;
  /** Message of the `LLMAPIKeyNotSetError` that runs end with when a configured model lacks its key. */
  readonly missingModelKey: string | null;
}

export interface RunModelSource {
  current(tenant?: TenantId): Promise<RunModels>;
  /** Rules only, whatever is configured: for runs that are not billed. */
  withoutModel(): RunModels;
}

export interface CognifySettings {
  /** Chunk size when the request names none; at most `maxChunkTokens` of the models. */
  readonly automaticChunkTokens: number;
  /** `CHUNKS_PER_BATCH`: chunks of a document that are held in memory together. */
  readonly chunksPerBatch: number;
  /** Chunks of a run that are extracted at the same time; those of the first items go first. */
  readonly extractionConcurrency: number;
  /** Texts of one call of the embedder (`EMBEDDING_BATCH_SIZE`), and calls at the same time. */
  readonly embeddingBatchSize: number;
  readonly embeddingConcurrency: number;
  /** `RAISE_INCREMENTAL_LOADING_ERRORS`: the first failing item ends the run. False: it is reported and the others are built. */
  readonly raiseItemErrors: boolean;
  /** `ONTOLOGY_MODE`: what becomes of entities that the ontology of a run does not know, see `AppliedOntology`. */
  readonly ontologyMode: 'annotate' | 'strict';
  /** `ONTOLOGY_FILE_PATH`: files that runs use whose request names no ontology. */
  readonly ontologyFiles: readonly string[];
}

export const DEFAULT_COGNIFY_SETTINGS: CognifySettings = {
  automaticChunkTokens: 400,
  chunksPerBatch: 64,
  extractionConcurrency: 32,
  embeddingBatchSize: 256,
  embeddingConcurrency: 4,
  raiseItemErrors: false,
  ontologyMode: 'annotate',
  ontologyFiles: [],
};

export interface RunSettings {
  /** A worker without a heartbeat for this long has lost its runs. */
  readonly leaseMs: number;
  /** How often an idle worker polls for runs. */
  readonly pollMs: number;
  /** Runs at the same time in one process; a dataset never has two. */
  readonly maxConcurrentRuns: number;
  /** Claims of a run in a row without a committed item, after which it is ended because it seems to kill its workers. */
  readonly maxStalledClaims: number;
  /** Age from which a STARTED record without a job is closed. */
  readonly abandonedAfterMs: number;
  /** No other process uses the records: a STARTED record without a job from before the start is closed at once. */
  readonly ownsRecords: boolean;
  readonly reapEveryMs: number;
  /** `cancel`: runs end as ERRORED (CancelledError). `hand-over`: another worker continues them. */
  readonly onStop: 'cancel' | 'hand-over';
  /** When a store does not answer. `end`: the run ends as ERRORED. `retry`: it continues after a back-off. */
  readonly onStoreFailure: 'end' | 'retry';
  /** How long stopping waits for runs to end. */
  readonly drainMs: number;
}

export const DEFAULT_RUN_SETTINGS: RunSettings = {
  leaseMs: 15_000,
  pollMs: 1000,
  maxConcurrentRuns: 6,
  maxStalledClaims: 10,
  abandonedAfterMs: 3_600_000,
  ownsRecords: false,
  reapEveryMs: 60_000,
  onStop: 'cancel',
  onStoreFailure: 'end',
  drainMs: 8000,
};
