/** One of the directions that learnings of a dataset lie in. */
export interface TruthSlot {
  readonly slot: number;
  /** Learnings that it is the mean of. */
  readonly count: number;
  readonly centroid: Float32Array;
  readonly learningIds: readonly string[];
}
