import type { TenantId } from '../common/kernel/brand.ts';
import type { DatasetRef } from '../common/kernel/dataset.ts';
import type { Principal } from '../common/kernel/principal.ts';
import type { ConcurrencyLimit } from '../common/platform/async/concurrency-limit.ts';
import type { Messenger } from '../common/platform/messaging/messenger.ts';
import type { ActiveModels } from '../common/ports/active-models.ts';
import type { EmbedderSource } from '../common/ports/embedders.ts';
import type { Logger } from '../common/ports/logger.ts';
import type { Embedder } from '../common/ports/models.ts';
import type { Clock, IdSource } from '../common/ports/system.ts';
import type { Ledger } from '../common/records/cognify/ledger.ts';
import type { SourceAccess } from '../common/records/integrations/source-access.ts';
import type { SearchHistory } from '../common/records/search/search-history.ts';
import type { IndexStores } from '../common/storage/ports/dataset-indexes.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
import type { MarkDependencies } from './answers/mark-shown.ts';
import type { TurnRecorder } from './conversation/turn-recorder.ts';
import type { SearchSettings } from './model.ts';
import type { Readiness } from './recall/readiness.ts';
import type { SearchThreads } from './threads.ts';
import type { TypeDependencies } from './types/target.ts';

/** The language model of a tenant; without one, completions answer with quotes. */
export type SearchModels = Pick<ActiveModels, 'languageModel' | 'missingModelKey'>;

/** Dependencies of the search service. */
export interface SearchServiceOptions {
  readonly store: DocumentStore;
  readonly indexes: IndexStores;
  /** Absent: retrieval runs in this thread, on `indexes`. */
  readonly threads?: SearchThreads;
  /** The embedder of the server. */
  readonly embedder: Embedder;
  /** Embedders by tenant; default: `embedder` for all. */
  readonly embedders?: EmbedderSource;
  readonly models: { current(tenant?: TenantId): Promise<SearchModels> };
  readonly messenger: Messenger;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly settings: SearchSettings;
}

/** Dependencies of one search, with the models configured when it began. */
export interface SearchDependencies extends TypeDependencies, MarkDependencies {
  readonly embedder: Embedder;
  readonly turns: TurnRecorder;
  /** Takes the marking of an outcome, which is to be done before the reply; absent: the outcome is returned once it is marked. */
  readonly beforeReply?: (marking: Promise<void>) => void;
  /** Limits concurrent searches that call no model. */
  readonly limitSearches: ConcurrencyLimit;
  readonly history: SearchHistory;
  readonly sourceAccess: SourceAccess;
  readonly readiness: Readiness;
  /** What differs for a search of datasets that are copied into this process; null: nothing. */
  here(datasets: readonly DatasetRef[]): Promise<CopiedReads | null>;
}

type CopiedReads = Pick<
  SearchDependencies,
  'indexes' | 'ledger' | 'supersessions' | 'vectorVersions' | 'retriever' | 'knowledge' | 'quotes'
>;

/** Dependencies of the routes. */
export interface SearchParts extends Omit<SearchDependencies, keyof SearchModels> {
  readonly models: SearchServiceOptions['models'];
}

/**
 * Adds the models of the caller's tenant. Without a language model a search is limited as a whole: interleaving searches
 * that share one processor finishes none of them earlier, lengthens each turn of the event loop and keeps their objects
 * alive through cheap garbage collections. With a model a search mostly waits, so only its retrievals are limited.
 */
export async function withModels(parts: SearchParts, { tenant }: Principal): Promise<SearchDependencies> {
  const { languageModel, missingModelKey } = await parts.models.current(tenant);
  const limitSearches: ConcurrencyLimit = languageModel === null ? parts.limitSearches : (work) => work();
  return { ...parts, languageModel, missingModelKey, limitSearches };
}
