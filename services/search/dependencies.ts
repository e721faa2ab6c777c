import type { TenantId } from '../common/kernel/brand.ts';
import type { Principal } from '../common/kernel/principal.ts';
import type { ConcurrencyLimit } from '../common/platform/async/concurrency-limit.ts';
import type { Messenger } from '../common/platform/messaging/messenger.ts';
import type { ActiveModels } from '../common/ports/active-models.ts';
import type { EmbedderSource } from '../common/ports/embedders.ts';
import type { Logger } from '../common/ports/logger.ts';
import type { Embedder } from '../common/ports/models.ts';
import type { Clock, IdSource } from '../common/ports/system.ts';
import type { Ledger } from '../common/records/cognify/ledger.ts';
import type { SearchHistory } from '../common/records/search/search-history.ts';
import type { DatasetIndexes } from '../common/storage/ports/dataset-indexes.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
import type { MarkDependencies } from './answers/mark-shown.ts';
import type { TurnKeeper } from './conversation/turn-keeper.ts';
import type { SearchSettings } from './model.ts';
import type { Readiness } from './recall/readiness.ts';
import type { TypeDependencies } from './types/target.ts';

/** Without a model completions answer with quotes. */
export type SearchModels = Pick<ActiveModels, 'languageModel' | 'missingModelKey'>;

/** What the service is made from. */
export interface SearchServiceOptions {
  readonly store: DocumentStore;
  readonly indexes: Pick<DatasetIndexes, 'text' | 'vectors' | 'graph'>;
  /** The server's own. */
  readonly embedder: Embedder;
  /** Default: that one for everybody. */
  readonly embedders?: EmbedderSource;
  readonly models: { current(tenant?: TenantId): Promise<SearchModels> };
  readonly messenger: Messenger;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly settings: SearchSettings;
}

/** What one search works with: the models as they were set when it came. */
export interface SearchDependencies extends TypeDependencies, MarkDependencies {
  readonly embedder: Embedder;
  readonly turns: TurnKeeper;
  /** Searches that no model is asked for take their turn in it. */
  readonly turn: ConcurrencyLimit;
  readonly history: SearchHistory;
  readonly readiness: Readiness;
}

/** What the routes work with. */
export interface SearchParts extends Omit<SearchDependencies, keyof SearchModels> {
  readonly models: SearchServiceOptions['models'];
}

/**
 * Searches that share one processor end no sooner for being interleaved: each turn of the event loop, which takes one new
 * connection, gets as long as all of them together need, and what they hold meanwhile survives the cheap garbage
 * collections. A model's answer is waited for, not computed: with one, only the retrievals take turns.
 */
export async function withModels(parts: SearchParts, { tenant }: Principal): Promise<SearchDependencies> {
  const { languageModel, missingModelKey } = await parts.models.current(tenant);
  const turn: ConcurrencyLimit = languageModel === null ? parts.turn : (work) => work();
  return { ...parts, languageModel, missingModelKey, turn };
}
