import { stemmer } from 'stemmer';

/** Words of a few long books; about 2 MB. */
const REMEMBERED_WORDS = 20_000;

/**
 * Stems of words met before: the stemmer takes 2 µs a word, a third of the time of tokenising, and texts are made of the
 * same few thousand words. A memo of a pure function, so that instances can share it: nobody can tell what is in it.
 */
const stems = new Map<string, string>();

/** The Porter stem of an English word in lower case. */
export function porterStem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (stems.size >= REMEMBERED_WORDS) stems.clear();
  const stem = stemmer(word);
  stems.set(word, stem);
  return stem;
}
