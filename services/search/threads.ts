import type { DataItemId } from '../common/kernel/brand.ts';
import { scopeOf } from '../common/kernel/dataset.ts';
import type { DatasetScope } from '../common/kernel/scope.ts';
import { packPassages } from './answers/contexts.ts';
import type { Knowledge, KnowledgeInput, KnowledgeReader } from './answers/knowledge.ts';
import { CURRENT } from './model.ts';
import type {
  KnowledgeLimits,
  Retrieval,
  RetrievalDependencies,
  RetrievalRequest,
  Retriever,
  SearchedDataset,
} from './retrieval/retrieval.ts';
import { createVisibility, type Visibility } from './retrieval/visibility.ts';

type Committed = { readonly committed: ReadonlyMap<DataItemId, number> };

/** A retrieval as a thread can send it: without its readers, which are functions. */
export interface SentRetrieval extends Omit<Retrieval, 'visibility' | 'learned'>, Committed {
  /** Around the packed passages, when it was requested; the mentions are left out then. */
  readonly knowledge?: Knowledge;
}

/** The input of `knowledgeAround` as it can be sent. */
export interface SentKnowledge {
  readonly dataset: SearchedDataset;
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

/** Knowledge that came with a retrieval, by the visibility of that. */
export type KnowledgeOfRetrievals = WeakMap<Visibility, { readonly key: string; readonly knowledge: Knowledge }>;

/** Retrieves in threads that hold the data. */
export function createThreadRetriever(
  threads: SearchThreads,
  { ledger, learned }: Pick<RetrievalDependencies, 'ledger' | 'learned'>,
  known: KnowledgeOfRetrievals,
): Retriever {
  return {
    async retrieve({ signal, ...request }) {
      const { scope, influence, query, view = CURRENT } = request;
      const [{ committed, knowledge, ...retrieval }, reader = null] = await Promise.all([
        threads.retrieve(scope, request, signal),
        influence && learned.reader(scope, influence),
      ]);
      const visibility = createVisibility(ledger, scope, committed);
      if (knowledge !== undefined && request.knowledge !== undefined) {
        const passages = packPassages(retrieval.passages);
        known.set(visibility, { key: keyOf({ passages, retrieval, query, view }, request.knowledge), knowledge });
      }
      return { ...retrieval, visibility, learned: reader };
    },
  };
}

/** Inputs that knowledge depends on, beside the data that both readings see. */
function keyOf(
  {
    passages,
    retrieval,
    query,
    view,
  }: Omit<KnowledgeInput, 'retrieval'> & {
    readonly retrieval: Pick<KnowledgeInput['retrieval'], 'named'>;
  },
  limits: KnowledgeLimits,
): string {
  const vias = passages.map(({ id, explanation: { via } }) => [id, via]);
  return JSON.stringify([query, view, limits, retrieval.named.map(({ entityId }) => entityId), vias]);
}

/** Reads knowledge in threads; learned weights, which few datasets have, are read `here`. */
export function createThreadKnowledge(
  threads: SearchThreads,
  here: KnowledgeReader,
  known: KnowledgeOfRetrievals,
): KnowledgeReader {
  return async (dataset, found, limits) => {
    const { passages, retrieval, query, view } = found;
    if (retrieval.learned !== null || passages.length === 0) return here(dataset, found, limits);
    const ready = known.get(retrieval.visibility);
    if (ready?.key === keyOf(found, limits)) return ready.knowledge;
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
