import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { RankedPassage, SearchRequest } from '../model.ts';
import { gatherPassages, type QueryVector } from '../retrieval/gather-passages.ts';
import type { InfluenceWish } from '../retrieval/learned-weights.ts';
import type { Retrieval } from '../retrieval/retrieval.ts';
import type { Conversation, ConversationDependencies } from './conversation.ts';

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
  deps: ConversationDependencies,
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

/** One of `limit` passages in three is kept for what only the conversation found (search-recall.md §4.4). */
function reservedOf(limit: number): number {
  return limit <= 2 ? 0 : Math.max(1, Math.floor(limit / 3));
}

/**
 * What a question found together with what it found behind the turns before it: first what both found, in the order of the
 * question, then what only the question, then what only the conversation found. Words and names are those of the question.
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
    links: [...own.links, ...conversational.links],
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
