export interface CognifySettings {
  /** `EMBEDDING_MAX_COMPLETION_TOKENS`: no chunk is larger, whatever was asked for. */
  readonly maxChunkTokens: number;
  /** Chunk size when the request names none; at most `maxChunkTokens`. */
  readonly automaticChunkTokens: number;
  /** `CHUNKS_PER_BATCH`: chunks of a document that are held in memory together. */
  readonly chunksPerBatch: number;
  /** Chunks of a run that are extracted at the same time; those of the first items go first. */
  readonly extractionConcurrency: number;
  /** Texts of one call of the embedder (`EMBEDDING_BATCH_SIZE`), and calls at the same time. */
  readonly embeddingBatchSize: number;
  readonly embeddingConcurrency: number;
  /** The extractor asks a model: answers are kept per dataset, so that no paid call is repeated. */
  readonly keepExtractions: boolean;
  /** `RAISE_INCREMENTAL_LOADING_ERRORS`: the first failing item ends the run. False: the others go on first. */
  readonly raiseItemErrors: boolean;
  /** A configured model lacks its key: runs end with this text (`LLMAPIKeyNotSetError`). */
  readonly missingModelKey?: string;
}

export const DEFAULT_COGNIFY_SETTINGS: CognifySettings = {
  maxChunkTokens: 4096,
  automaticChunkTokens: 400,
  chunksPerBatch: 64,
  extractionConcurrency: 32,
  embeddingBatchSize: 256,
  embeddingConcurrency: 4,
  keepExtractions: false,
  raiseItemErrors: true,
};
