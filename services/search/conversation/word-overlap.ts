/** Characters of one entry that are searched. */
const MAX_SEARCHED = 100_000;

/** Returns the distinct words of a query in lower case, of at least two letters or digits. */
export function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.slice(0, MAX_SEARCHED).toLowerCase().match(WORD) ?? []);
}

const WORD = /[\p{L}\p{N}_]{2,}/gu;

/** With more words, or after so many matches inside other words, splitting the text is cheaper than searching it. */
const FEW_WORDS = 32;
const MAX_MISSES = 200;

/**
 * Counts the words that occur in the texts. Searching for each word is several times cheaper than splitting the texts, but
 * not for every input: the limits above keep the cost below that of splitting once.
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

/** Patterns over two UTF-16 units, which may be one letter. */
const ENDS_IN_WORD = /[\p{L}\p{N}_]$/u;
const BEGINS_WITH_WORD = /^[\p{L}\p{N}_]/u;

export interface Overlapping<Entry> {
  readonly entry: Entry;
  readonly overlap: number;
}

/** Returns the entries that share words with the query, most shared words first; ties keep their order (search-recall.md §6.4). */
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
