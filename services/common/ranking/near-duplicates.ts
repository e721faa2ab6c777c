import { keptByText } from '../kernel/recently-used.ts';

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

/** Texts whose fingerprints are kept: questions about a subject find the same ones. Some MB. */
const fingerprintOf = keptByText(2000, fingerprint, 4000);

type Fingerprint = ReturnType<typeof fingerprint>;

function fingerprint(text: string) {
  return {
    shingles: shinglesOf(wordsOf(text)),
    /** Read on demand: few pairs share their shingles. */
    decisive: () =>
      (OTHER_SCRIPT.test(text) ? [NEGATION, NUMBER, OTHER_NUMBER] : [NEGATION, NUMBER])
        .map((pattern) => text.match(pattern)?.join(' ') ?? '')
        .join(';')
        .toLowerCase()
        .replaceAll(/['’]/g, ''),
  };
}

const WORD_CHARACTER = /[\p{L}\p{N}]/u;
/** For each code that was met: 1 for one of a word, 2 for another. */
const kinds = new Uint8Array(0x10000);
const APOSTROPHE = 0x27;
const CURLY_APOSTROPHE = 0x2019;
const FNV_PRIME = 16_777_619;

/** Hashes of the lower-case words of a text, whose apostrophes do not count. */
function wordsOf(text: string): readonly number[] {
  const words: number[] = [];
  let hash = 0;
  const lower = text.toLowerCase();
  for (let at = 0; at < lower.length; at++) {
    const code = lower.codePointAt(at) as number;
    if (code > 0xffff) at += 1;
    if (code === APOSTROPHE || code === CURLY_APOSTROPHE) continue;
    if (isOfWord(code)) hash = Math.imul(hash ^ code, FNV_PRIME) | 1;
    else if (hash !== 0) {
      words.push(hash);
      hash = 0;
    }
  }
  if (hash !== 0) words.push(hash);
  return words;
}

function isOfWord(code: number): boolean {
  const known = kinds[code];
  if (known === 1 || known === 2) return known === 1;
  const isOf = WORD_CHARACTER.test(String.fromCodePoint(code));
  kinds[code] = isOf ? 1 : 2;
  return isOf;
}

/** Distinct runs of words as hashes of 53 bits, in ascending order. */
function shinglesOf(words: readonly number[]): Float64Array {
  const size = Math.min(SHINGLE, words.length);
  const shingles = Float64Array.from({ length: words.length - size + 1 }, (_, at) => {
    let [low, high] = [0, 0];
    for (let place = at; place < at + size; place++) {
      low = Math.imul(low, FNV_PRIME) + (words[place] as number);
      high = Math.imul(high ^ (words[place] as number), FNV_PRIME);
    }
    return (low >>> 0) + (high >>> 11) * 2 ** 32;
  }).sort();
  return shingles.filter((shingle, at) => shingle !== shingles[at - 1]);
}

function isNearDuplicate(left: Fingerprint, right: Fingerprint, threshold: number): boolean {
  const [a, b] = [left.shingles, right.shingles];
  // The Jaccard index cannot reach the threshold with more than these in one text alone.
  let alone = 1 + ((a.length + b.length) * (1 - threshold)) / (1 + threshold);
  let common = 0;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length && alone > 0) {
    const one = a[i] as number;
    const other = b[j] as number;
    if (one === other) common++;
    else alone--;
    if (one <= other) i++;
    if (other <= one) j++;
  }
  return common / (a.length + b.length - common) >= threshold && left.decisive() === right.decisive();
}
