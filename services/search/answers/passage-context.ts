import type { RankedPassage } from '../retrieval/retrieval.ts';

/** Characters of context that an answer is made from: about 12,000 tokens. */
const CONTEXT_BUDGET = 48_000;

/**
 * As many passages as fit, best first; the first is always in, cut when it alone is too long. Rank order is kept,
 * because readers weigh what comes first.
 */
export function packPassages(
  passages: readonly RankedPassage[],
  budget: number = CONTEXT_BUDGET,
): readonly RankedPassage[] {
  const packed: RankedPassage[] = [];
  let used = 0;
  for (const passage of passages) {
    const size = passage.payload.text.length;
    if (used + size > budget && packed.length > 0) continue;
    packed.push(size > budget ? cut(passage, budget) : passage);
    used += size;
  }
  return packed;
}

function cut(passage: RankedPassage, length: number): RankedPassage {
  return { ...passage, payload: { ...passage.payload, text: passage.payload.text.slice(0, length) } };
}
