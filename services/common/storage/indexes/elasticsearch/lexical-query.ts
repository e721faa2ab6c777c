import type { estypes } from '@elastic/elasticsearch';
import { inverseRowFrequency } from '../../../ranking/bm25.ts';
import type { IndexKind } from '../../ports/index-entry.ts';
import type { TextCandidates } from '../../ports/text-index.ts';
import { FREQUENCY_CLASSES, termWords } from './row-words.ts';

type Query = estypes.QueryDslQueryContainer;

/** The parameters that `domain/ranking/bm25.ts` starts with. */
const K1 = 1.2;
const B = 0.75;

/** Servers refuse queries of more clauses than 1024 (small ones) to tens of thousands. */
const MAX_CLAUSES = 1000;

/** Greatest relative error of the sum above `1 / y`. */
export const RECIPROCAL_SLACK = 1e-3;

/**
 * The score that the server gives a row is never below its BM25, and above it by this share at most, unless a term stands
 * in the row more than six times.
 */
export const SCORE_SLACK = RECIPROCAL_SLACK + 1e-6;

/** A term in rows that hold it equally often. */
interface Clause {
  readonly term: number;
  readonly filter: Query;
  /** The highest frequency among the rows. */
  readonly frequency: number;
}

interface LexicalQuery {
  readonly statistics: TextCandidates['statistics'];
  /**
   * Its score is the domain's BM25 from exact statistics (see `SCORE_SLACK`), which the server's own similarity cannot give:
   * that one counts the rows of all datasets and kinds in the shard, deleted ones too, and rounds lengths. Null when no row
   * can match.
   */
  readonly scoring: Query | null;
}

/** Asks first for counts over all rows of the kind, then makes the query that ranks by them. */
export function lexicalQuery(kind: IndexKind, terms: readonly string[]) {
  const clauses = clausesOf(kind, terms);
  return {
    aggregations: {
      tokens: { sum: { field: 'length' } },
      // The server takes no empty list.
      ...(clauses.length === 0 ? {} : { holding: { filters: { filters: clauses.map(({ filter }) => filter) } } }),
    } satisfies Record<string, estypes.AggregationsAggregationContainer>,
    read(answer: Pick<estypes.SearchResponse, 'hits' | 'aggregations'>): LexicalQuery {
      const total = answer.hits.total;
      const rowCount = typeof total === 'number' ? total : (total?.value ?? 0);
      const tokens = answer.aggregations?.['tokens'] as estypes.AggregationsSumAggregate | undefined;
      const holding = answer.aggregations?.['holding'] as estypes.AggregationsFiltersAggregate | undefined;
      const counts = (holding?.buckets ?? []) as readonly { readonly doc_count: number }[];
      const rowFrequencies = terms.map(() => 0);
      for (const [at, { term }] of clauses.entries()) {
        rowFrequencies[term] = (rowFrequencies[term] ?? 0) + (counts[at]?.doc_count ?? 0);
      }
      const averageLength = rowCount === 0 ? 0 : (tokens?.value ?? 0) / rowCount;
      const statistics = { rowCount, averageLength, rowFrequencies };
      const present = clauses.filter((_, at) => (counts[at]?.doc_count ?? 0) > 0);
      return { statistics, scoring: present.length === 0 ? null : scoringQuery(present, statistics) };
    },
  };
}

/** Very long queries distinguish fewer frequencies: rows with frequent terms are then ranked too high, never too low. */
function clausesOf(kind: IndexKind, terms: readonly string[]): readonly Clause[] {
  const ends = terms.length * FREQUENCY_CLASSES.length <= MAX_CLAUSES ? FREQUENCY_CLASSES.map((_, at) => at + 1) : [1, 3, FREQUENCY_CLASSES.length]; // biome-ignore format: one line
  return terms.flatMap((text, term) => {
    const words = termWords(kind, text);
    if (words === null) return [];
    return ends.map((end, at): Clause => {
      const alike = words.slice(ends[at - 1] ?? 0, end);
      const filter: Query =
        alike.length === 1 ? { term: { words: alike[0] as string } } : { terms: { words: [...alike] } };
      return { term, filter, frequency: FREQUENCY_CLASSES[end - 1]?.most ?? 1 };
    });
  });
}

/** For each frequency: the weights of the terms that a row holds so often, times the share of saturation and length. */
function scoringQuery(clauses: readonly Clause[], statistics: TextCandidates['statistics']): Query {
  const weights = statistics.rowFrequencies.map(
    (rowFrequency) => inverseRowFrequency(statistics.rowCount, rowFrequency) * (K1 + 1),
  );
  const byFrequency = Map.groupBy(clauses, ({ frequency }) => frequency);
  const should = [...byFrequency].map(([frequency, alike]) => {
    const weighted = alike.map(
      ({ term, filter }): Query => ({ constant_score: { filter, boost: weights[term] ?? 0 } }),
    );
    return saturated({ bool: { should: weighted } }, frequency, statistics.averageLength);
  });
  return { bool: { should } };
}

/** The score of `query` times `f / (f + k1 · (1 − b + b · length / averageLength))`. */
function saturated(query: Query, frequency: number, averageLength: number): Query {
  if (frequency === Number.POSITIVE_INFINITY) return query;
  const shortest = frequency + K1 * (1 - B);
  const perToken = (K1 * B) / averageLength / shortest;
  return {
    function_score: {
      query,
      functions: RECIPROCAL.map(({ weight, rate }) => ({
        exp: { length: { origin: 0, scale: Math.LN2 / (rate * perToken), decay: 0.5 } },
        weight: ((weight * frequency) / shortest) * Math.exp(-rate),
      })),
      score_mode: 'sum',
      boost_mode: 'multiply',
    },
  };
}

/**
 * `1 / y ≈ Σ weight · exp(−rate · y)` for y from 1 to 100, never below it and less than a thousandth above. Elasticsearch
 * without scripts can let a score decay exponentially with a field, but not divide by it: this is how it comes to the
 * length normalisation of BM25. Found by a minimax fit of the relative error with six terms.
 */
export const RECIPROCAL: readonly { readonly weight: number; readonly rate: number }[] = [
  { weight: 0.02124372, rate: 0.0080807965 },
  { weight: 0.06191707, rate: 0.0475726405 },
  { weight: 0.15306032, rate: 0.1480293008 },
  { weight: 0.39325003, rate: 0.4017641541 },
  { weight: 1.03346895, rate: 1.0629315164 },
  { weight: 2.88533225, rate: 2.8448380437 },
];
