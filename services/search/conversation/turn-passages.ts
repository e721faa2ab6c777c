import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { RankedPassage, SearchRequest } from '../model.ts';
import type { InfluenceOptions } from '../retrieval/learned-weights.ts';
import type { KnowledgeLimits, QuoteOptions, Retrieval } from '../retrieval/retrieval.ts';
import { type QueryVector, retrievePassages } from '../retrieval/retrieve-passages.ts';
import type { Conversation, ConversationDependencies } from './conversation.ts';

export interface TurnPassages {
  /** The query that the passages were retrieved for. */
  readonly query: string;
  readonly retrieval: Retrieval;
  /** Passages that only the follow-up query found. */
  readonly found: readonly string[];
}

/**
 * Retrieves the passages for a question of a conversation. For a model the results of the question and of its follow-up
 * query are merged, and one of the two may fail. Without a model the follow-up query replaces the question.
 */
export async function retrieveTurnPassages(
  deps: ConversationDependencies,
  request: SearchRequest,
  target: {
    readonly dataset: DatasetRef;
    readonly vector: QueryVector;
    readonly limit: number;
    readonly influence: InfluenceOptions;
    readonly conversation: Conversation | null;
    readonly knowledge?: KnowledgeLimits;
    readonly quotes?: QuoteOptions;
  },
): Promise<TurnPassages> {
  const { query } = request;
  const lookup = target.conversation?.lookup ?? null;
  if (lookup === null) return { query, retrieval: await retrievePassages(deps, request, target), found: [] };
  const lookUp = async () => {
    const vector = await lookup.embedding.of(target.dataset);
    return retrievePassages(deps, { ...request, query: lookup.query }, { ...target, vector });
  };
  const followUp = lookUp();
  if (deps.languageModel === null) {
    const retrieval = await followUp;
    return { query: lookup.query, retrieval, found: retrieval.passages.map(({ id }) => id) };
  }
  const [own, conversational] = await Promise.allSettled([retrievePassages(deps, request, target), followUp]);
  request.context.signal?.throwIfAborted();
  if (own.status === 'rejected') {
    if (conversational.status === 'rejected') throw own.reason;
    const retrieval = conversational.value;
    return { query, retrieval, found: retrieval.passages.map(({ id }) => id) };
  }
  const retrieval = own.value;
  if (conversational.status === 'rejected') return { query, retrieval, found: [] };
  const merged = mergeRetrievals(retrieval, conversational.value, target.limit);
  const known = new Set(retrieval.passages.map(({ id }) => id));
  return { query, retrieval: merged, found: merged.passages.map(({ id }) => id).filter((id) => !known.has(id)) };
}

/** Every third passage is reserved for results of the follow-up query alone (search-recall.md §4.4). */
function reservedOf(limit: number): number {
  return limit <= 2 ? 0 : Math.max(1, Math.floor(limit / 3));
}

/**
 * Merges the retrieval of a question with that of its follow-up query: first passages of both, in the order of the
 * question, then those of the question alone, then those of the follow-up alone. The analysis is that of the question.
 */
export function mergeRetrievals(own: Retrieval, conversational: Retrieval, limit: number): Retrieval {
  const found = new Set(conversational.passages.map(({ id }) => id));
  const known = new Set(own.passages.map(({ id }) => id));
  const both = own.passages.filter(({ id }) => found.has(id));
  const ownOnly = own.passages.filter(({ id }) => !found.has(id));
  const further = conversational.passages.filter(({ id }) => !known.has(id));
  const reserved = Math.min(further.length, reservedOf(limit));
  const first = [...both, ...ownOnly].slice(0, Math.max(0, limit - reserved));
  const passages: readonly RankedPassage[] = [...first, ...further.slice(0, limit - first.length)];
  return {
    ...own,
    passages,
    named: distinct([...own.named, ...conversational.named], ({ entityId }) => entityId),
    mentions: distinct([...own.mentions, ...conversational.mentions], (edge) =>
      [edge.item, edge.source, edge.relation, edge.target].join('\n'),
    ),
  };
}

function distinct<Value>(values: readonly Value[], keyOf: (value: Value) => string): readonly Value[] {
  const seen = new Set<string>();
  return values.filter((value) => {
    const key = keyOf(value);
    return !seen.has(key) && seen.add(key).has(key);
  });
}
