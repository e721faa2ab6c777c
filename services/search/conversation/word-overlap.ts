/** Characters of one entry that are looked through: what stands behind them is no reason to find it. */
const MAX_SEARCHED = 100_000;

/** The words of a query as the session lanes count them: lower case, two letters or digits and more, each once. */
export function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.slice(0, MAX_SEARCHED).toLowerCase().match(WORD) ?? []);
}

const WORD = /[\p{L}\p{N}_]{2,}/gu;

/** With more words than these, or after so many places inside other words, taking the text apart is cheaper. */
const FEW_WORDS = 32;
const MAX_MISSES = 200;

/**
 * How many of the words occur in the texts, each once. Looking words up is several times cheaper than taking texts apart,
 * but not for whatever a query and a text hold: neither may make this slower than taking the text apart once.
 */
export function overlapWith(words: ReadonlySet<string>, texts: readonly string[]): number {
  const text = texts.join('\n').slice(0, MAX_SEARCHED).toLowerCase();
  if (words.size > FEW_WORDS) return wordsWithin(text, words);
  let found = 0;
  let misses = 0;
  for (const word of words) {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
      if (standsAlone(text, at, at + word.length)) {
        found++;
        break;
      }
      misses++;
      if (misses > MAX_MISSES) return wordsWithin(text, words);
    }
  }
  return found;
}

function wordsWithin(text: string, words: ReadonlySet<string>): number {
  const found = new Set<string>();
  for (const [word] of text.matchAll(WORD)) if (words.has(word)) found.add(word);
  return found.size;
}

function standsAlone(text: string, start: number, end: number): boolean {
  return (
    !ENDS_IN_WORD.test(text.slice(Math.max(0, start - 2), start)) && !BEGINS_WITH_WORD.test(text.slice(end, end + 2))
  );
}

/** Of two UTF-16 units, which may be one letter. */
const ENDS_IN_WORD = /[\p{L}\p{N}_]$/u;
const BEGINS_WITH_WORD = /^[\p{L}\p{N}_]/u;

export interface Overlapping<Entry> {
  readonly entry: Entry;
  readonly overlap: number;
}

/** Entries that share words with the query, those that share most first; equals keep their order (search-recall.md §6.4). */
export function rankByOverlap<Entry>(
  words: ReadonlySet<string>,
  entries: readonly Entry[],
  options: { readonly textsOf: (entry: Entry) => readonly string[]; readonly limit: number },
): readonly Overlapping<Entry>[] {
  if (words.size === 0) return [];
  return entries
    .map((entry) => ({ entry, overlap: overlapWith(words, options.textsOf(entry)) }))
    .filter(({ overlap }) => overlap > 0)
    .sort((one, other) => other.overlap - one.overlap)
    .slice(0, options.limit);
}
