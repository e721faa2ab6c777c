/** Input of BM25 for a row; a `TextCandidate` of the text index satisfies it. */
interface Bm25Row {
  readonly id: string;
  readonly item: string;
  readonly generation: number;
  /** Number of tokens. */
  readonly length: number;
  /** Occurrences of each query term. */
  readonly frequencies: readonly number[];
}

interface Bm25Candidates<Row extends Bm25Row> {
  readonly candidates: readonly Row[];
  readonly statistics: {
    readonly rowCount: number;
    readonly averageLength: number;
    /** Rows that contain each query term, in the order of the frequencies. */
    readonly rowFrequencies: readonly number[];
  };
}

interface Bm25Options {
  /** Saturation of term frequency. Default 1.2. */
  readonly k1?: number;
  /** Strength of length normalisation, 0 to 1. Default 0.75. */
  readonly b?: number;
}

interface ScoredRow<Row> {
  readonly row: Row;
  readonly score: number;
}

/**
 * Ranks rows by Okapi BM25, best first: `Σ idf · tf·(k1+1) / (tf + k1·(1 − b + b·length/averageLength))` with
 * `idf = ln(1 + (N − df + 0.5) / (df + 0.5))`, which stays positive for terms of more than half of the rows.
 * Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), §3; the idf with 1 inside
 * the logarithm is the one Lucene uses. Equal scores are ordered by id, item, generation. Rows that hold no term score 0.
 */
export function scoreBm25<Row extends Bm25Row>(
  candidates: Bm25Candidates<Row>,
  options: Bm25Options = {},
): readonly ScoredRow<Row>[] {
  const { k1 = 1.2, b = 0.75 } = options;
  const { rowCount, averageLength, rowFrequencies } = candidates.statistics;
  const weights = rowFrequencies.map((rowFrequency) => inverseRowFrequency(rowCount, rowFrequency) * (k1 + 1));
  return candidates.candidates
    .map((row) => {
      const damping = k1 * (1 - b + (averageLength > 0 ? (b * row.length) / averageLength : 0));
      let score = 0;
      for (let term = 0; term < weights.length; term++) {
        const frequency = row.frequencies[term] ?? 0;
        if (frequency > 0) score += ((weights[term] ?? 0) * frequency) / (frequency + damping);
      }
      return { row, score };
    })
    .sort((a, b) => b.score - a.score || compareRows(a.row, b.row));
}

/** Returns the idf of a term: high for rare terms, never below 0. */
export function inverseRowFrequency(rowCount: number, rowFrequency: number): number {
  return Math.log(1 + Math.max(0, rowCount - rowFrequency + 0.5) / (rowFrequency + 0.5));
}

function compareRows(a: Bm25Row, b: Bm25Row): number {
  if (a.id !== b.id) return a.id < b.id ? -1 : 1;
  if (a.item !== b.item) return a.item < b.item ? -1 : 1;
  return a.generation - b.generation;
}
