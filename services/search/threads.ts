import type { DataItemId } from '../common/kernel/brand.ts';
import { scopeOf } from '../common/kernel/dataset.ts';
import type { DatasetScope } from '../common/kernel/scope.ts';
import { packPassages } from './answers/contexts.ts';
import type { ExtractiveAnswer } from './answers/extractive.ts';
import type { Knowledge, KnowledgeInput, KnowledgeReader } from './answers/knowledge.ts';
import type { QuoteInput, QuoteReader } from './answers/quotes.ts';
import { CURRENT } from './model.ts';
import type {
  KnowledgeLimits,
  QuoteOptions,
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
  /** The query answered with quotes of the packed passages, when it was requested and has no inner question. */
  readonly quotes?: ExtractiveAnswer;
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

/** Knowledge and an answer that came with a retrieval, by the visibility of that. */
export type PreparedAnswers = WeakMap<
  Visibility,
  {
    readonly knowledge: { readonly key: string; readonly value: Knowledge } | null;
    readonly quotes: { readonly key: string; readonly value: ExtractiveAnswer } | null;
  }
>;

/** Retrieves in threads that hold the data. */
export function createThreadRetriever(
  threads: SearchThreads,
  { ledger, learned }: Pick<RetrievalDependencies, 'ledger' | 'learned'>,
  known: PreparedAnswers,
): Retriever {
  return {
    async retrieve({ signal, ...request }) {
      const { scope, influence, query, view = CURRENT } = request;
      const [{ committed, knowledge, quotes, ...retrieval }, reader = null] = await Promise.all([
        threads.retrieve(scope, request, signal),
        influence && learned.reader(scope, influence),
      ]);
      const visibility = createVisibility(ledger, scope, committed);
      if (knowledge !== undefined || quotes !== undefined) {
        const passages = packPassages(retrieval.passages);
        known.set(visibility, {
          knowledge:
            knowledge !== undefined && request.knowledge !== undefined
              ? { key: keyOf({ passages, retrieval, query, view }, request.knowledge), value: knowledge }
              : null,
          quotes:
            quotes !== undefined && request.quotes !== undefined
              ? { key: quoteKeyOf({ query, passages, inner: null }, request.quotes), value: quotes }
              : null,
        });
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

function quoteKeyOf(
  { query, passages, inner }: Pick<QuoteInput, 'query' | 'passages' | 'inner'>,
  { dataset, quotes }: QuoteOptions,
): string {
  return JSON.stringify([query, inner?.outer ?? null, dataset, quotes, passages.map(({ id }) => id)]);
}

/** Answers with the quotes that came with the retrieval, when they are of the same passages and facts; else `here`. */
export function createThreadQuotes(here: QuoteReader, known: PreparedAnswers): QuoteReader {
  return async (dataset, found, options) => {
    const { knowledge = null, quotes = null } = known.get(found.retrieval.visibility) ?? {};
    const isOfFacts = knowledge === null ? found.facts.length === 0 : found.facts === knowledge.value.facts;
    if (isOfFacts && quotes?.key === quoteKeyOf(found, options)) return quotes.value;
    return here(dataset, found, options);
  };
}

/** Reads knowledge in threads; learned weights, which few datasets have, are read `here`. */
export function createThreadKnowledge(
  threads: SearchThreads,
  here: KnowledgeReader,
  known: PreparedAnswers,
): KnowledgeReader {
  return async (dataset, found, limits) => {
    const { passages, retrieval, query, view } = found;
    if (retrieval.learned !== null || passages.length === 0) return here(dataset, found, limits);
    const ready = known.get(retrieval.visibility)?.knowledge;
    if (ready?.key === keyOf(found, limits)) return ready.value;
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
