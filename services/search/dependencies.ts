import type { Gate } from '../common/domain/gate.ts';
import type { Messenger } from '../common/messaging/messenger.ts';
import type { DatasetIndexes } from '../common/ports/dataset-indexes.ts';
import type { DocumentStore } from '../common/ports/document-store.ts';
import type { Logger } from '../common/ports/logger.ts';
import type { Embedder, LanguageModel } from '../common/ports/models.ts';
import type { Clock, IdSource } from '../common/ports/system.ts';
import type { Ledger } from '../common/repositories/ledger.ts';
import type { SearchHistory } from '../common/repositories/search-history.ts';
import type { Retriever } from './retrieval/retrieval.ts';
import type { Readiness } from './usecases/readiness.ts';

export interface SearchSettings {
  /** ENABLE_BACKEND_ACCESS_CONTROL: answers carry their dataset. */
  readonly accessControl: boolean;
  /** COGNEE_LOG_SEARCH_HISTORY */
  readonly logSearchHistory: boolean;
  /** A configured model lacks its key: what completions end with (`LLMAPIKeyNotSetError`). */
  readonly missingModelKey?: string;
  /** LLM_ANSWER_STREAMING */
  readonly answerStreaming?: boolean;
  /** ALLOW_CYPHER_QUERY */
  readonly allowCypherQuery: boolean;
  /** RECALL_WARMUP_* */
  readonly recallWarmupShortcircuit: boolean;
  readonly recallWarmupThreshold: number;
  readonly recallWarmupCacheTtlMs: number;
  /** Searches at the same time: few where they share this machine's processors, many where servers do the work. */
  readonly concurrentSearches: number;
}

/** What the service is made from. */
export interface SearchServiceOptions {
  readonly store: DocumentStore;
  readonly indexes: Pick<DatasetIndexes, 'text' | 'vectors' | 'graph'>;
  readonly embedder: Embedder;
  /** Absent: completions answer with quotes. */
  readonly languageModel?: LanguageModel;
  readonly messenger: Messenger;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly settings: SearchSettings;
}

/** What its use cases work with. */
export interface SearchDependencies extends Omit<SearchServiceOptions, 'ids'> {
  readonly retriever: Retriever;
  /** Searches take their turn in it. */
  readonly turn: Gate;
  readonly history: SearchHistory;
  readonly readiness: Readiness;
}
