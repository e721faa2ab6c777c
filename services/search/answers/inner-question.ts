import { dates } from '../../common/text/language/dates.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import { isNewTo, readQuestion, withoutStopWords, wordsOf } from './question.ts';
import {
  type PlacedStatement,
  type RankedSentence,
  type ReadPassage,
  rankSentences,
  sentencesOf,
} from './rank-sentences.ts';
import { nameOfRelative } from './relative-names.ts';
import { isRelative } from './relatives.ts';
import { timesOfSentence } from './sentence-times.ts';
import { shortAnswer } from './short-answer.ts';

/** A clause of a question that is a question of its own: `the year I moved to Berlin`. */
interface InnerQuestion {
  readonly kind: 'year' | 'event' | 'thing' | 'other' | 'relative' | 'named-relative';
  /** The question that the clause asks. */
  readonly question: string;
  /** The words that its answer replaces. */
  readonly clause: string;
  /** The question before and after the clause. */
  readonly around: readonly [string, string];
  /** Added to a year: 1 in `the year after I moved`. */
  readonly offset?: number;
}

/** The answer of an inner question. */
export interface InnerAnswer {
  /** The question that is left. */
  readonly outer: string;
  readonly sentence: PlacedStatement;
  /** The sentences that descriptions within its description were answered with. */
  readonly earlier?: readonly PlacedStatement[];
  /** Sentences that name it answer the outer question no more: `another city than the one where …`. */
  readonly excluded: string | null;
  /** The outer question is one about a name, which memory may not answer; the sentence may. */
  readonly isOfName?: true;
  /** The sentence only says who or what a question describes. */
  readonly isDescription?: true;
}

const SUBJECT = "(?:I|we|you|he|she|it|they|my|our|his|her|their|the|a|an|\\p{Lu}[\\p{L}'’.-]+)";
const YEAR = new RegExp(
  `\\b(?:[Ii]n|[Dd]uring) the (?:same |very )?(year|month|spring|summer|autumn|fall|winter|decade) (?:(after|before) )?(?:when |that |in which |of )?(?=${SUBJECT} )`,
  'u',
);
const OTHER =
  /\b(?:besides|apart from|other than|except(?: for)?) the (?:one|city|place|town|country) (?=(?:where|that|which|in which|I|we)\b)/iu;
const RELATIVE =
  /\b(?:the|that) (?:same )?((?:\p{Ll}+ )?\p{Ll}+) (?:(who|whom|where|that|which|(?:in|at|for|on|to|with|from) (?:which|whom))|(?=(?:I|we|you|he|she|they) ))/gu;
const POSSESSIVE = /\b(my|our) (\p{Ll}+)['’]s (?=\p{Ll})/u;
/** `Nadia's husband` with what is asked of him, also of `my niece's husband`; what he is called is asked of nobody else. */
const RELATIVE_OF_NAME =
  /(?<!\p{L})(?:(my|our) (\p{Ll}+)|(\p{Lu}[\p{L}-]+))['’]s? (\p{Ll}+)(['’]s)?(?= \p{Ll})(?! (?:name|called|named)\b)/u;

/** `before I moved to Berlin`, `after the dentist`: what a question sets its time by. */
const EVENT = new RegExp(`\\b([Bb]efore|[Aa]fter|[Ss]ince) (?=${SUBJECT} )`, 'u');
/** Asks for what somebody did or what there was, and for nothing more. */
const ASKS_FOR_EVENTS =
  /^what (?:else )?(?:happened|was (?:there|going on)|(?:did|have|had) (?:I|we) (?:do|done|decide|decided|plan|planned)|events?)\b/iu;

/** Returns the inner question of a question; null when it has none. */
function innerQuestionOf(question: string): InnerQuestion | null {
  const text = question.trim().replace(/(?<![?.!\s])[?.!\s]+$/u, '');
  const year = YEAR.exec(text);
  if (year !== null) {
    const [clause, after] = clauseAfter(text, year.index + year[0].length, year.index === 0);
    const around = [text.slice(0, year.index), after] as const;
    const offset = year[2] === 'after' ? 1 : year[2] === 'before' ? -1 : 0;
    return { kind: 'year', question: `When did ${clause}?`, clause, around, offset };
  }
  const event = EVENT.exec(text);
  if (event !== null) {
    const [clause, after] = clauseAfter(text, event.index + event[0].length, event.index === 0);
    const around = [`${text.slice(0, event.index)}${after}`.trim(), (event[1] ?? '').toLowerCase()] as const;
    const asked = /^(?:I|we|you|he|she|it|they)\b/u.test(clause) ? 'did' : 'was';
    if (ASKS_FOR_EVENTS.test(around[0]) && dates(clause).length === 0)
      return { kind: 'event', question: `When ${asked} ${clause}?`, clause, around };
  }
  const other = OTHER.exec(text);
  if (other !== null) {
    const clause = text.slice(other.index + other[0].length);
    const focus = readQuestion(text.slice(0, other.index)).focus ?? 'place';
    const bare = clause.replace(/^(?:where|that|which|in which) /u, '');
    return { kind: 'other', question: `Which ${focus} ${bare}?`, clause, around: [text.slice(0, other.index), ''] };
  }
  for (const match of text.matchAll(RELATIVE)) {
    const noun = match[1] ?? '';
    const before = text.slice(0, match.index);
    const clause = text.slice(match.index + match[0].length).trim();
    if (!hasContent(clause)) continue;
    const asked =
      match[2] === 'who' || match[2] === 'whom' || isPerson(noun) ? 'Who' : `Which ${noun.split(' ').at(-1)}`;
    return { kind: 'thing', question: `${asked} ${clause}?`, clause, around: [before, clause] };
  }
  const named = RELATIVE_OF_NAME.exec(text);
  if (named !== null && isRelative(named[4] ?? '')) {
    const around = [text.slice(0, named.index), text.slice(named.index + named[0].length)] as const;
    return { kind: 'named-relative', question: text, clause: named[0], around };
  }
  const possessive = POSSESSIVE.exec(text);
  if (possessive !== null) {
    const [phrase, owner = '', noun = ''] = possessive;
    const around = [text.slice(0, possessive.index), text.slice(possessive.index + phrase.length)] as const;
    return { kind: 'relative', question: `What is ${owner} ${noun} called?`, clause: noun, around };
  }
  return null;
}

/** A clause at the start of a question ends at its comma. */
function clauseAfter(text: string, from: number, isFirst: boolean): readonly [string, string] {
  const comma = text.indexOf(',', from);
  return isFirst && comma > 0 ? [text.slice(from, comma), text.slice(comma + 1).trim()] : [text.slice(from), ''];
}

const PERSONS = ['person', 'man', 'woman', 'friend', 'teacher', 'neighbour', 'colleague'];

function isPerson(noun: string): boolean {
  const word = noun.split(' ').at(-1) ?? '';
  return PERSONS.some((person) => person === word || wordTable().similarity(person, word) > 0.62);
}

function hasContent(text: string): boolean {
  return wordsOf(text).some((word) => !STOP_WORDS.has(word));
}

/** Minimum confidence of the answer to an inner question. */
const MIN_CONFIDENCE = 0.3;
const SENTENCES_READ = 3;
/** Maximum share of the inner question's information that its sentence may miss. */
const MAX_MISSING = 0.55;

/** Answers the inner question of a question from passages; null without one, or without an answer. */
export function answerInner(question: string, passages: readonly ReadPassage[]): InnerAnswer | null {
  const inner = innerQuestionOf(question);
  if (inner === null) return null;
  const [before, after] = inner.around;
  if (inner.kind === 'relative') return answerRelative(inner, passages);
  if (inner.kind === 'named-relative') return answerNamedRelative(inner, passages);
  const asked = readQuestion(inner.question);
  const ranked = rankSentences(sentencesOf(asked, passages)).slice(0, SENTENCES_READ);
  if (inner.kind === 'event') {
    for (const sentence of ranked) {
      if (sentence.features.missing > MAX_MISSING || lacksName(inner.clause, sentence)) continue;
      const [time] = timesOfSentence(sentence);
      if (time === undefined) continue;
      const day = after === 'after' ? new Date(time.until.getTime() - 1) : time.from;
      return { outer: `${before} ${after} ${day.toISOString().slice(0, 10)}?`, sentence, excluded: null };
    }
    return null;
  }
  if (inner.kind === 'year') {
    for (const sentence of ranked) {
      if (sentence.features.missing > MAX_MISSING || lacksName(inner.clause, sentence)) continue;
      const found = yearOf(sentence.statement.text);
      if (found === null) continue;
      const year = found + (inner.offset ?? 0);
      const outer = after === '' ? `${before.trim()} in ${year}` : `${after} in ${year}`;
      return { outer: `${outer}?`, sentence, excluded: null };
    }
    return null;
  }
  const short = shortAnswer(asked, ranked);
  const isName = /^[\p{Lu}\d]/u.test(short?.text ?? '');
  if (short === null || !isName || short.confidence < MIN_CONFIDENCE || short.sentence.features.missing > MAX_MISSING)
    return null;
  if (inner.kind === 'other')
    return { outer: `${before.trim()} besides ${short.text}?`, sentence: short.sentence, excluded: null };
  const words = withoutStopWords(after);
  const left = words.filter(isNewTo(short.sentence.statement.text));
  // "Who is the man that lent us a spade?" asks nothing else.
  if (!hasContent(before) && (left.length === 0 || left.at(-1) !== words.at(-1))) return null;
  return {
    outer: `${before}${short.text} ${left.join(' ')}`.trim().concat('?'),
    sentence: short.sentence,
    excluded: null,
  };
}

/** Whether a clause names something that a sentence and its passage do not. */
function lacksName(clause: string, { passage: { payload } }: Pick<RankedSentence, 'passage'>): boolean {
  const known = new Set(wordsOf(`${payload.text} ${payload.documentName} ${payload.headings.join(' ')}`));
  const names = clause.match(/(?<![\p{L}\p{N}])[\p{Lu}\p{N}][\p{L}\p{N}]+/gu) ?? [];
  return names.some((name) => !known.has(name.toLowerCase()));
}

/** Finds the name of `Nadia's husband`, or of `my niece's husband` by that of my niece; else that of `my niece` alone. */
function answerNamedRelative(inner: InnerQuestion, passages: readonly ReadPassage[]): InnerAnswer | null {
  const [, self, first = '', name, relative = '', owning = ''] = RELATIVE_OF_NAME.exec(inner.clause.concat(' x')) ?? [];
  const owner = self === undefined ? name : nameOfRelative(self, first, passages)?.name.split(' ')[0];
  const found = owner === undefined ? null : nameOfRelative(owner, relative, passages);
  const [before, after] = inner.around;
  if (found !== null) {
    const { name: called, statement, passage } = found;
    return {
      outer: `${before}${called}${owning}${after}?`,
      sentence: { statement, passage },
      excluded: null,
      isOfName: true,
    };
  }
  if (self === undefined) return null;
  const around = [before, `${relative}${owning}${after}`] as const;
  return answerRelative({ ...inner, clause: first, around, question: self }, passages);
}

/** Finds the name of `my dog`, and keeps the word: `my dog Rex's vet`. */
function answerRelative({ clause: noun, around: [before, after] }: InnerQuestion, passages: readonly ReadPassage[]) {
  const named = new RegExp(
    `\\b(?:my|our|My|Our) (?:\\p{Ll}+ )?${noun},? (?:(?:is|was) )?(?:(?:called|named) )?(\\p{Lu}[\\p{L}'’-]*(?: \\p{Lu}[\\p{L}'’-]*)*)`,
    'u',
  );
  for (const sentence of sentencesOf(readQuestion(`What is my ${noun} called?`), passages)) {
    const name = named.exec(sentence.statement.text)?.[1]?.replace(/['’]s$/u, '');
    if (name !== undefined) return { outer: `${before}my ${noun} ${name}'s ${after}?`, sentence, excluded: null };
  }
  return null;
}

function yearOf(text: string): number | null {
  const year = /(?<![\p{N}.,-])(?:1[5-9]|20)\d\d(?![\p{N}.,-]*\d| \p{Ll}+s\b)/u.exec(text)?.[0];
  return year === undefined ? null : Number(year);
}
