import { recentlyUsed } from '../../common/kernel/recently-used.ts';
import { fold } from '../../common/text/language/fold.ts';
import { isFunctionWord } from '../../common/text/language/stop-words.ts';
import { stemOf, stopWordsOfQuery } from '../../common/text/language/tokenize.ts';
import { everydayWords } from '../../common/text/words/everyday-words.ts';
import { translations } from '../../common/text/words/translations.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import { rootOf } from './foreign-answerable.ts';
import { type Question, wordsOf } from './question.ts';
import { type Sentence, saidBefore } from './rank-sentences.ts';
import { isRelative } from './relatives.ts';
import { statementsOf } from './statements.ts';
import { namesIn } from './unmet-condition.ts';

/** How sure two words must be synonyms, of one kind or derived from each other. */
const SAME = 0.7;
/** Minimum share of a question's information that an answer in another language says. */
const MIN_SAID = 0.67;
/** Information of a word that the table of words does not know: a name. */
const OF_NAMES = 7;
/** Words of a question that are looked for; more is a pasted text. */
const MAX_WORDS = 100;
/**
 * Whether a sentence in another language says most of what a question asks about, and has its names. How such sentences go on
 * is not understood well, so words that are used alike are not enough: `violin` is no `piano`.
 */
export function saysInOtherWords(question: Question, { statement, passage }: Sentence): boolean {
  const { text, heading, label } = statement;
  const said = wordsOf(`${text} ${heading} ${label} ${saidBefore(statementsOf(passage), statement)}`);
  const { english } = translations();
  const stems = new Set(said.flatMap((word) => [word, ...(english(word)?.split(' ') ?? [])]).map(stemOf));
  const rows = said.map(wordSenses().row).filter((row) => row >= 0);
  const folded = said.map(fold);
  // A word that no table has was not translated, and may stand in the sentence in another form.
  const hasForm = (word: string) => wordSenses().row(word) < 0 && folded.some((one) => one.startsWith(rootOf(word)));
  const isStopWord = stopWordsOfQuery(question.text);
  const names = new Set(namesIn(question.text));
  let [total, held] = [0, 0];
  for (const word of new Set(wordsOf(question.text).slice(0, MAX_WORDS))) {
    if (isStopWord(word)) continue;
    const isTranslated = stems.has(stemOf(word)) || rows.includes(wordSenses().row(word)) || hasForm(word);
    if (!isTranslated && (names.has(stemOf(word)) || isRelative(word))) return false;
    const isSaid = isTranslated || rows.some(sameAs(word));
    if (!isSaid && word === question.focus) continue;
    total += informationOf(word);
    if (isSaid) held += informationOf(word);
  }
  return total > 0 && held >= MIN_SAID * total;
}

/** Tells the words that say the same: by their meanings, as words that are used alike may be opposites or of one kind. */
function sameAs(word: string): (row: number) => boolean {
  return recentlyUsed(comparers, CACHED_WORDS, word, () => {
    const wanted = wordSenses().row(word);
    if (wanted < 0) return () => false;
    const bySense = wordSenses().likenessTo(wanted);
    const everyday = everydayWords().likenessTo(wanted) ?? (() => 0);
    return (row) => Math.max(bySense(row, wordTable().cosineOf(wanted, row)), everyday(row)) >= SAME;
  });
}

const comparers = new Map<string, (row: number) => boolean>();
const CACHED_WORDS = 128;

/** How rare a word is in English, as the logarithm of its place by frequency. */
function informationOf(word: string): number {
  const row = wordTable().row(word);
  return row < 0 ? OF_NAMES : Math.log(2 + wordTable().rank(row) / 20);
}

/** Whether a short answer from a sentence of another language is a function word of it, or no name of a person: `Die Firma`. */
export function isForeignWord({ type }: Question, text: string): boolean {
  const last = wordsOf(text).at(-1) ?? '';
  return isFunctionWord(fold(last)) || (type === 'person' && translations().english(last) !== null);
}
