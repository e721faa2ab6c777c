import type { DataItemId } from '../common/kernel/brand.ts';
import type { DatasetScope } from '../common/kernel/scope.ts';
import type { Clock } from '../common/ports/system.ts';
import { createLedger } from '../common/records/cognify/ledger.ts';
import { createSupersessions } from '../common/records/cognify/supersessions.ts';
import type { IndexStores } from '../common/storage/ports/dataset-indexes.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
import { createLearnedElements } from './retrieval/learned-weights.ts';
import { createRetriever } from './retrieval/pipeline.ts';
import type { Retrieval, RetrievalDependencies, RetrievalRequest, Retriever } from './retrieval/retrieval.ts';
import { createCurrentRetriever } from './retrieval/superseded-statements.ts';
import { createVisibility } from './retrieval/visibility.ts';

/** A retrieval as a thread can send it: without its readers, which are functions. */
interface SentRetrieval extends Omit<Retrieval, 'visibility' | 'learned'> {
  /** Generations of `Retrieval.visibility`. */
  readonly committed: ReadonlyMap<DataItemId, number>;
}

/** Threads that hold the data and retrieve there, in one trip for each request. */
export interface SearchThreads {
  retrieve(
    scope: DatasetScope,
    request: Omit<RetrievalRequest, 'signal'>,
    signal?: AbortSignal,
  ): Promise<SentRetrieval>;
}

/** Retrieves on the stores that this thread reads. */
export function createPassageRetriever(deps: {
  readonly store: DocumentStore;
  readonly indexes: IndexStores;
  readonly clock: Clock;
}): Retriever {
  const { store, indexes, clock } = deps;
  const learned = createLearnedElements(store, clock);
  const retriever = createRetriever({ indexes, ledger: createLedger(store), learned });
  return createCurrentRetriever(retriever, createSupersessions(store));
}

/** The tasks of a thread. */
export function createSearchTasks(retriever: Retriever) {
  return {
    async retrieve(request: RetrievalRequest): Promise<SentRetrieval> {
      const { visibility, learned: _, ...retrieval } = await retriever.retrieve(request);
      const { committed } = visibility;
      return request.isForPassages ? { ...retrieval, committed, named: [], mentions: [] } : { ...retrieval, committed };
    },
  };
}

/** Retrieves in threads that hold the data. */
export function createThreadRetriever(
  threads: SearchThreads,
  { ledger, learned }: Pick<RetrievalDependencies, 'ledger' | 'learned'>,
): Retriever {
  return {
    async retrieve({ signal, ...request }) {
      const { scope, influence } = request;
      const [{ committed, ...retrieval }, reader = null] = await Promise.all([
        threads.retrieve(scope, request, signal),
        influence && learned.reader(scope, influence),
      ]);
      return { ...retrieval, visibility: createVisibility(ledger, scope, committed), learned: reader };
    },
  };
}
