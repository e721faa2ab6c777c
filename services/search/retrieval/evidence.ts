/**
 * Contribution of a passage to a question, by dimension: one for each query term (its BM25 part), one for each entity that
 * the query names. The sum of `coverage` and `bonus` is the passage's own score.
 */
export interface EvidenceCandidate {
  readonly coverage: Float64Array;
  /** Score beyond the coverage: best sentence, rank fusion. */
  readonly bonus: number;
}

/** A link between two passages that share an entity; `weight` is its specificity, 0 to 1. */
export interface EvidenceLink {
  readonly from: number;
  readonly to: number;
  readonly weight: number;
}

export interface EvidenceOptions {
  /** Score of a link of weight 1: a share of the best possible score of a passage. */
  readonly linkValue: number;
  /** Share of the pair's score in a passage's score; the rest is its own. */
  readonly pairShare: number;
  /** Share of its coverage that a passage loses where passages above it cover the same. */
  readonly redundancy: number;
  /** Number of ranks that are ordered with redundancy; those below keep the order of scores. */
  readonly places: number;
  /** Changes the scores before ranking; same order as the candidates. */
  readonly adjust?: (scores: readonly number[]) => readonly number[];
}

export interface RankedEvidence {
  readonly index: number;
  /** Own score mixed with that of the best pair, then adjusted. */
  readonly score: number;
  readonly own: number;
  /** The passage that completes this one; null when it scores best alone. */
  readonly partner: number | null;
}

/**
 * Ranks passages for questions whose answer needs several of them. Such a question names things of both passages: each
 * covers a part of the query, and an entity that the query does not name links them. So a passage is scored by its best
 * pair: what the two cover together (each dimension once, from the better of them) plus the link. The order is then built
 * greedily: coverage that a passage above already has counts less, so that both ends of a chain come before variations of
 * one end. Without links this is the own score with redundancy.
 */
export function rankEvidence(
  candidates: readonly EvidenceCandidate[],
  links: readonly EvidenceLink[],
  options: EvidenceOptions,
): readonly RankedEvidence[] {
  const own = candidates.map((candidate) => sum(candidate.coverage) + candidate.bonus);
  const score = [...own];
  const partner: (number | null)[] = own.map(() => null);
  const raise = (index: number, other: number, pair: number) => {
    const mixed = options.pairShare * pair + (1 - options.pairShare) * (own[index] ?? 0);
    if (mixed <= (score[index] ?? 0)) return;
    score[index] = mixed;
    partner[index] = other;
  };
  for (const { from, to, weight } of links) {
    const left = candidates[from];
    const right = candidates[to];
    if (left === undefined || right === undefined || from === to) continue;
    const pair = jointCoverage(left.coverage, right.coverage) + options.linkValue * weight;
    raise(from, to, pair);
    raise(to, from, pair);
  }
  const adjusted = options.adjust?.(score) ?? score;
  const ranked = adjusted.map((value, index) => ({
    index,
    score: value,
    own: own[index] ?? 0,
    partner: partner[index] ?? null,
  }));
  ranked.sort((left, right) => right.score - left.score || left.index - right.index);
  return orderWithoutRepetition(ranked, candidates, options);
}

function orderWithoutRepetition(
  ranked: readonly RankedEvidence[],
  candidates: readonly EvidenceCandidate[],
  options: EvidenceOptions,
): readonly RankedEvidence[] {
  const dimensions = candidates[0]?.coverage.length ?? 0;
  const covered = new Float64Array(dimensions);
  const pool = [...ranked];
  const ordered: RankedEvidence[] = [];
  while (pool.length > 0 && ordered.length < options.places) {
    let best = 0;
    let bestValue = Number.NEGATIVE_INFINITY;
    for (const [position, entry] of pool.entries()) {
      // Sorted by score: once the full score is too small, nothing below can win.
      if (entry.score <= bestValue) break;
      const value = entry.score - options.redundancy * overlap(candidates[entry.index]?.coverage, covered);
      if (value > bestValue) {
        bestValue = value;
        best = position;
      }
    }
    const [chosen] = pool.splice(best, 1);
    if (chosen === undefined) break;
    ordered.push(chosen);
    const coverage = candidates[chosen.index]?.coverage;
    for (let at = 0; at < dimensions; at++) covered[at] = Math.max(covered[at] ?? 0, coverage?.[at] ?? 0);
  }
  return [...ordered, ...pool];
}

function sum(values: Float64Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

function jointCoverage(left: Float64Array, right: Float64Array): number {
  let total = 0;
  for (let at = 0; at < left.length; at++) total += Math.max(left[at] as number, right[at] as number);
  return total;
}

function overlap(coverage: Float64Array | undefined, covered: Float64Array): number {
  if (coverage === undefined) return 0;
  let total = 0;
  for (let at = 0; at < covered.length; at++) total += Math.min(coverage[at] as number, covered[at] as number);
  return total;
}
