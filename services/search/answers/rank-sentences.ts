import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf, tokenize } from '../../common/text/language/tokenize.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import type { RankedPassage } from '../model.ts';
import { ANSWER_WEIGHTS, type AnswerWeights, type Weights } from './answer-weights.ts';
import { type Question, wordsOf } from './question.ts';
import { KINDS_OF, type Span, spansOf } from './spans.ts';
import { type Statement, statementsOf } from './statements.ts';

export type ReadPassage = Pick<RankedPassage, 'id' | 'payload'>;

/** A sentence that may answer a question. */
export interface Sentence {
  readonly passage: ReadPassage;
  readonly statement: Statement;
  readonly spans: readonly Span[];
  readonly features: SentenceFeatures;
}

export interface RankedSentence extends Sentence {
  readonly score: number;
  /** That it is the best answer of all; the probabilities of all sentences sum up to 1. */
  readonly probability: number;
  /** That it answers the question at all, 0 to 1. */
  readonly confidence: number;
}

export const SENTENCE_FEATURES = [
  /** Shares of the question's information in the sentence: exactly, by words of like meaning, in the heading alone, nowhere. */
  'exact',
  'soft',
  'heading',
  'missing',
  /** Share of the information in the passage with its headings. */
  'passage',
  /** Rank of the passage: reciprocal, and whether it is the first. */
  'rank',
  'isFirstPassage',
  /** Place in the passage: reciprocal, and whether it is the first sentence. */
  'place',
  'isFirstSentence',
  /** 1 with a span of the expected kind that the question does not name, -1 without, 0 when no kind is expected. */
  'hasType',
  'exactWithNumber',
  'exactWithDate',
  'exactWithName',
  /** Share of the pairs of neighbouring words of the question. */
  'pairs',
  'isDefinition',
  'length',
  'isShort',
] as const;
export type SentenceFeatures = Readonly<Record<(typeof SENTENCE_FEATURES)[number], number>>;

const PASSAGES_READ = 8;
const DEFINITION = /^.{0,80}\b(?:is|was|are|were) (?:an?|the|one) /iu;

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

export function softmax(scores: readonly number[]): readonly number[] {
  const top = Math.max(...scores);
  const parts = scores.map((score) => Math.exp(score - top));
  const total = parts.reduce((sum, part) => sum + part, 0);
  return parts.map((part) => part / total);
}

export function logistic(value: number): number {
  return 1 / (1 + Math.exp(-value));
}

/** Returns the sentences of the best passages with their features, in order. */
export function sentencesOf(question: Question, passages: readonly ReadPassage[]): readonly Sentence[] {
  const read = passages.slice(0, PASSAGES_READ).map((passage) => ({
    passage,
    context: new Set(tokenize(`${passage.payload.documentName}\n${passage.payload.headings.join('\n')}`)),
    tokens: new Set(tokenize(passage.payload.text)),
    statements: statementsOf(passage).map((statement) => ({
      statement,
      tokens: new Set(tokenize(statement.text)),
      label: new Set(tokenize(`${statement.heading}\n${statement.label}`)),
    })),
  }));
  const all = read.flatMap(({ statements }) => statements);
  const likeness = likenessTo(question);
  const terms = question.terms.map(({ term, words }) => {
    const count = all.filter(({ tokens }) => tokens.has(term)).length;
    return { term, words, weight: termWeight(words, count, all.length) };
  });
  const total = terms.reduce((sum, { weight }) => sum + weight, 0) || 1;
  const pairs = pairsOf(question.text);
  const named = new Set(wordsOf(question.text).map(stemOf));
  const kinds = KINDS_OF[question.type];

  return read.flatMap(({ passage, context, tokens: inPassage, statements }, rank) => {
    const held = terms.reduce(
      (sum, { term, weight }) => sum + (inPassage.has(term) || context.has(term) ? weight : 0),
      0,
    );
    return statements.map(({ statement, tokens, label }, at) => {
      const words = [...new Set(wordsOf(statement.text))].filter((word) => !STOP_WORDS.has(word));
      const share = { exact: 0, soft: 0, heading: 0, missing: 0 };
      for (const { term, weight } of terms) {
        const part = weight / total;
        if (tokens.has(term)) {
          share.exact += part;
          share.soft += part;
          continue;
        }
        const like = Math.max(0, ...words.map((word) => likeness(term, word))) ** 2;
        share.soft += part * like;
        if (label.has(term) || context.has(term)) share.heading += part;
        else share.missing += part * (1 - like);
      }
      const spans = spansOf(statement.text);
      const isNew = (span: Span) =>
        wordsOf(span.text).some((word) => !STOP_WORDS.has(word) && !named.has(stemOf(word)));
      const hasType = kinds === undefined ? 0 : spans.some((span) => kinds.includes(span.kind) && isNew(span)) ? 1 : -1;
      const found = pairsOf(statement.text);
      const ofType = (isType: boolean) => (hasType === 1 && isType ? share.exact : 0);
      const { type } = question;
      const features = {
        ...share,
        passage: held / total,
        rank: 1 / (1 + rank),
        isFirstPassage: Number(rank === 0),
        place: 1 / (1 + at),
        isFirstSentence: Number(at === 0),
        hasType,
        exactWithNumber: ofType(type === 'number'),
        exactWithDate: ofType(type === 'date'),
        exactWithName: ofType(type === 'person'),
        pairs: [...pairs].filter((pair) => found.has(pair)).length / Math.max(1, pairs.size),
        isDefinition: Number((type === 'thing' || type === 'person') && DEFINITION.test(statement.text)),
        length: Math.min(1, statement.text.length / 300),
        isShort: Number(statement.text.length < 40),
      };
      return { passage, statement, spans, features };
    });
  });
}

/** Returns how much a word of a sentence is like a term of the question in meaning: 0 to 1. */
function likenessTo(question: Question): (term: string, word: string) => number {
  const table = wordTable();
  const wordsOfTerm = new Map(question.terms.map(({ term, words }) => [term, words]));
  const known = new Map<string, number>();
  return (term, word) => {
    const key = `${term} ${word}`;
    let likeness = known.get(key);
    if (likeness === undefined) {
      likeness = Math.max(0, ...(wordsOfTerm.get(term) ?? []).map((own) => table.similarity(own, word)));
      known.set(key, likeness);
    }
    return likeness;
  };
}

const UNKNOWN_RANK = 40_000;

/** Returns the information of a term: by its rarity among the sentences, and in English. */
function termWeight(words: readonly string[], count: number, all: number): number {
  const table = wordTable();
  const rank = Math.min(UNKNOWN_RANK, ...words.map((word) => table.find(word)?.rank ?? UNKNOWN_RANK));
  const inverse = Math.log(1 + (all - count + 0.5) / (count + 0.5));
  return 0.12 * inverse + 0.045 * Math.log((rank + 2.7) / 3.7);
}

function pairsOf(text: string): ReadonlySet<string> {
  const stems = wordsOf(text).map(stemOf);
  return new Set(stems.slice(1).map((stem, at) => `${stems[at]} ${stem}`));
}
