import { createGate } from '../common/domain/gate.ts';
import type { Service } from '../common/lifecycle/service.ts';
import { accessChanges, EVERY_TENANT } from '../common/messaging/methods/auth.ts';
import { eraseSearched as eraseMethod } from '../common/messaging/methods/search.ts';
import type { Subscription } from '../common/ports/bus.ts';
import type { AnyCollection } from '../common/ports/document-store.ts';
import { createSearchHistory, searchHistoryCollection } from '../common/repositories/search-history.ts';
import type { SearchParts, SearchServiceOptions } from './dependencies.ts';
import { boundRetrievals } from './retrieval/bounded-retriever.ts';
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
  const limit = options.settings.concurrentSearches;
  const retriever = createRetriever({ indexes: options.indexes, ledger: options.ledger });
  const deps: SearchParts = {
    ...rest,
    retriever: boundRetrievals(retriever, limit),
    turn: createGate(limit),
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
      const { messenger } = options;
      subscriptions = await Promise.all([
        messenger.serve(eraseMethod, ({ dataset }) => eraseSearched(deps, dataset)),
        messenger.subscribe(accessChanges, EVERY_TENANT, ({ datasetId }) => {
          if (datasetId !== null) deps.readiness.forget(datasetId);
        }),
      ]);
    },
    async stop() {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      subscriptions = [];
    },
  };
}
