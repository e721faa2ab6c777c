import { recentlyUsed } from '../kernel/recently-used.ts';

/** Input of near-duplicate detection. */
interface DiverseItem {
  readonly id: string;
  readonly text: string;
}

interface Collapsed<Item> {
  readonly item: Item;
  /** Number of near-duplicates in the list, this one included. */
  readonly support: number;
  /** Ids of the collapsed items. */
  readonly duplicates: readonly string[];
}

/** Words that reverse a statement: texts that differ in them are not duplicates. */
const NEGATION = /\b(?:not?|never|none|without|cannot|(?:is|was|are|were|do|does|did|wo|ca)nt|\w+n['’]t)\b/gi;
const NUMBER = /\b\w*\d\w*|[²³¹¼-¾]/g;
/** Numbers of other scripts, looked for only where there are any: a pattern of Unicode classes reads a text ten times slower. */
const OTHER_SCRIPT = /[\u0660-\u1fff\u2150-\uffff]/;
const OTHER_NUMBER = /\p{N}+/gu;
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
  for (const { item, print } of items.map((item) => ({ item, print: fingerprintOf(item.text) }))) {
    const same = kept.find((other) => isNearDuplicate(other.print, print, threshold));
    if (same === undefined) kept.push({ item, print, duplicates: [] });
    else same.duplicates.push(item.id);
  }
  return kept.map(({ item, duplicates }) => ({ item, duplicates, support: duplicates.length + 1 }));
}

type Fingerprint = ReturnType<typeof fingerprint>;

/** Texts whose fingerprints are kept: questions about a subject find the same ones. Some MB of passages. */
const CACHED_TEXTS = 256;
const LONGEST_CACHED_TEXT = 4000;
const cache = new Map<string, Fingerprint>();

function fingerprintOf(text: string): Fingerprint {
  if (text.length > LONGEST_CACHED_TEXT) return fingerprint(text);
  return recentlyUsed(cache, CACHED_TEXTS, text, () => fingerprint(text));
}

function fingerprint(text: string) {
  let made: ReadonlySet<string> | null = null;
  return {
    decisive: (OTHER_SCRIPT.test(text) ? [NEGATION, NUMBER, OTHER_NUMBER] : [NEGATION, NUMBER])
      .map((pattern) => text.match(pattern)?.join(' ') ?? '')
      .join(';')
      .toLowerCase()
      .replaceAll(/['’]/g, ''),
    /** Computed on first use: few pairs have the same decisive words. */
    shingles() {
      made ??= shinglesOf(wordsOf(text));
      return made;
    },
  };
}

function wordsOf(text: string): readonly string[] {
  return (
    text
      .toLowerCase()
      .replaceAll(/['’]/gu, '')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

function shinglesOf(words: readonly string[]): ReadonlySet<string> {
  const shingles = new Set<string>();
  for (let at = 0; at + SHINGLE <= words.length; at++) shingles.add(words.slice(at, at + SHINGLE).join(' '));
  if (shingles.size === 0) shingles.add(words.join(' '));
  return shingles;
}

function isNearDuplicate(left: Fingerprint, right: Fingerprint, threshold: number): boolean {
  if (left.decisive !== right.decisive) return false;
  const [small, large] = [left.shingles(), right.shingles()].toSorted((a, b) => a.size - b.size) as [
    ReadonlySet<string>,
    ReadonlySet<string>,
  ];
  // The Jaccard index cannot reach the threshold when the sizes differ more than this.
  if (small.size < threshold * large.size) return false;
  let common = 0;
  for (const shingle of small) if (large.has(shingle)) common++;
  return common / (small.size + large.size - common) >= threshold;
}
