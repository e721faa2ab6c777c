import type { TenantId } from '../../common/kernel/brand.ts';
import type { Extractor } from '../../common/ports/extractor.ts';

/** The models as they are set when a run begins; it goes on with them whatever is set meanwhile. */
export interface RunModels {
  readonly extractor: Extractor;
  /** The extractor asks a model: answers are kept per dataset, so that no paid call is repeated. */
  readonly keepExtractions: boolean;
  /** No chunk is larger, whatever was asked for: it must fit the embedder and leave the model room for its answer. */
  readonly maxChunkTokens: number;
  /** A configured model lacks its key: runs end with this text (`LLMAPIKeyNotSetError`). */
  readonly missingModelKey: string | null;
}

export interface RunModelSource {
  current(tenant?: TenantId): Promise<RunModels>;
  /** Rules alone, whatever is set: for what nobody shall pay for. */
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
  /** `RAISE_INCREMENTAL_LOADING_ERRORS`: the first failing item ends the run. False: it is reported, and the others are built. */
  readonly raiseItemErrors: boolean;
}

export const DEFAULT_COGNIFY_SETTINGS: CognifySettings = {
  automaticChunkTokens: 400,
  chunksPerBatch: 64,
  extractionConcurrency: 32,
  embeddingBatchSize: 256,
  embeddingConcurrency: 4,
  raiseItemErrors: false,
};
