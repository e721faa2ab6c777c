import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { SearchDependencies } from '../dependencies.ts';
import type { InfluenceWish } from '../retrieval/learned-elements.ts';
import type { Retrieval } from '../retrieval/retrieval.ts';
import { gatherPassages, type QueryVector } from '../usecases/material.ts';
import type { SearchRequest } from '../usecases/search-request.ts';
import type { Conversation } from './conversation.ts';
import { mergeRetrievals } from './merge-retrievals.ts';

export interface TurnMaterial {
  /** What the passages were found for. */
  readonly query: string;
  readonly retrieval: Retrieval;
  /** Passages that only the conversation found. */
  readonly found: readonly string[];
}

/**
 * Passages for a question that is a turn of a conversation. A model is shown what the question finds together with what it
 * finds behind the turns before it; one of the two may fail. Quotes are made of one question: that which the
 * conversation completes.
 */
export async function gatherForTurn(
  deps: Pick<SearchDependencies, 'retriever' | 'clock' | 'languageModel'>,
  request: SearchRequest,
  target: {
    readonly dataset: DatasetRef;
    readonly vector: QueryVector;
    readonly limit: number;
    readonly influence: InfluenceWish;
    readonly conversation: Conversation | null;
  },
): Promise<TurnMaterial> {
  const { query } = request;
  const lookup = target.conversation?.lookup ?? null;
  if (lookup === null) return { query, retrieval: (await gatherPassages(deps, request, target)).retrieval, found: [] };
  const lookUp = async () => {
    const vector = await lookup.embedding.of(target.dataset);
    return gatherPassages(deps, { ...request, query: lookup.query }, { ...target, vector });
  };
  const behind = lookUp();
  if (deps.languageModel === null) {
    const { retrieval } = await behind;
    return { query: lookup.query, retrieval, found: retrieval.passages.map(({ id }) => id) };
  }
  const [own, conversational] = await Promise.allSettled([gatherPassages(deps, request, target), behind]);
  request.context.signal?.throwIfAborted();
  if (own.status === 'rejected') {
    if (conversational.status === 'rejected') throw own.reason;
    const { retrieval } = conversational.value;
    return { query, retrieval, found: retrieval.passages.map(({ id }) => id) };
  }
  const { retrieval } = own.value;
  if (conversational.status === 'rejected') return { query, retrieval, found: [] };
  const merged = mergeRetrievals(retrieval, conversational.value.retrieval, target.limit);
  const known = new Set(retrieval.passages.map(({ id }) => id));
  return { query, retrieval: merged, found: merged.passages.map(({ id }) => id).filter((id) => !known.has(id)) };
}
