import { scopeOf } from '../common/kernel/dataset.ts';
import type { Clock } from '../common/ports/system.ts';
import { createLedger } from '../common/records/cognify/ledger.ts';
import { createSupersessions } from '../common/records/cognify/supersessions.ts';
import type { IndexStores } from '../common/storage/ports/dataset-indexes.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
import { packPassages } from './answers/contexts.ts';
import { knowledgeAround } from './answers/knowledge.ts';
import { CURRENT } from './model.ts';
import { createLearnedElements } from './retrieval/learned-weights.ts';
import { createRetriever } from './retrieval/pipeline.ts';
import type { RetrievalRequest, Retriever } from './retrieval/retrieval.ts';
import { createCurrentRetriever } from './retrieval/superseded-statements.ts';
import { createVisibility } from './retrieval/visibility.ts';
import type { SentKnowledge, SentRetrieval } from './threads.ts';

interface Stores {
  readonly store: DocumentStore;
  readonly indexes: IndexStores;
  readonly clock: Clock;
}

/** Retrieves on the stores that this thread reads. */
export function createPassageRetriever({ store, indexes, clock }: Stores): Retriever {
  const learned = createLearnedElements(store, clock);
  const retriever = createRetriever({ indexes, ledger: createLedger(store), learned });
  return createCurrentRetriever(retriever, createSupersessions(store));
}

/** The tasks of a thread that holds the data, see `SearchThreads`. */
export function createSearchTasks(stores: Stores) {
  const retriever = createPassageRetriever(stores);
  const ledger = createLedger(stores.store);
  const readers = { indexes: stores.indexes, supersessions: createSupersessions(stores.store) };
  return {
    async retrieve(request: RetrievalRequest): Promise<SentRetrieval> {
      const { visibility, learned, ...retrieval } = await retriever.retrieve(request);
      const { committed } = visibility;
      if (request.isForPassages) return { ...retrieval, committed, named: [], mentions: [] };
      if (request.knowledge === undefined || learned !== null) return { ...retrieval, committed };
      const { scope, query, view = CURRENT } = request;
      const passages = packPassages(retrieval.passages);
      const found = { passages, retrieval: { ...retrieval, visibility, learned }, query, view };
      const { withheld } = scope;
      const dataset = { tenant: scope.tenant, id: scope.dataset, ...(withheld === undefined ? {} : { withheld }) };
      const knowledge = await knowledgeAround(readers, dataset, found, request.knowledge);
      return { ...retrieval, committed, mentions: [], knowledge };
    },
    knowledge({ dataset, found, limits }: SentKnowledge) {
      const { committed, ...retrieval } = found.retrieval;
      const visibility = createVisibility(ledger, scopeOf(dataset), committed);
      const read = { ...found, retrieval: { ...retrieval, visibility, learned: null } };
      return knowledgeAround(readers, dataset, read, limits);
    },
  };
}
