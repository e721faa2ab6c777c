import type { ChunkPayload } from '../../common/domain/index-rows.ts';
import { inverseRowFrequency } from '../../common/domain/ranking/bm25.ts';
import { tokenize } from '../../common/language/tokenize.ts';
import type { TextCandidates, TextRow } from '../../common/ports/text-index.ts';
import type { LaneName } from './settings.ts';

/** Where an entity that the query names appears: chunk id → whether the chunk is about it. */
export interface NamedEntity {
  readonly entityId: string;
  readonly name: string;
  /** How much naming it tells: like the idf of a term. */
  readonly information: number;
  readonly chunks: ReadonlyMap<string, boolean>;
}

/** A passage that competes, with everything that is known of it. */
export interface Candidate {
  readonly row: TextRow;
  readonly payload: ChunkPayload;
  /** BM25 part of each query term. */
  readonly terms: Float64Array;
  readonly lexicalScore: number;
  /** Rank from 1 and score of each lane that found it. */
  readonly lanes: Map<LaneName, { readonly rank: number; readonly score: number }>;
  /** Cosine with the query; null when it was not among the nearest. */
  similarity: number | null;
  /** Best BM25 score of its sentences. */
  sentenceScore: number;
}

const K1 = 1.2;
const B = 0.75;
/** Tokens of a usual sentence (a word and its stem count as two). */
const SENTENCE_LENGTH = 36;

/** BM25 of rows, term by term, with the statistics of one query. */
export interface TermScorer {
  /** Σ idf of the terms: what a text that holds each of them once, at average length, scores about. */
  readonly unit: number;
  readonly information: readonly number[];
  ofFrequencies(frequencies: readonly number[], length: number): Float64Array;
  /** For rows that did not come from the lexical lane: counts the terms in the text itself. */
  ofText(text: string): Float64Array;
  /** BM25 of the best of the sentences, taking each for a row of its own. */
  bestSentence(sentences: readonly string[]): number;
}

export function createTermScorer(
  terms: readonly string[],
  statistics: TextCandidates['statistics'],
  tokensOf: WordTokens = createWordTokens(),
): TermScorer {
  const information = terms.map((_, at) =>
    inverseRowFrequency(statistics.rowCount, statistics.rowFrequencies[at] ?? 0),
  );
  const positions = new Map(terms.map((term, at) => [term, at]));
  const scoreOf = (frequencies: readonly number[], length: number, averageLength: number) => {
    const damping = K1 * (1 - B + (averageLength > 0 ? (B * length) / averageLength : 0));
    return Float64Array.from(information, (weight, at) => {
      const frequency = frequencies[at] ?? 0;
      return frequency === 0 ? 0 : (weight * frequency * (K1 + 1)) / (frequency + damping);
    });
  };
  const count = (text: string) => {
    const frequencies = terms.map(() => 0);
    let length = 0;
    for (const word of text.split(/\s+/u)) {
      const tokens = tokensOf(word);
      length += tokens.length;
      for (const token of tokens) {
        const at = positions.get(token);
        if (at !== undefined) frequencies[at] = (frequencies[at] ?? 0) + 1;
      }
    }
    return { frequencies, length };
  };
  return {
    unit: information.reduce((sum, weight) => sum + weight, 0),
    information,
    ofFrequencies: (frequencies, length) => scoreOf(frequencies, length, statistics.averageLength),
    ofText(text) {
      const { frequencies, length } = count(text);
      return scoreOf(frequencies, length, statistics.averageLength);
    },
    bestSentence(sentences) {
      let best = 0;
      for (const sentence of sentences) {
        const { frequencies, length } = count(sentence);
        const score = scoreOf(frequencies, length, SENTENCE_LENGTH).reduce((sum, value) => sum + value, 0);
        best = Math.max(best, score);
      }
      return best;
    },
  };
}

/** Tokens of a word that holds no blank. */
export type WordTokens = (word: string) => readonly string[];

const CACHED_WORDS = 50_000;
const LONGEST_CACHED_WORD = 40;

/** `tokenize` with a memory: texts repeat their words, and stemming is most of its cost. Kept by a retriever. */
export function createWordTokens(): WordTokens {
  const cache = new Map<string, readonly string[]>();
  return (word) => {
    const known = cache.get(word);
    if (known !== undefined) return known;
    const tokens = tokenize(word);
    if (word.length > LONGEST_CACHED_WORD) return tokens;
    if (cache.size >= CACHED_WORDS) cache.clear();
    cache.set(word, tokens);
    return tokens;
  };
}

export function createCandidate(row: TextRow, terms: Float64Array): Candidate {
  return {
    row,
    payload: row.payload as ChunkPayload,
    terms,
    lexicalScore: terms.reduce((sum, value) => sum + value, 0),
    lanes: new Map(),
    similarity: null,
    sentenceScore: 0,
  };
}
