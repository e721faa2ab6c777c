/** Characters of one entry that are looked through: what stands behind them is no reason to find it. */
const MAX_SEARCHED = 100_000;

/** The words of a query as the session lanes count them: lower case, two letters or digits and more, each once. */
export function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.slice(0, MAX_SEARCHED).toLowerCase().match(WORD) ?? []);
}

const WORD = /[\p{L}\p{N}_]{2,}/gu;

/** How many of the words occur in the texts, each once. */
export function overlapWith(words: ReadonlySet<string>, texts: readonly string[]): number {
  const found = new Set<string>();
  let left = MAX_SEARCHED;
  for (const text of texts) {
    if (left <= 0 || found.size === words.size) break;
    for (const [word] of text.slice(0, left).toLowerCase().matchAll(WORD)) if (words.has(word)) found.add(word);
    left -= text.length;
  }
  return found.size;
}

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
