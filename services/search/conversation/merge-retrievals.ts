import type { RankedPassage, Retrieval } from '../retrieval/retrieval.ts';

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
