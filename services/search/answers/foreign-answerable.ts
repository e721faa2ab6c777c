import { logistic } from '../../common/kernel/probability.ts';
import { keptByText } from '../../common/kernel/recently-used.ts';
import { fold } from '../../common/text/language/fold.ts';
import { stopWordsOfQuery } from '../../common/text/language/tokenize.ts';
import type { Evidence } from './answerable.ts';
import { FOREIGN_WEIGHTS } from './answerable-weights.ts';
import { type Question, wordsOf } from './question.ts';
import { saidBefore, weigh } from './rank-sentences.ts';
import { statementsOf } from './statements.ts';

/** Returns the probability that memory answers a question in another language than English. */
export function foreignCertainty(question: Question, evidence: Evidence): number {
  const features = foreignFeatures(question, evidence);
  return features === null ? 0 : logistic(weigh(features, FOREIGN_WEIGHTS));
}

/** `hoch` of `Wie hoch ist die Miete?` says what is asked for, not what it is about. */
const MEASURE = /^¿?(?:wie|combien|cu[aá]nt[oa]s?) (?!(?:hei|nenn)|de\b|est)(\p{L}+)/iu;

/**
 * How much of a question its best sentence, the passage of that and all passages say. Of these languages there are no word
 * senses: a word is said by one with the same beginning (`travaille`, `travail`; `gebacken`, `backen`). Null without sentences.
 */
export function foreignFeatures(question: Question, { ranked, short, passages }: Evidence) {
  const [best] = ranked;
  if (best === undefined) return null;
  const isStopWord = stopWordsOfQuery(question.text);
  const all = wordsOf(question.text).filter((word) => !isStopWord(word));
  const measure = MEASURE.exec(question.text.trim())?.[1]?.toLowerCase();
  const about = all.filter((word) => word !== measure);
  const roots = (about.length === 0 ? all : about).map(rootOf);
  const said = (text: string) => {
    const words = foldedWords(text);
    const held = roots.filter((root) => words.some((word) => word.startsWith(root)));
    return held.length / Math.max(1, roots.length);
  };
  const { statement, passage, features, probability, confidence } = best;
  const before = saidBefore(statementsOf(passage), statement);
  const { documentName, headings, text } = passage.payload;
  const context = `${documentName} ${headings.join(' ')}`;
  const sentence = said(`${statement.text} ${statement.heading} ${statement.label} ${before} ${context}`);
  return {
    sentence,
    passage: said(`${text} ${context}`),
    all: said(passages.map(({ payload }) => payload.text).join(' ')),
    missing: features.missing,
    hasType: features.hasType,
    isShort: Number(short?.sentence === best),
    probability,
    confidence,
  };
}

/** What the forms of a word have in common: two thirds of it, without the first syllable of a participle. */
export function rootOf(word: string): string {
  const bare = fold(word).replace(/^ge(?=\p{L}{5})/u, '');
  return bare.slice(0, Math.max(3, Math.ceil((2 * bare.length) / 3)));
}

const foldedWords = keptByText(500, (text): readonly string[] =>
  wordsOf(text).flatMap((word) => {
    const folded = fold(word);
    return /^ge\p{L}{5}/u.test(folded) ? [folded, folded.slice(2)] : [folded];
  }),
);
