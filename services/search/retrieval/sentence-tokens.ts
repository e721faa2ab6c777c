import { sentences } from '../../common/text/language/sentences.ts';
import { tokenize } from '../../common/text/language/tokenize.ts';

/**
 * The sentences of a passage, each as the tokens it is found under. `key` names the passage and its version: what was
 * read once is remembered, since the same passages are strong for many questions.
 */
export type SentenceTokens = (key: string, text: string) => readonly (readonly string[])[];

/** About 6 MB. */
const REMEMBERED_PASSAGES = 1000;

/** Kept by a retriever. */
export function createSentenceTokens(): SentenceTokens {
  const tokensOf = createWordTokens();
  const passages = new Map<string, readonly (readonly string[])[]>();
  return (key, text) => {
    const known = passages.get(key);
    passages.delete(key);
    const read =
      known ?? sentences(text).map((sentence) => sentence.text.split(/\s+/u).flatMap((word) => tokensOf(word)));
    passages.set(key, read);
    const oldest = passages.keys().next().value;
    if (passages.size > REMEMBERED_PASSAGES && oldest !== undefined) passages.delete(oldest);
    return read;
  };
}

const REMEMBERED_WORDS = 50_000;
const LONGEST_REMEMBERED_WORD = 40;

/** `tokenize` of words that hold no blank, with a memory: texts repeat their words, and stemming is most of its cost. */
function createWordTokens(): (word: string) => readonly string[] {
  const words = new Map<string, readonly string[]>();
  return (word) => {
    const known = words.get(word);
    if (known !== undefined) return known;
    const tokens = tokenize(word);
    if (word.length > LONGEST_REMEMBERED_WORD) return tokens;
    if (words.size >= REMEMBERED_WORDS) words.clear();
    words.set(word, tokens);
    return tokens;
  };
}
