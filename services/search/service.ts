import type { Service } from '../common/lifecycle/service.ts';
import { eraseSearched as eraseMethod } from '../common/messaging/methods/search.ts';
import type { Subscription } from '../common/ports/bus.ts';
import type { AnyCollection } from '../common/ports/document-store.ts';
import { createSearchHistory, searchHistoryCollection } from '../common/repositories/search-history.ts';
import type { SearchDependencies, SearchServiceOptions } from './dependencies.ts';
import { createRetriever } from './retrieval/pipeline.ts';
import { recallRoutes } from './routes/recall.ts';
import { searchRoutes } from './routes/search.ts';
import { visualizeRoutes } from './routes/visualize.ts';
import { eraseSearched } from './usecases/erase-searched.ts';
import { createReadiness } from './usecases/readiness.ts';

/** What the composition root prepares in the document store for this service. */
export const searchCollections: readonly AnyCollection[] = [searchHistoryCollection];

/** Search, recall and their history: see README.md. */
export function createSearchService(options: SearchServiceOptions): Service {
  const { ids, ...rest } = options;
  const deps: SearchDependencies = {
    ...rest,
    retriever: createRetriever({ indexes: options.indexes, ledger: options.ledger }),
    history: createSearchHistory(options.store, ids),
    readiness: createReadiness(options),
  };
  let subscriptions: readonly Subscription[] = [];
  return {
    name: 'search',
    routes: [
      ...searchRoutes(deps),
      ...recallRoutes(deps),
      ...visualizeRoutes({ ...options.indexes, ledger: options.ledger, messenger: options.messenger }),
    ],
    sockets: [],
    async start() {
      subscriptions = [await options.messenger.serve(eraseMethod, ({ dataset }) => eraseSearched(deps, dataset))];
    },
    async stop() {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      subscriptions = [];
    },
  };
}
