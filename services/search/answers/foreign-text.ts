import { keptByText } from '../../common/kernel/recently-used.ts';
import { languageOfQuery } from '../../common/text/language/tokenize.ts';
import { translations } from '../../common/text/words/translations.ts';
import { wordsOf } from './question.ts';

/** Function words of English alone. */
export const ENGLISH_WORD = /\b(?:the|of|and|is)\b/iu;
/** Words that a text must have of another language. */
const MIN_FOREIGN_WORDS = 2;

/** Sentences of the passages that answer many questions. */
const CACHED_SENTENCES = 4000;

/** Whether a text is of another language than English. */
export const isForeignText = keptByText(CACHED_SENTENCES, (text): boolean => {
  if (ENGLISH_WORD.test(text)) return false;
  if (languageOfQuery(text) !== null) return true;
  const foreign = wordsOf(text).filter((word) => translations().isForeign(word));
  return foreign.length >= MIN_FOREIGN_WORDS;
});
