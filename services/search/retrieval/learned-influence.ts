import { NEUTRAL_WEIGHT } from '../../common/records/improve/element-weights.ts';

/** Weights that were learned of nodes and edges, 0 to 1; what has none is neutral. */
export interface LearnedWeights {
  /** By ratings of answers, and how much they count: 0 to 1. */
  readonly feedback: ReadonlyMap<string, number>;
  readonly feedbackInfluence: number;
  /** By who asks, decayed to now. */
  readonly preferences: ReadonlyMap<string, number>;
  readonly preferenceInfluence: number;
}

/** What a passage is made of, by the ids of the graph. */
export interface PassageElements {
  readonly id: string;
  readonly entities: readonly string[];
}

/** How what was learned moved a passage. */
export interface LearnedShift {
  /** -1 (rejected, avoided) to 1 (confirmed, preferred). */
  readonly feedback: number;
  readonly preference: number;
  /** What the score was multiplied with. */
  readonly factor: number;
}

/** An entity stands in many passages: together they say as much of one as a quarter of its own weight. */
const ENTITY_SHARE = 0.25;
/** Passages with less than this share of the best score are not moved, those between in proportion. */
const COMPETES_FROM = 0.6;

/**
 * Moves the scores of passages by what was learned of them; the order of both lists is the same. Null stands for a passage
 * that is not moved.
 *
 * The contract blends distances (cognify-improve.md §3.6): d' = 2·[(1−f)·d/2 + f·(1−w)], for distances within the range
 * in which they mean something. Our scores are evidence, larger is better and without an upper end, so the blend is made
 * relative: s' = s·[(1−f) + f·2w] = s·(1 + f·(2w−1)), which is the contract's formula for preferences (§3.11) too. It
 * leaves a neutral passage (w = 0.5) where it is and keeps zero at zero. In place of the range of distances stands the
 * relation to the best score: only what competes for the first places is moved. A passage that was confirmed for one
 * question so cannot rise for another that it hardly fits.
 */
export function shiftsOf(
  passages: readonly PassageElements[],
  scores: readonly number[],
  learned: LearnedWeights,
): readonly (LearnedShift | null)[] {
  let best = 0;
  for (const score of scores) best = Math.max(best, score);
  return passages.map((passage, at) => {
    const feedback = biasOf(passage, learned.feedback);
    const preference = biasOf(passage, learned.preferences);
    if (best === 0 || (feedback === 0 && preference === 0)) return null;
    const part = Math.max(0, ((scores[at] ?? 0) / best - COMPETES_FROM) / (1 - COMPETES_FROM));
    if (part === 0) return null;
    const { feedbackInfluence, preferenceInfluence } = learned;
    const factor = (1 + feedbackInfluence * feedback * part) * (1 + preferenceInfluence * preference * part);
    return { feedback, preference, factor };
  });
}

/** Of a statement: what was learned of the edge alone. */
export function statementFactor(edge: string, learned: LearnedWeights): number {
  return 1 + learned.feedbackInfluence * bias(learned.feedback.get(edge));
}

function biasOf({ id, entities }: PassageElements, weights: ReadonlyMap<string, number>): number {
  if (weights.size === 0) return 0;
  let sum = 0;
  let known = 0;
  for (const entity of entities) {
    const weight = weights.get(entity);
    if (weight === undefined) continue;
    sum += bias(weight);
    known += 1;
  }
  const shared = known === 0 ? 0 : (ENTITY_SHARE * sum) / known;
  return Math.max(-1, Math.min(1, bias(weights.get(id)) + shared));
}

function bias(weight: number = NEUTRAL_WEIGHT): number {
  return 2 * Math.max(0, Math.min(1, weight)) - 1;
}
