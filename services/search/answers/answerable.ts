import { logistic } from '../../common/kernel/probability.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import { ANSWERABLE_WEIGHTS } from './answerable-weights.ts';
import { type Question, wordsOf } from './question.ts';
import { PASSAGES_READ, type RankedSentence, type ReadPassage, weigh } from './rank-sentences.ts';
import type { ShortAnswer } from './short-answer.ts';
import { spansOf } from './spans.ts';

const SENTENCES_READ = 3;

/** What was found for a question. */
export interface Evidence {
  readonly ranked: readonly RankedSentence[];
  readonly short: ShortAnswer | null;
  readonly passages: readonly ReadPassage[];
}

/** Returns the probability that memory answers a question, 0 to 1. */
export function answerability(question: Question, evidence: Evidence): number {
  const features = answerableFeatures(question, evidence);
  return features === null ? 0 : logistic(weigh(features, ANSWERABLE_WEIGHTS));
}

/**
 * How well the words of a question are covered by the best sentence, its passage and all passages; whether what it asks for
 * (`colour`, `name`, a date) is there; null without sentences.
 */
export function answerableFeatures(
  question: Question,
  { ranked, short, passages }: Evidence,
): Readonly<Record<string, number>> | null {
  const [top] = ranked;
  if (top === undefined) return null;
  const { text } = question;
  const words = keyWords(text);
  const { statement } = top;
  const inSentence = bagOf(`${statement.text} ${statement.heading} ${statement.label}`);
  const inPassage = bagOf(wholeText(top.passage));
  const inAll = bagOf(passages.slice(0, PASSAGES_READ).map(wholeText).join(' '));
  const sentence = coverage(words, inSentence);
  const passage = coverage(words, inPassage);
  const all = coverage(words, inAll);
  const names = words.filter(({ isName }) => isName);
  const isLost = (bag: Bag) => Number(names.some((name) => covered(name, bag) < 1));
  const asked = askedWords(text, question).map(keyOf);
  const askedIn = (bag: Bag) => (asked.length === 0 ? 0 : Math.min(...asked.map((word) => covered(word, bag))));
  const kinds = ranked
    .filter((one) => one.passage === top.passage)
    .slice(0, SENTENCES_READ)
    .map((one) => kindIn(question, text, one.statement.text));
  const kind = kinds[0] === null ? null : Math.max(...kinds.map((one) => one ?? -1));
  const focus = question.focus === null || STOP_WORDS.has(question.focus) ? null : keyOf(question.focus);
  return {
    sentence: sentence.mean,
    sentenceWorst: sentence.worst,
    passage: passage.mean,
    passageExact: passage.exact,
    passageWorst: passage.worst,
    allExact: all.exact,
    allWorst: all.worst,
    nameLost: isLost(inPassage),
    nameLostInAll: isLost(inAll),
    namesHeld: Number(names.length > 0 && isLost(inPassage) === 0),
    sentenceExact: sentence.exact,
    sentenceLost: sentence.lost,
    passageLost: passage.lost,
    all: all.mean,
    focusInSentence: focus === null ? 0.5 : covered(focus, inSentence),
    focusInPassage: focus === null ? 0.5 : covered(focus, inPassage),
    hasType: top.features.hasType,
    anyHasType: Math.max(...ranked.slice(0, SENTENCES_READ).map(({ features }) => features.hasType)),
    softKind: (kind ?? 0) * sentence.mean,
    kindOrAsked: Math.max(kind ?? -1, asked.length === 0 ? -1 : 2 * askedIn(inSentence) - 1),
    asked: Number(asked.length > 0),
    askedInSentence: askedIn(inSentence),
    askedInPassage: askedIn(inPassage),
    isAskedMissing: Number(asked.length > 0 && askedIn(inPassage) < 0.5),
    kind: kind ?? 0,
    kindOfBest: kinds[0] ?? 0,
    isKindMissing: Number((kind ?? 1) < 0),
    hasNoKind: Number(kind === null),
    short: short?.confidence ?? 0,
    confidence: top.confidence,
    probability: top.probability,
    missing: top.features.missing,
    rank: top.features.rank,
    words: Math.min(1, words.length / 6),
    isOneWord: Number(words.length <= 1),
    [`type ${question.type}`]: 1,
  };
}

interface KeyWord {
  readonly word: string;
  readonly stem: string;
  readonly isName: boolean;
  readonly information: number;
}

/** Returns the words that say what a question is about. */
function keyWords(text: string): readonly KeyWord[] {
  return [...text.matchAll(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu)]
    .map(([word], at) => ({ word: word.replace(/['’]s$/u, ''), at }))
    .filter(({ word, at }) => (at > 0 && !STOP_WORDS.has(word.toLowerCase())) || /^\d/u.test(word))
    .map(({ word }) => ({ ...keyOf(word.toLowerCase()), isName: /^[\p{Lu}\p{N}]/u.test(word) }));
}

const UNKNOWN_RANK = 40_000;
const COMMON_RANK = 20;

function keyOf(word: string): KeyWord {
  const rank = Math.min(UNKNOWN_RANK, wordTable().find(word)?.rank ?? UNKNOWN_RANK);
  const information = Math.log((rank + COMMON_RANK) / COMMON_RANK) / Math.log(UNKNOWN_RANK / COMMON_RANK);
  return { word, stem: stemOf(word), isName: false, information };
}

interface Bag {
  readonly words: readonly string[];
  readonly stems: ReadonlySet<string>;
  /** Likeness of words that were looked for to the most like one of these. */
  readonly likeness: Map<string, number>;
}

function bagOf(text: string): Bag {
  const words = [...new Set(wordsOf(text))].filter((word) => !STOP_WORDS.has(word));
  return { words, stems: new Set(words.map(stemOf)), likeness: new Map() };
}

function wholeText({ payload }: ReadPassage): string {
  return `${payload.documentName} ${payload.headings.join(' ')} ${payload.text}`;
}

/** 1 for the word itself, less for words of like meaning; a name has none. */
function covered({ word, stem, isName }: KeyWord, { words, stems, likeness }: Bag): number {
  if (stems.has(stem)) return 1;
  if (isName) return 0;
  let most = likeness.get(word);
  if (most === undefined) {
    most = words.reduce((best, other) => Math.max(best, wordTable().similarity(word, other)), 0);
    likeness.set(word, most);
  }
  return most;
}

function coverage(words: readonly KeyWord[], bag: Bag) {
  let [mean, exact, total, worst] = [0, 0, 0, 0];
  for (const word of words) {
    const share = covered(word, bag);
    total += word.information;
    mean += word.information * share;
    if (share === 1) exact += word.information;
    worst = Math.max(worst, word.information * (1 - share));
  }
  const lost = Math.min(MAX_LOST, total - mean);
  return total === 0 ? { mean: 0, exact: 0, worst, lost } : { mean: mean / total, exact: exact / total, worst, lost };
}

const MAX_LOST = 3;
const NAME_WORDS = /^(?:name|surname|first|last|called)$/u;

/** Returns the words for what is asked of something: `breed` of "What breed is Luna?", `mileage` of "the mileage of the van". */
function askedWords(text: string, question: Question): readonly string[] {
  const phrase =
    /['’]s ((?:\p{Ll}+ ){0,3}\p{Ll}+)\??$/u.exec(text)?.[1] ??
    /\b(?:what|when|where|who)(?: is|'s| was| are) (?:the|my|our) ((?:\p{Ll}+ ){0,3}?\p{Ll}+) (?:of|for|in|at)\b/iu.exec(
      text,
    )?.[1] ??
    /\b(?:what|when|who) (?:is|was|are) (?:my|our) (?:\p{Ll}+ ){0,3}?(\p{Ll}+)\?/iu.exec(text)?.[1] ??
    (question.type === 'thing' ? question.focus : null);
  return wordsOf(phrase ?? '').filter((word) => !STOP_WORDS.has(word) && !NAME_WORDS.test(word));
}

const NAME_QUESTION = /\b(?:names?|surname|called)\b/iu;
/** Questions for quantities and contacts, with the units of their answers. */
const UNITS: readonly (readonly [RegExp, RegExp])[] = [
  [
    /\bhow much\b.*\b(?:costs?|pay|paid|price|money|win|won|earn|spend|spent|charge|worth|salary|fee)\b|\b(?:salary|price|cost|rent|fee|pay)\b/iu,
    /[$€£¥]|\b(?:dollars?|euros?|pounds?|crowns|francs|yen|cents?|bucks)\b/iu,
  ],
  [
    /\bhow old\b|\bage\b/iu,
    /\b(?:years? old|aged?|born|when (?:I|he|she|we) (?:was|were|turned))\b|\b(?:was|turned|is|am) (?:\d+|\p{Ll}+teen|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty)\b/iu,
  ],
  [
    /\bhow long\b/iu,
    /\b(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|decades?|met(?:er|re)s?|km|miles?|kilomet\p{L}+)\b/iu,
  ],
  [/\bhow (?:tall|high|deep|wide|far|big|large)\b/iu, /\d/u],
  [/\bphone number\b/iu, /\d{4}/u],
  [/\be-?mail/iu, /@/u],
  [/\bmileage\b/iu, /\b(?:km|miles|kilomet\p{L}+)\b/iu],
];
const DATE =
  /\b(?:1\d|20)\d\d\b|\b(?:January|February|March|April|May|June|July|August|September|October|November|December|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|morning|evening|summer|winter|spring|autumn|AM|PM)\b/u;
const PERSONS =
  'grandfather uncle cousin teacher friend driver man woman boy girl neighbor doctor brother wife father stranger colleague'.split(
    ' ',
  );
const PLACES = 'house room city kitchen park street garden school shop tree village office'.split(' ');

/** Whether a sentence has something new of the kind that a question asks for: -1 to 1; null when it asks for no kind. */
function kindIn(question: Question, text: string, sentence: string): number | null {
  const asked = new Set(wordsOf(text).map(stemOf));
  const isNew = (word: string) => !STOP_WORDS.has(word) && !asked.has(stemOf(word));
  const spans = spansOf(sentence, ['name', 'title', 'date', 'number']);
  const hasName = spans.some((span) => span.kind === 'name' && wordsOf(span.text).some(isNew));
  const sign = (condition: boolean) => (condition ? 1 : -1);
  const unit = UNITS.find(([asks]) => asks.test(text));
  if (unit !== undefined) return sign(unit[1].test(sentence));
  if (NAME_QUESTION.test(text)) return sign(hasName || spans.some(({ kind }) => kind === 'title'));
  const words = wordsOf(sentence).filter(isNew);
  const like = (kinds: readonly string[], least: number) => {
    const best = Math.max(0, ...words.flatMap((word) => kinds.map((kind) => wordTable().similarity(kind, word))));
    return Math.max(-1, Math.min(1, 4 * (best - least)));
  };
  if (question.type === 'person') return hasName ? 1 : like(PERSONS, 0.45);
  if (question.type === 'place') return hasName ? 1 : like(PLACES, 0.45);
  if (question.type === 'date') return sign(DATE.test(sentence) || spansOf(sentence, ['date']).length > 0);
  if (question.type === 'number') return sign(spans.some(({ kind }) => kind === 'number'));
  const { focus } = question;
  return question.type === 'thing' && focus !== null && !STOP_WORDS.has(focus) ? like([focus], 0.35) : null;
}
