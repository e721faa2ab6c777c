import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordSenses } from '../../common/text/words/word-senses.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import { kindOf, likenessTo } from '../retrieval/word-likeness.ts';
import { AUXILIARIES, contentWords, phraseWords, type Question, unmistaken, wordsOf } from './question.ts';
import { isNumbered, tellsWhich } from './slots.ts';
import { DAY_OF_EACH, MONTHS, NUMERALS, type Span, spansOf, WEEKDAYS } from './spans.ts';
import { likenessToKinds, likenessToRoles } from './word-kinds.ts';

/** Features of a sentence: which parts of the question it states. */
interface StatedParts {
  /** The least stated of the verbs, of the nouns, and of the nouns for persons, 0 to 1; 1 without any. */
  readonly verb: number;
  readonly noun: number;
  readonly person: number;
  /** Share of the words that tell one of several: `second`. */
  readonly order: number;
  /** Whether it has what the question asks for: -1 to 1. */
  readonly filler: number;
  /** Whether it has a name that the question does not have. */
  readonly newName: number;
  /** Whether the kind that is asked for stands beside a word that tells which: `Elm Road` for `Which road?`; -1 when it stands alone. */
  readonly focusBeside: number;
}

const ORDER =
  /^(?:first|second|third|fourth|fifth|last|next|other|else|besides|only|new|old|older|younger|eldest|favou?rite|best|full|middle|maiden|again|before|after)$/u;
const MIN_ROLE = 0.5;
const NAME_ASKED = /\b(?:names?|surname|called)\b/iu;
const OF_NAME = /^(?:name|called|kind|type)$/u;
/** `old` of "How old …?" says what is asked for. */
const MEASURE = /^how (\p{L}+)/iu;
/** Verbs that say too little to be stated. */
const LIGHT_VERB =
  /^(?:got|use[ds]?|took|taken|takes?|went|came|comes?|kept|keeps?|own(?:s|ed)?|put|happen(?:s|ed)?|did|had|belongs?|contains?|living)$/u;
const TITLE = /^(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Sir|Aunt|Uncle)\b/u;
const REASON =
  /\b(?:because|since|as|so|due|thanks|owing|therefore|reason|caus(?:e[sd]?|ing)|led to|result(?:s|ed|ing)?|why|after|when|to \p{Ll}+)\b/iu;
const TIME = new RegExp(
  `\\b(?:1\\d|20)\\d\\d\\b|\\b\\d{1,2}(?::\\d\\d)? ?(?:[ap]\\.?m\\b|o['’]clock)|\\d:\\d\\d|\\b(?:${MONTHS}|Easter|Christmas|${WEEKDAYS}|weekends?|${DAY_OF_EACH}|morning|evening|noon|midnight|summer|winter|spring|autumn|ago|yesterday|o['’]clock)\\b`,
  'iu',
);
const VAGUE_TIME =
  /\b(?:afternoon|night|weeks?|months?|years?|days?|hours?|when|while|as a (?:child|boy|girl|student))\b/iu;
const NUMERAL = new RegExp(
  `\\d|\\b(?:${NUMERALS}|once|twice|couple|few|many|daily|weekly|monthly|yearly|every)\\b`,
  'iu',
);
const PLACE_PREPOSITION = /^(?:in|at|to|near|from|of|outside|on)$/u;
const PLACE_PHRASE =
  /\b(?:in|at|on|near|behind|beside|under|above|outside|from|into|between|along|to|over|opposite|below|next to) (?:the|an?|my|our|his|her|their) ((?:\p{Ll}+ ){0,2}\p{Ll}+)/gu;
export const TIME_NOUN =
  /\b(?:mornings?|evenings?|afternoons?|nights?|days?|weeks?|weekends?|months?|years?|summer|winter|spring|autumn|time|beginning|end|first|last|same|moment|past|future)\b/u;

interface Word {
  readonly word: string;
  readonly stem: string;
  readonly row: number;
}

/** Reads a question once; returns what reads sentences. `context`: what stands above and before the sentence. */
export function statedParts(question: Question): (sentence: string, context: string) => StatedParts {
  const { text, focus } = question;
  const senses = wordSenses();
  const read = [...text.matchAll(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu)].slice(1).map(([word]) => word);
  const asked = new Set(wordsOf(text).map(stemOf));
  const common = read
    .filter((word) => /^\p{Ll}/u.test(word) && !STOP_WORDS.has(word) && !isAskedFor(word, question))
    .filter((word) => !LIGHT_VERB.test(word))
    .map((word) => wordOf(unmistaken(word.replace(/['’]s$/u, ''))));
  const isVerb = ({ row }: Word) => {
    const { noun, verb } = senses.partsOf(row);
    return verb > noun;
  };
  const verbs = common.filter(isVerb);
  const nouns = common.filter((word) => !isVerb(word));
  const persons = common.filter(({ word }) => likenessToRoles(word) >= MIN_ROLE);
  const order = wordsOf(text).filter((word) => ORDER.test(word));
  const isNew = (span: Pick<Span, 'text'>) =>
    wordsOf(span.text).some((word) => !STOP_WORDS.has(word) && !asked.has(stemOf(word)));
  const fillerOf = fillers(question, isNew);
  const phrases = new Map(common.map((one) => [one.word, phraseWords(question, text, one.word).map(wordOf)] as const));
  const saidBy = (one: Word, all: readonly Word[], stems: ReadonlySet<string>) =>
    Math.max(...[one, ...(phrases.get(one.word) ?? [])].map((word) => stated(word, all, stems)));
  const beside = (sentence: string) =>
    focus === null || STOP_WORDS.has(focus) ? 0 : tellsWhich(focus, sentence, asked);
  return (sentence, context) => {
    const whole = `${sentence} ${context}`;
    const all = contentOf(whole);
    const said = new Set(order.length === 0 ? [] : wordsOf(whole));
    const stems = new Set(all.map(({ stem }) => stem));
    const named = spansOf(sentence, ['name', 'title']).filter(isNew);
    const least = (words: readonly Word[]) => Math.min(1, ...words.map((one) => saidBy(one, all, stems)));
    return {
      verb: least(verbs),
      noun: least(nouns),
      person: Number(persons.every(({ stem }) => stems.has(stem))),
      order: order.filter((word) => said.has(word)).length / Math.max(1, order.length) || Number(order.length === 0),
      filler: fillerOf(sentence, named),
      newName: Number(named.some(({ start }) => start > 1)),
      focusBeside: beside(sentence),
    };
  };
}

/** Whether a word says what a question asks for, not what it is about. */
function isAskedFor(word: string, { text, focus }: Question): boolean {
  return word === focus || OF_NAME.test(word) || word === MEASURE.exec(text)?.[1]?.toLowerCase();
}

/** Returns what tells whether a sentence has a word, a name or a number of the kind that is asked for. */
function fillers(
  question: Question,
  isNew: (span: Pick<Span, 'text'>) => boolean,
): (sentence: string, named: readonly Span[]) => number {
  const { type, focus } = question;
  const bounded = (value: number) => Math.max(-0.5, Math.min(1, value));
  const namesOf = (sentence: string, named: readonly Span[]) =>
    named
      .filter(({ kind }) => kind === 'name')
      .map(({ text, start }) => ({
        hasTitle: TITLE.test(text),
        like: likenessToKinds(wordsOf(text)),
        isPlaced: PLACE_PREPOSITION.test(sentence.slice(0, start).trim().split(/\s+/u).at(-1)?.toLowerCase() ?? ''),
      }));
  switch (type) {
    case 'reason':
      return (sentence) => (REASON.test(sentence) ? 1 : -1);
    case 'number':
      return (sentence) => (NUMERAL.test(sentence) ? 1 : -1);
    case 'date':
      return (sentence) => (TIME.test(sentence) ? 1 : VAGUE_TIME.test(sentence) ? 0 : -1);
    case 'person':
      return (sentence, named) =>
        Math.max(
          spansOf(sentence, ['role']).some(isNew) ? 0.4 : -1,
          ...namesOf(sentence, named).map(({ hasTitle, like, isPlaced }) => {
            if (hasTitle) return 1;
            return isPlaced ? -0.5 : bounded(0.3 + 2 * (like.person - Math.max(like.place, like.group)));
          }),
        );
    case 'place':
      return (sentence, named) =>
        Math.max(
          [...sentence.matchAll(PLACE_PHRASE)].some(
            ([, phrase = '']) => isNew({ text: phrase }) && !TIME_NOUN.test(phrase),
          )
            ? 0.3
            : -1,
          ...namesOf(sentence, named).map(({ hasTitle, like, isPlaced }) => {
            const most = 2 * (Math.max(like.place, 0.7 * like.group) - like.person);
            return hasTitle ? -0.5 : bounded(most + (isPlaced ? 0.6 : 0));
          }),
        );
    case 'thing': {
      const ofKind = focus === null || STOP_WORDS.has(focus) ? null : kindOf(focus);
      if (ofKind === null) return () => 0;
      return (sentence) =>
        contentOf(sentence).reduce(
          (most, { word, row }) => (isNew({ text: word }) ? Math.max(most, 2 * ofKind(row) - 1) : most),
          formOf(question) === 'which' && isNumbered(question, sentence) ? 1 : -1,
        );
    }
    default:
      return () => 0;
  }
}

function wordOf(word: string): Word {
  return { word, stem: stemOf(word), row: wordSenses().row(word) };
}

function contentOf(text: string): readonly Word[] {
  return [...new Set(contentWords(text))].map(wordOf);
}

/** How far a word is stated: 1 by itself, less by a synonym or one of its kind. */
function stated({ word, stem, row }: Word, within: readonly Word[], stems: ReadonlySet<string>): number {
  if (stems.has(stem)) return 1;
  return within.reduce((most, other) => Math.max(most, statedBySense(word, row, other.row)), 0);
}

/** How far another word says a word of a row by its meanings: `buy`, which only its vector has near `sell`, does not. */
export function statedBySense(word: string, row: number, other: number): number {
  const share = likenessTo(word)?.(other) ?? 0;
  return share > 0 && share > wordTable().cosineOf(row, other) ** 2 + ROUNDING ? share : 0;
}

/** Likenesses are kept in steps. */
const ROUNDING = 0.004;

const WHICH = new RegExp(`\\b(?:which|what) (?!(?:${AUXILIARIES})\\b)\\p{L}+`, 'iu');

/** Returns the form of a question, finer than its type: for things a name, one of a kind, a property, or the object of a verb. */
export function formOf({ type, text }: Question): string {
  if (type !== 'thing') return type;
  if (NAME_ASKED.test(text)) return 'called';
  if (WHICH.test(text)) return 'which';
  return /\bwhat(?:['’]s| is| are| was| were)\b/iu.test(text) ? 'property' : 'object';
}
