import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import { saysOtherValue } from './other-value.ts';
import { isDesignationUnsaid } from './part-conditions.ts';
import { type Question, wordsOf } from './question.ts';
import { putFirst, type RankedSentence } from './rank-sentences.ts';
import type { Statement } from './statements.ts';
import { isOtherPerson, isThingUnsaid, namesIn } from './unmet-condition.ts';

const NEGATION = /\b(?:no|not|never|none|nobody|nothing|neither|without|cannot|refused|declined|rejected)\b|n['’]t\b/iu;
/** `No` for a number. */
const NUMBER_LABEL = /\bno\.?(?=[:#]? ?\d)|(?<=\p{L} )no\.?(?=: )/giu;
const CONTRAST = /\b(?:but|although|though|until|unless|only)\b|\bnot only\b/iu;
/** Words for what is over or refused. */
const ENDING =
  /\b(?:stop(?:s|ped)?|sold|quit|drop(?:s|ped)?|discontinued?|removed?|no longer|g[ai]ve(?:n|s)? up|hates?|hated|dislike[sd]?|cancell?ed|retired|used to|missed|failed|lost)\b/iu;
/** Verbs of little meaning, with the forms of which a sentence that affirms them has one. */
const LIGHT_VERBS: ReadonlyMap<string, RegExp> = new Map([
  ['get', /\b(?:gets?|got|gotten|getting|receive[ds]?|obtain(?:s|ed)?|became)\b/iu],
  ['give', /\b(?:gives?|gave|given|giving|offer(?:s|ed)?)\b/iu],
  ['take', /\b(?:takes?|took|taken|taking)\b/iu],
  ['make', /\b(?:makes?|made|making)\b/iu],
  [
    'have',
    /\b(?:have|has|had|having|owns?|owned|got|keeps?|kept|adopt(?:s|ed)?|inherit(?:s|ed)?|bought|my|our|his|her|their|with)\b|['’]s\b/iu,
  ],
  ['own', /\b(?:owns?|owned|have|has|had|bought|my|our|his|her|their)\b|['’]s\b/iu],
  ['like', /\b(?:likes?|liked|loves?|loved|enjoy(?:s|ed)?|favou?rite|fond)\b/iu],
  ['know', /\b(?:knows?|knew|known)\b/iu],
  ['go', /\b(?:go|goes|went|gone|travel(?:s|led)?|flew|drove|spent|visit(?:s|ed)?)\b/iu],
  ['see', /\b(?:sees?|saw|seen|watch(?:es|ed)?)\b/iu],
]);
/** Maximum share of the question's information that a sentence may miss to deny it, to say that it is over, and to affirm it. */
const MAX_MISSING = { no: 0.45, over: 0.25, yes: 0.1 } as const;

/**
 * Returns whether a sentence affirms or denies what a question asks; null when it is not certain: a sentence with a part of
 * the question does not affirm it, and a negation beside a contrast may belong to something else.
 */
export function yesOrNo({ type, text }: Question, { statement, features }: RankedSentence): 'Yes' | 'No' | null {
  if (type !== 'yes-no' || / or /iu.test(text) || NEGATION.test(text)) return null;
  const [contrast] = CONTRAST.exec(statement.text) ?? [];
  if (contrast !== undefined && !wordsOf(text).includes(contrast.toLowerCase())) return null;
  if (isOtherPerson(text, { text: statement.text, context: statement.heading })) return null;
  const { heading, label } = statement;
  const said = [{ text: statement.text, context: `${heading} ${label}` }];
  // `Perfume is not allowed.` says nothing of dogs.
  if (isThingUnsaid(text, said) || isDesignationUnsaid({ text, type }, said)) return null;
  if (isListed(text, statement) && features.missing <= MAX_MISSING.no)
    return NEGATION.test(`${heading} ${label}`) ? 'No' : 'Yes';
  // `Invoice No: 3391` is no denial.
  const isNegated = NEGATION.test(statement.text.replace(NUMBER_LABEL, ' '));
  const isLike = features.missing <= MAX_MISSING.no;
  if (!isNegated && (saysOtherValue(text, statement.text) || (isLike && saysOpposite(text, statement.text))))
    return 'No';
  if (isNegated && isLike && negates(statement.text, text)) return 'No';
  if (isNegated) return saysBeside(statement.text, text) ? 'Yes' : null;
  if (ENDING.test(statement.text) && !ENDING.test(text)) {
    return /^(?:do|does|is|are|am|can)\s/iu.test(text) && features.missing <= MAX_MISSING.over ? 'No' : null;
  }
  if (lacksVerb(text, statement.text) || (/\bstill\b/iu.test(text) && !/\bstill\b/iu.test(statement.text))) return null;
  const isLikely = features.missing <= MAX_MISSING.yes;
  const isWhole =
    isLikely &&
    (features.exact + features.heading >= 1 - MAX_MISSING.yes ||
      (ROW.test(statement.text) && saysBeside(statement.text, text)));
  return isWhole ? 'Yes' : null;
}

/** Whether an item is nothing but a name of a question, below a heading with its verb: `MySQL` below `Supported databases`. */
function isListed(question: string, { text, heading, label, isItem }: Statement): boolean {
  const asked = new Set(wordsOf(question).map(stemOf));
  const isAsked = (word: string) => asked.has(stemOf(word));
  const words = wordsOf(text);
  const above = wordsOf(`${heading} ${label}`).filter((word) => !STOP_WORDS.has(word) && !words.includes(word));
  const names = namesIn(question);
  const isNamed = isItem === true && words.length > 0 && words.every(isAsked);
  return isNamed && above.some((word) => isAsked(word) && !names.includes(stemOf(word)));
}

/** A row of a table with the heads of its columns, which says nothing but its values. */
const ROW = /^[^:,.]{1,40}: [^:]+, [^:,.]{1,40}: /u;

/** A pronoun, a noun with its article and at most one word between them, or names. */
const SUBJECT =
  /^(?:[Dd]o|[Dd]oes|[Dd]id)\s+(?:(?:I|we|you|he|she|it|they)\b|(?:my|our|his|her|their|the|an?|this|that)\s+(?:\p{Ll}[\p{L}-]*\s+)??\p{Ll}[\p{L}-]*|\p{Lu}[\p{L}'’.-]*(?:\s+(?:\p{Lu}[\p{L}'’.-]*|and))*)\s+(?:(?:ever|still|really|also|always|usually)\s+)?/u;
/** Minimum likeness of two forms of a verb, or of verbs that say the same. */
const MIN_LIKENESS = 0.6;

/** Whether a sentence does not have the verb of a question: "Did the client like the demo?". */
function lacksVerb(question: string, sentence: string): boolean {
  const [subject] = SUBJECT.exec(question) ?? [];
  const [verb] = subject === undefined ? [] : wordsOf(question.slice(subject.length));
  if (verb === undefined) return false;
  // `Our dog was a spaniel.` does not say that we have one.
  const isOver = /^do(?:es)?\s/iu.test(question) && OWNED.has(verb) && PAST.test(sentence);
  return !hasWord(verb, isOver ? sentence.replace(POSSESSIVE, '') : sentence);
}

const OWNED = new Set(['have', 'own']);
const POSSESSIVE = /\b(?:my|our|his|her|their|with)\b|['’]s\b/giu;
const PAST = /\b(?:was|were|did|\p{L}{2,}ed)\b/u;

function hasWord(word: string, sentence: string): boolean {
  const light = LIGHT_VERBS.get(word);
  if (light !== undefined) return light.test(sentence);
  const stem = stemOf(word);
  return wordsOf(sentence).some(
    (other) => stemOf(other) === stem || wordTable().similarity(word, other) >= MIN_LIKENESS,
  );
}

const CLAUSE_END = /[,;:—]|\b(?:which|who|because|so|and)\b/u;

/** Whether the clause with the negation has a word of the question that is no name: "which makes his mother nervous" is not denied. */
function negates(sentence: string, question: string): boolean {
  const names = namesIn(question);
  const predicate = wordsOf(question).filter((word) => !STOP_WORDS.has(word) && !names.includes(stemOf(word)));
  const asked = predicate.length > 0 ? predicate : wordsOf(question).filter((word) => LIGHT_VERBS.has(word));
  const clauses = sentence.split(CLAUSE_END);
  // `never on Fridays` beside `on Tuesdays`
  const isOnly = (name: string, clause: string) =>
    hasName(name, clause) && clauses.every((other) => other === clause || !hasName(name, other));
  return clauses.some(
    (clause) =>
      NEGATION.test(clause) &&
      (asked.some((word) => hasWord(word, clause)) ||
        (clauses.length > 1 && names.some((name) => isOnly(name, clause)))),
  );
}

/** Whether a text has the stem of a name itself: Tuesday is like Friday. */
function hasName(stem: string, text: string): boolean {
  return wordsOf(text).some((word) => stemOf(word) === stem);
}

/** Whether the clauses of a sentence without the negation have all words of the question. */
function saysBeside(sentence: string, question: string): boolean {
  const rest = sentence.split(CLAUSE_END).filter((clause) => !NEGATION.test(clause) && !ENDING.test(clause));
  const asked = wordsOf(question).filter((word) => !STOP_WORDS.has(word) || LIGHT_VERBS.has(word));
  const names = namesIn(question);
  const isSaid = (word: string) =>
    names.includes(stemOf(word)) ? hasName(stemOf(word), rest.join(' ')) : hasWord(word, rest.join(' '));
  return asked.length > 1 && asked.every(isSaid);
}

/** Words of which one denies the other, in questions with a form of "be" and in others. */
const [OPPOSITE_STATES, OPPOSITE_DEEDS] = [
  'older|younger,bigger larger|smaller,longer taller|shorter,cheaper|dearer,open|closed shut,empty|full crowded packed busy,' +
    'early|late,alive living|dead died deceased,cheap|expensive costly,easy|difficult hard,clean|dirty filthy,' +
    'safe|dangerous unsafe,healthy well|ill sick unwell,good|bad awful terrible horrible,warm hot|cold freezing,' +
    'friendly kind|unfriendly rude,allowed permitted|forbidden banned prohibited',
  'win|lost lose loses,work|broken defective',
].map((pairs) =>
  pairs.split(',').flatMap((pair) => {
    const [one = [], other = []] = pair.split('|').map((side) => side.split(' '));
    return [
      { asked: one, said: other },
      { asked: other, said: one },
    ];
  }),
);

/** Whether a sentence has the opposite of a word of the question, and not the word; that it was closed does not deny that it is open. */
function saysOpposite(question: string, sentence: string): boolean {
  const isState = /^(?:is|are|am|was|were)\s/iu.test(question);
  if (isState && /^w/iu.test(question) !== /\b(?:was|were)\b/iu.test(sentence) && !/\bdied\b/iu.test(sentence))
    return false;
  const [asked, said] = [wordsOf(question), wordsOf(sentence)];
  return ((isState ? OPPOSITE_STATES : OPPOSITE_DEEDS) ?? []).some(
    (pair) =>
      pair.asked.some((word) => asked.includes(word)) &&
      pair.said.some((word) => said.includes(word) && !asked.includes(word)) &&
      !pair.asked.some((word) => said.includes(word)),
  );
}

const ASKS_WHETHER_THERE_IS = /^(?:is|are|was|were)\s+there\b/iu;
const SAYS_THERE_IS_NONE = /\bthere\s+(?:is|are|was|were)(?:\s+(?:no|not|never)\b|n['’]t\b)/iu;

/** How much less a sentence with a negation may score than another one of its passage. */
const NEGATED_BONUS = 1;

/** Sentences of which one may decide whether something is so. */
const SENTENCES_READ = 5;

/** Puts the sentence first that decides a yes-no question, or one with a negation, where the first one only tells of its subject. */
export function negatedFirst(question: Question, ranked: readonly RankedSentence[]): readonly RankedSentence[] {
  const { type, text } = question;
  const [best] = ranked;
  if (best === undefined || type !== 'yes-no' || NEGATION.test(text)) return ranked;
  const isNone = ({ statement, features }: RankedSentence) =>
    SAYS_THERE_IS_NONE.test(statement.text) && features.missing <= MAX_MISSING.yes;
  const near = ({ passage, score }: RankedSentence) =>
    passage.id === best.passage.id && score + NEGATED_BONUS > best.score;
  const first =
    (ASKS_WHETHER_THERE_IS.test(text) ? ranked.find(isNone) : undefined) ??
    (NEGATION.test(best.statement.text)
      ? undefined
      : ranked.find((one) => near(one) && NEGATION.test(one.statement.text))) ??
    (yesOrNo(question, best) === null
      ? ranked.slice(0, SENTENCES_READ).find((one) => yesOrNo(question, one) !== null)
      : undefined);
  return first === undefined ? ranked : putFirst(first, ranked);
}
