import { scopeOf } from '../common/kernel/dataset.ts';
import type { Clock } from '../common/ports/system.ts';
import { createLedger } from '../common/records/cognify/ledger.ts';
import { createSupersessions } from '../common/records/cognify/supersessions.ts';
import type { IndexStores } from '../common/storage/ports/dataset-indexes.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
import { packPassages } from './answers/contexts.ts';
import { asksForTime } from './answers/dated-answer.ts';
import { answerInner } from './answers/inner-question.ts';
import { knowledgeAround } from './answers/knowledge.ts';
import { quotesFrom } from './answers/quotes.ts';
import { CURRENT } from './model.ts';
import { createLearnedElements } from './retrieval/learned-weights.ts';
import { createRetriever } from './retrieval/pipeline.ts';
import type { Retrieval, RetrievalRequest, Retriever } from './retrieval/retrieval.ts';
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
      const { scope, query, view = CURRENT, knowledge: limits, quotes: options } = request;
      const { withheld } = scope;
      const dataset = { tenant: scope.tenant, id: scope.dataset, ...(withheld === undefined ? {} : { withheld }) };
      const passages = packPassages(retrieval.passages);
      const found = { passages, retrieval: { ...retrieval, visibility, learned }, query, view };
      if (limits !== undefined && learned !== null) return { ...retrieval, committed };
      const knowledge = limits === undefined ? null : await knowledgeAround(readers, dataset, found, limits);
      const quoted = { ...found, inner: null, facts: knowledge?.facts ?? [] };
      return {
        ...retrieval,
        committed,
        ...(knowledge === null ? {} : { knowledge, mentions: [] }),
        ...(options !== undefined && isQuoted(query, retrieval)
          ? { quotes: await quotesFrom(readers, dataset, quoted, options) }
          : {}),
      };
    },
    knowledge({ dataset, found, limits }: SentKnowledge) {
      const { committed, ...retrieval } = found.retrieval;
      const visibility = createVisibility(ledger, scopeOf(dataset), committed);
      const read = { ...found, retrieval: { ...retrieval, visibility, learned: null } };
      return knowledgeAround(readers, dataset, read, limits);
    },
  };
}

/** Whether a question is answered with quotes of its passages alone: not with a list of events, nor in two steps. */
function isQuoted(query: string, { analysis, passages }: Pick<Retrieval, 'analysis' | 'passages'>): boolean {
  const isList = analysis.timeWindow !== null && asksForTime(analysis);
  return passages.length > 0 && !isList && answerInner(query, passages) === null;
}
