import { logistic, softmax } from '../../common/kernel/probability.ts';
import { keptByText } from '../../common/kernel/recently-used.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { turnsOf } from '../../common/text/language/turns.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import type { RankedPassage } from '../model.ts';
import { readWords } from '../retrieval/vocabulary.ts';
import { coverageBy } from '../retrieval/word-coverage.ts';
import { kindOf, rowAt } from '../retrieval/word-likeness.ts';
import { ANSWER_WEIGHTS, type AnswerWeights, type Weights } from './answer-weights.ts';
import { asksForTimeOfDay, isNewTo, type Question, wordsOf } from './question.ts';
import { undatedTime } from './sentence-times.ts';
import { KINDS_OF, type Span, spansOf, timeOfDayIn } from './spans.ts';
import { type Statement, statementsOf } from './statements.ts';

export type ReadPassage = Pick<RankedPassage, 'id' | 'payload'>;

/** A statement with the passage that it is of. */
export interface PlacedStatement {
  readonly passage: ReadPassage;
  readonly statement: Statement;
}

/** A sentence that may answer a question. */
export interface Sentence extends PlacedStatement {
  readonly features: SentenceFeatures;
}

export interface RankedSentence extends Sentence {
  readonly score: number;
  /** That it is the best answer of all; the probabilities of all sentences sum up to 1. */
  readonly probability: number;
  /** That it answers the question at all, 0 to 1. */
  readonly confidence: number;
}

const SENTENCE_FEATURES = [
  /** Shares of the question's information: in the sentence by the same words, or by like ones; in the heading alone; in neither. */
  'exact',
  'soft',
  'heading',
  'missing',
  /** Share of it in the passage with its headings. */
  'passage',
  /** Whether the sentence or its heading has the kind of thing that is asked for. */
  'focus',
  /** How sure a word that the question does not name is of the kind that is asked for: -1 to 1, 0 when none is. */
  'ofKind',
  /** Rank of the passage: reciprocal, and whether it is the first. */
  'rank',
  'isFirstPassage',
  /** Place in the passage: reciprocal, and whether it is the first sentence. */
  'place',
  'isFirstSentence',
  /** 1 with a span of the expected kind that the question does not name, -1 without, 0 when no kind is expected. */
  'hasType',
  /** A date of more than a year. */
  'hasFullDate',
  'exactWithNumber',
  'exactWithDate',
  'exactWithName',
  /** Share of the pairs of neighbouring words of the question. */
  'pairs',
  'isDefinition',
  'length',
  'isShort',
  /** The same for a passage in the first person, 0 for another one: people ask their notes in other words. */
  'ownSoft',
  'ownMissing',
  'ownPassage',
  'ownOfKind',
  'ownRank',
  'ownIsFirstPassage',
  'ownPlace',
] as const;
type SentenceFeatures = Readonly<Record<(typeof SENTENCE_FEATURES)[number], number>>;

/** Number of passages whose sentences may answer a question. */
export const PASSAGES_READ = 8;
/** A sentence with a pronoun among its first words is about the subject of the sentence before it: `Three of them died.` */
const PRONOUN =
  /^(?:he|she|it|they|his|her|its|their|this|these|er|sie|es|él|ella|il|elle)\s|^\p{L}+ (?:of )?(?:him|her|them|these|those)\s/iu;
/** Whether a sentence is about the subject of the one before it. */
export const refersBack = ({ text, isContinued }: Pick<Statement, 'text' | 'isContinued'>): boolean =>
  isContinued === true || PRONOUN.test(text);

/** Returns the sentence before one that is about its subject, without the name of its speaker; '' for another one. */
export function saidBefore(all: readonly Statement[], statement: Statement): string {
  const before = refersBack(statement) ? (all[all.indexOf(statement) - 1]?.text ?? '') : '';
  const [turn] = statement.isContinued === true ? turnsOf(before) : [];
  return turn?.start === 0 ? before.slice(turn.saidAt) : before;
}
const FIRST_PERSON = /\b(?:I|[Mm]y|[Ww]e|[Oo]ur|[Ii]ch|[Mm]eine?|[Ww]ir|[Yy]o|[Mm]is?|[Jj]e|[Mm]on|[Mm]a|[Nn]ous)\b/u;
/** So many passages in the first person among the best are notes of a person or a group; encyclopedias quote songs, too. */
const OWN_PASSAGES = 3;
const ABOUT_QUESTIONS = /\b(?:ask(?:s|ed|ing)?|questions?|wants? to know|wondered)\b/iu;
const DEFINITION = /^.{0,80}\b(?:is|was|are|were) (?:an?|the|one) /iu;

/** Whether the best passages are notes in the first person. */
export function areOwnNotes(passages: readonly ReadPassage[]): boolean {
  const read = passages.slice(0, PASSAGES_READ);
  const own = read.filter(({ payload }) => FIRST_PERSON.test(payload.text)).length;
  return own > 0 && own >= Math.min(OWN_PASSAGES, read.length / 2);
}

/** Puts a sentence before the best one, in whose place it is as sure. */
export function putFirst(sentence: RankedSentence, ranked: readonly RankedSentence[]): readonly RankedSentence[] {
  const [best = sentence] = ranked;
  const { score, probability, confidence } = best;
  return [{ ...sentence, score, probability, confidence }, ...ranked.filter((one) => one !== sentence)];
}

/** Sentences that may miss so much more of the question than the best one are about the same. */
export const MISSING_MORE = 0.1;

/** Puts the first of the best few sentences first that is about the same as the best one and has what is wanted. */
export function putWantedFirst(
  ranked: readonly RankedSentence[],
  few: number,
  isWanted: (sentence: RankedSentence) => boolean,
): readonly RankedSentence[] {
  const most = (ranked[0]?.features.missing ?? 0) + MISSING_MORE;
  const wanted = ranked.slice(0, few).find((one) => isWanted(one) && one.features.missing <= most);
  return wanted === undefined ? ranked : putFirst(wanted, ranked);
}

/** Returns sentences, best answer first. */
export function rankSentences(
  sentences: readonly Sentence[],
  weights: Pick<AnswerWeights, 'sentence' | 'confidence'> = ANSWER_WEIGHTS,
): readonly RankedSentence[] {
  const scores = sentences.map(({ features }) => weigh(features, weights.sentence));
  const shares = softmax(scores);
  return sentences
    .map((sentence, at) => {
      const confidence = logistic(weigh(sentence.features, weights.confidence));
      return { ...sentence, score: scores[at] ?? 0, probability: shares[at] ?? 0, confidence };
    })
    .toSorted((a, b) => b.score - a.score);
}

export function weigh(features: Readonly<Record<string, number>>, weights: Weights): number {
  let sum = weights['bias'] ?? 0;
  for (const name in features) sum += (features[name] ?? 0) * (weights[name] ?? 0);
  return sum;
}

/** Returns the sentences of the best passages with their features, in order. */
export function sentencesOf(
  question: Question,
  passages: readonly ReadPassage[],
  limit: number = PASSAGES_READ,
): readonly Sentence[] {
  const read = withCoverage(question, passages.slice(0, limit));
  const all = read.flatMap(({ statements }) => statements);
  const weights = termWeights(
    question,
    all.map(({ own }) => own),
  );
  const share = (value: (term: number) => number) => weights.reduce((sum, weight, at) => sum + weight * value(at), 0);
  const pairs = pairsOf(question.text);
  const isNewWord = isNewTo(question.text);
  const focus = question.terms.findIndex(({ words }) => question.focus !== null && words.includes(question.focus));
  const newOfKind = newWordOfKind(question);
  const isTimeOfDay = asksForTimeOfDay(question);
  const kinds = question.type === 'thing' ? undefined : KINDS_OF[question.type]?.slice(0, 1);

  return read.flatMap(({ passage, statements, isOwn, held }, rank) => {
    const ifOwn = (value: number) => (isOwn ? value : 0);
    return statements.map(({ statement, own, label }, at) => {
      const spans = kinds === undefined ? [] : spansOf(statement.text, kinds);
      const isNew = (span: Span) => wordsOf(span.text).some(isNewWord);
      const { type } = question;
      const isDated = type === 'date' && undatedTime({ passage, statement }) !== null;
      const isOfType = isTimeOfDay ? timeOfDayIn(statement.text) !== null : isDated || spans.some(isNew);
      const hasType = kinds === undefined ? 0 : isOfType ? 1 : -1;
      const exact = share((term) => Number(own[term] === 1));
      const exactWith = (isType: boolean) => (hasType === 1 && isType ? exact : 0);
      const found = pairsOf(statement.text);
      const features = {
        exact,
        soft: share((term) => own[term] ?? 0),
        heading: share((term) => Number(label[term] === 1 && own[term] !== 1)),
        missing: share((term) => (label[term] === 1 ? 0 : 1 - (own[term] ?? 0))),
        passage: share((term) => held[term] ?? 0),
        focus: focus < 0 ? 0 : Math.max(own[focus] ?? 0, label[focus] ?? 0),
        ofKind: newOfKind(statement.text),
        rank: 1 / (1 + rank),
        isFirstPassage: Number(rank === 0),
        place: 1 / (1 + at),
        isFirstSentence: Number(at === 0),
        hasType,
        hasFullDate: Number(
          isDated ||
            (type === 'date' && spans.some((span) => span.kind === 'date' && span.text.length > 5 && isNew(span))),
        ),
        exactWithNumber: exactWith(type === 'number'),
        exactWithDate: exactWith(type === 'date'),
        exactWithName: exactWith(type === 'person'),
        pairs: [...pairs].filter((pair) => found.has(pair)).length / Math.max(1, pairs.size),
        isDefinition: Number((type === 'thing' || type === 'person') && DEFINITION.test(statement.text)),
        length: Math.min(1, statement.text.length / 300),
        isShort: Number(statement.text.length < 40),
      };
      return {
        passage,
        statement,
        features: {
          ...features,
          ownSoft: ifOwn(features.soft),
          ownMissing: ifOwn(features.missing),
          ownPassage: ifOwn(features.passage),
          ownOfKind: ifOwn(features.ofKind),
          ownRank: ifOwn(features.rank),
          ownIsFirstPassage: ifOwn(features.isFirstPassage),
          ownPlace: ifOwn(features.place),
        },
      };
    });
  });
}

/** Returns the statements of passages that may answer a question, with how far each and what is around it cover its terms. */
function withCoverage(question: Question, passages: readonly ReadPassage[]) {
  const coverageOf = coverageOfTexts(question);
  const asksForQuestion = question.type === 'topic' || ABOUT_QUESTIONS.test(question.text);
  const asksForCommand = question.type === 'way' || /\bcommands?\b/iu.test(question.text);
  return passages.map((passage) => {
    const { documentName, headings } = passage.payload;
    const context = coverageOf([documentName, ...headings].join('\n'));
    const found = statementsOf(passage).filter(
      ({ isCommand, isQuestion, isSpeech }) =>
        (isCommand !== true || asksForCommand) && (isQuestion !== true || asksForQuestion || isSpeech === true),
    );
    const statements = found.map((statement) => {
      const above = [statement.heading, statement.label, saidBefore(found, statement)].map((text) => coverageOf(text));
      return { statement, own: coverageOf(statement.text), label: highest([...above, context]) };
    });
    return {
      passage,
      statements,
      isOwn: FIRST_PERSON.test(passage.payload.text),
      held: highest(statements.flatMap(({ own, label }) => [own, label])),
    };
  });
}

/** Returns how sure a text has a new word of the kind that a question asks for: -1 to 1, 0 when it names none. */
function newWordOfKind({ text, type, focus, excluded }: Question): (text: string) => number {
  const ofKind = type !== 'thing' || focus === null ? null : kindOf(focus);
  if (ofKind === null) return () => 0;
  const named = new Set(readWords([text, ...excluded].join(' ')).places);
  return (sentence) => {
    let most = 0;
    for (const place of wordsInSentence(sentence).places) {
      if (!named.has(place)) most = Math.max(most, ofKind(rowAt(place)));
    }
    return 2 * most - 1;
  };
}

/** For each term of the question how well a text covers it: 1 by the term itself, less by a word of like meaning, 0 to 1. */
type Coverage = readonly number[];

function coverageOfTexts({ terms }: Question): (text: string) => Coverage {
  const raise = coverageBy(terms);
  const read = new Map<string, Coverage>();
  return (text) => {
    let coverage = read.get(text);
    if (coverage === undefined) {
      const shares = terms.map(() => 0);
      raise(shares, wordsInSentence(text));
      coverage = shares;
      read.set(text, coverage);
    }
    return coverage;
  };
}

function highest(all: readonly Coverage[]): Coverage {
  const result: number[] = [];
  for (const coverage of all) {
    for (const [at, value] of coverage.entries()) result[at] = Math.max(result[at] ?? 0, value);
  }
  return result;
}

const UNKNOWN_RANK = 40_000;

/** Returns the information of each term, by its rarity among the sentences and in English; they sum up to 1. */
function termWeights({ terms }: Question, sentences: readonly Coverage[]): readonly number[] {
  const table = wordTable();
  const weights = terms.map(({ words }, at) => {
    const count = sentences.filter((coverage) => coverage[at] === 1).length;
    const rank = Math.min(UNKNOWN_RANK, ...words.map((word) => table.find(word)?.rank ?? UNKNOWN_RANK));
    const inverse = Math.log(1 + (sentences.length - count + 0.5) / (count + 0.5));
    return 0.12 * inverse + 0.045 * Math.log((rank + 2.7) / 3.7);
  });
  const total = weights.reduce((sum, weight) => sum + weight, 0) || 1;
  return weights.map((weight) => weight / total);
}

/** Sentences of the passages that answer many questions. */
const CACHED_SENTENCES = 4000;

const wordsInSentence = keptByText(CACHED_SENTENCES, (text) => readWords(text));

const pairsOf = keptByText(CACHED_SENTENCES, (text): ReadonlySet<string> => {
  const stems = wordsOf(text).map(stemOf);
  return new Set(stems.slice(1).map((stem, at) => `${stems[at]} ${stem}`));
});
