import type { DataItemId } from '../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../common/kernel/dataset.ts';
import type { DatasetScope } from '../common/kernel/scope.ts';
import type { Knowledge, KnowledgeInput, KnowledgeLimits, KnowledgeReader } from './answers/knowledge.ts';
import type { Retrieval, RetrievalDependencies, RetrievalRequest, Retriever } from './retrieval/retrieval.ts';
import { createVisibility } from './retrieval/visibility.ts';

type Committed = { readonly committed: ReadonlyMap<DataItemId, number> };

/** A retrieval as a thread can send it: without its readers, which are functions. */
export interface SentRetrieval extends Omit<Retrieval, 'visibility' | 'learned'>, Committed {}

/** The input of `knowledgeAround` as it can be sent. */
export interface SentKnowledge {
  readonly dataset: DatasetRef;
  readonly found: Omit<KnowledgeInput, 'retrieval'> & {
    readonly retrieval: Pick<KnowledgeInput['retrieval'], 'mentions' | 'named'> & Committed;
  };
  readonly limits: KnowledgeLimits;
}

/** Threads that hold the data and search there, in one trip for each request. */
export interface SearchThreads {
  retrieve(
    scope: DatasetScope,
    request: Omit<RetrievalRequest, 'signal'>,
    signal?: AbortSignal,
  ): Promise<SentRetrieval>;
  knowledge(scope: DatasetScope, request: SentKnowledge): Promise<Knowledge>;
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

/** Reads knowledge in threads; learned weights, which few datasets have, are read `here`. */
export function createThreadKnowledge(threads: SearchThreads, here: KnowledgeReader): KnowledgeReader {
  return async (dataset, found, limits) => {
    const { passages, retrieval, query, view } = found;
    if (retrieval.learned !== null || passages.length === 0) return here(dataset, found, limits);
    const ids = new Set(passages.map(({ id }) => id));
    return threads.knowledge(scopeOf(dataset), {
      dataset,
      found: {
        query,
        view,
        passages: passages.map(({ id, explanation: { via } }) => ({ id, explanation: { via } })),
        retrieval: {
          committed: retrieval.visibility.committed,
          mentions: retrieval.mentions.filter(({ source }) => ids.has(source)),
          named: retrieval.named.map(({ entityId }) => ({ entityId })),
        },
      },
      limits,
    });
  };
}
