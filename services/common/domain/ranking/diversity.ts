/** What near-duplicate detection and caps look at. */
export interface DiverseItem {
  readonly id: string;
  readonly documentId: string;
  readonly text: string;
}

export interface Collapsed<Item> {
  readonly item: Item;
  /** Items of the list that say the same, this one included. */
  readonly support: number;
  /** Ids of the items it stands for. */
  readonly duplicates: readonly string[];
}

/** Words that turn a statement round: texts that differ in them are no duplicates, however alike they look. */
const DECISIVE = /\p{N}|^(?:not|no|never|none|without|cannot|isnt|wasnt|arent|werent|dont|doesnt|didnt|wont|cant)$/u;
const SHINGLE = 3;

/**
 * Collapses items whose texts are near-duplicates into the first of them (3-word shingle Jaccard ≥ `threshold`, and the
 * same numbers and negations). Order is kept.
 */
export function collapseNearDuplicates<Item extends DiverseItem>(
  items: readonly Item[],
  threshold = 0.9,
): readonly Collapsed<Item>[] {
  const kept: { item: Item; print: Fingerprint; duplicates: string[] }[] = [];
  for (const item of items) {
    const print = fingerprint(item.text);
    const same = kept.find((other) => isNearDuplicate(other.print, print, threshold));
    if (same === undefined) kept.push({ item, print, duplicates: [] });
    else same.duplicates.push(item.id);
  }
  return kept.map(({ item, duplicates }) => ({ item, duplicates, support: duplicates.length + 1 }));
}

/**
 * At most `limit` items of one document come first; the others follow after all documents had their turn, so that the
 * cap orders but never loses.
 */
export function capPerDocument<Item extends Pick<DiverseItem, 'documentId'>>(
  items: readonly Item[],
  limit: number,
): readonly Item[] {
  const counts = new Map<string, number>();
  const first: Item[] = [];
  const rest: Item[] = [];
  for (const item of items) {
    const count = counts.get(item.documentId) ?? 0;
    counts.set(item.documentId, count + 1);
    (count < limit ? first : rest).push(item);
  }
  return [...first, ...rest];
}

/**
 * Maximal marginal relevance (Carbonell and Goldstein 1998): picks by `lambda · relevance − (1 − lambda) · similarity` to
 * the most similar item picked before. Relevance is scaled to 0…1 by its maximum.
 */
export function maximalMarginalRelevance<Item>(
  items: readonly Item[],
  options: {
    readonly relevance: (item: Item) => number;
    /** 0 to 1, symmetric. */
    readonly similarity: (left: Item, right: Item) => number;
    readonly lambda: number;
    readonly limit: number;
  },
): readonly Item[] {
  const top = Math.max(...items.map(options.relevance), Number.MIN_VALUE);
  const pool = items.map((item) => ({ item, relevance: options.relevance(item) / top, closest: 0 }));
  const picked: Item[] = [];
  while (pool.length > 0 && picked.length < options.limit) {
    let best = 0;
    let bestValue = Number.NEGATIVE_INFINITY;
    for (const [position, entry] of pool.entries()) {
      const value = options.lambda * entry.relevance - (1 - options.lambda) * entry.closest;
      if (value > bestValue) {
        bestValue = value;
        best = position;
      }
    }
    const [chosen] = pool.splice(best, 1);
    if (chosen === undefined) break;
    picked.push(chosen.item);
    for (const entry of pool) entry.closest = Math.max(entry.closest, options.similarity(entry.item, chosen.item));
  }
  return picked;
}

interface Fingerprint {
  readonly shingles: ReadonlySet<string>;
  readonly decisive: string;
}

function fingerprint(text: string): Fingerprint {
  const words =
    text
      .toLowerCase()
      .replaceAll(/['’]/gu, '')
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  const shingles = new Set<string>();
  for (let at = 0; at + SHINGLE <= words.length; at++) shingles.add(words.slice(at, at + SHINGLE).join(' '));
  if (shingles.size === 0) shingles.add(words.join(' '));
  return { shingles, decisive: words.filter((word) => DECISIVE.test(word)).join(' ') };
}

function isNearDuplicate(left: Fingerprint, right: Fingerprint, threshold: number): boolean {
  const [small, large] = left.shingles.size < right.shingles.size ? [left, right] : [right, left];
  // The Jaccard index cannot reach the threshold when the sizes differ more than this.
  if (small.shingles.size < threshold * large.shingles.size || left.decisive !== right.decisive) return false;
  let common = 0;
  for (const shingle of small.shingles) if (large.shingles.has(shingle)) common++;
  return common / (small.shingles.size + large.shingles.size - common) >= threshold;
}
