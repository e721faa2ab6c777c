import type { TruthSlot } from '../domain/truth-slot.ts';
import { cosine, unitVector } from '../domain/vector-text.ts';

/** A learning with its vector. */
interface Learning {
  readonly id: string;
  readonly vector: Float32Array;
}

const EPSILON = 1e-6;

/**
 * Assigns new learnings to free slots, or to the nearest slot, whose centroid moves (cognify-improve.md §3.12). Expects them
 * in the order of their ids.
 */
export function withLearnings<S extends TruthSlot>(
  slots: readonly S[],
  learnings: readonly Learning[],
  limit: number,
): readonly TruthSlot[] {
  const grown: TruthSlot[] = [...slots];
  const known = new Set(slots.flatMap(({ learningIds }) => learningIds));
  for (const { id, vector } of learnings) {
    if (known.has(id)) continue;
    known.add(id);
    const own = unitVector(vector);
    if (grown.length < limit) {
      grown.push({ slot: grown.length, count: 1, centroid: own, learningIds: [id] });
      continue;
    }
    const [nearest] = grown
      .map((slot, at) => ({ slot, at, similarity: cosine(slot.centroid, own) }))
      .sort((left, right) => right.similarity - left.similarity);
    if (nearest === undefined) continue;
    const { slot, at } = nearest;
    const moved = slot.centroid.map((value, index) => (slot.count * value + (own[index] ?? 0)) / (slot.count + 1));
    const { count, learningIds } = slot;
    grown[at] = { ...slot, count: count + 1, centroid: unitVector(moved), learningIds: [...learningIds, id] };
  }
  return grown;
}

export function areSameSlots(left: readonly TruthSlot[], right: readonly TruthSlot[]): boolean {
  return (
    left.length === right.length &&
    left.every((slot, at) => {
      const other = right[at];
      return (
        other !== undefined &&
        slot.count === other.count &&
        slot.learningIds.join() === other.learningIds.join() &&
        slot.centroid.length === other.centroid.length &&
        slot.centroid.every((value, index) => Math.abs(value - (other.centroid[index] ?? 0)) <= EPSILON)
      );
    })
  );
}

/** Returns the cosine to each centroid, 0 for an empty slot. */
export function truthCoordinates(vector: Float32Array, slots: readonly TruthSlot[], limit: number): Float32Array {
  return Float32Array.from({ length: limit }, (_, slot) => {
    const centroid = slots[slot]?.centroid;
    return centroid === undefined ? 0 : cosine(vector, centroid);
  });
}

/** Returns how well a passage agrees with the query and the learnings: 0 to 1, 0.5 without evidence. */
export function truthScore(passage: Float32Array | undefined, query: Float32Array): number {
  let shared = 0;
  let total = 0;
  for (const [slot, value] of query.entries()) {
    const weight = Math.max(value, 0);
    total += weight;
    shared += (passage?.[slot] ?? 0) * weight;
  }
  if (passage === undefined || total === 0) return 0.5;
  return Math.max(0, Math.min(1, shared / total));
}

export function truthFactor(score: number): number {
  return 0.75 + 0.5 * score;
}
