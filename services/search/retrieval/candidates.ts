import type { ChunkPayload } from '../../common/domain/index-rows.ts';
import { inverseRowFrequency } from '../../common/ranking/bm25.ts';
import type { TextCandidates, TextRow } from '../../common/storage/ports/text-index.ts';
import type { LaneName } from '../model.ts';
import type { TextWords } from './vocabulary.ts';
import type { PassageWords } from './word-coverage.ts';

/** An entity that the query names, with its passages. */
export interface NamedEntity {
  readonly entityId: string;
  readonly name: string;
  /** idf of the entity. */
  readonly information: number;
  /** Chunk id to whether the chunk is about the entity. */
  readonly chunks: ReadonlyMap<string, boolean>;
}

/** A candidate passage and its scores. */
export interface Candidate {
  /** Perhaps without its payload until `CandidatePool.readTexts` reads it. */
  row: TextRow;
  /** Null until its text was read. */
  payload: ChunkPayload | null;
  /** Null until they were needed. */
  words: PassageWords | null;
  /** The query terms in each of its sentences; null until they were needed. */
  found: readonly (readonly number[])[] | null;
  /** BM25 part of each query term, in the order of the terms. */
  readonly terms: Float64Array;
  /** The same for words of the same meaning; null when not compared. */
  meaning: readonly number[] | null;
  readonly lexicalScore: number;
  /** Rank (from 1) and score in each lane that found it. */
  readonly lanes: Partial<Record<LaneName, { readonly rank: number; readonly score: number }>>;
  /** Cosine with the query; null when it was not among the nearest. */
  similarity: number | null;
  /** Best BM25 score of its sentences. */
  sentenceScore: number;
}

const K1 = 1.2;
const B = 0.75;
/** Average tokens of a sentence (a word and its stem count as two). */
const SENTENCE_LENGTH = 36;

/** BM25 by term, with the statistics of one query. */
interface TermScorer {
  /** Σ idf of the terms: about the score of a text of average length that contains each of them once. */
  readonly unit: number;
  readonly information: readonly number[];
  ofFrequencies(frequencies: readonly number[], length: number): Float64Array;
  /** Returns the BM25 score of the best sentence, each scored as a row; `found`: the terms in each, see `findTerms`. */
  bestSentence(sentences: readonly TextWords[], found: readonly (readonly number[])[]): number;
}

export function createTermScorer(terms: readonly string[], statistics: TextCandidates['statistics']): TermScorer {
  const information = terms.map((_, at) =>
    inverseRowFrequency(statistics.rowCount, statistics.rowFrequencies[at] ?? 0),
  );
  const dampingOf = (length: number, averageLength: number) =>
    K1 * (1 - B + (averageLength > 0 ? (B * length) / averageLength : 0));
  const scoreOf = (at: number, frequency: number, damping: number) =>
    frequency === 0 ? 0 : ((information[at] as number) * frequency * (K1 + 1)) / (frequency + damping);
  const frequencies = new Float64Array(terms.length);
  const scoreOfSentence = (length: number, found: readonly number[]): number => {
    if (found.length === 0) return 0;
    frequencies.fill(0);
    for (const at of found) frequencies[at] = (frequencies[at] as number) + 1;
    const damping = dampingOf(length, SENTENCE_LENGTH);
    let score = 0;
    for (let at = 0; at < terms.length; at++) score += scoreOf(at, frequencies[at] as number, damping);
    return score;
  };
  return {
    unit: information.reduce((sum, weight) => sum + weight, 0),
    information,
    ofFrequencies(frequencies, length) {
      const damping = dampingOf(length, statistics.averageLength);
      const scores = new Float64Array(terms.length);
      for (let at = 0; at < terms.length; at++) scores[at] = scoreOf(at, frequencies[at] ?? 0, damping);
      return scores;
    },
    bestSentence: (sentences, found) =>
      sentences.reduce((best, { tokens }, at) => Math.max(best, scoreOfSentence(tokens.length, found[at] ?? [])), 0),
  };
}

export function createCandidate(row: TextRow, terms: Float64Array): Candidate {
  return {
    row,
    payload: null,
    words: null,
    found: null,
    terms,
    meaning: null,
    lexicalScore: terms.reduce((sum, value) => sum + value, 0),
    lanes: {},
    similarity: null,
    sentenceScore: 0,
  };
}
