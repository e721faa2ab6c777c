import { softmax } from '../../../kernel/probability.ts';
import { wordTable } from '../../words/word-table.ts';

/** Features of an example for a linear model: words by the slot they stand in, and flags that hold. */
export interface SlotFeatures {
  /** By slot; the words of a slot count as their mean. Lower case. */
  readonly slots: readonly (readonly string[])[];
  readonly flags: readonly string[];
}

/** A trained linear classifier over word vectors and hashed words. */
export type SlotModel = ReturnType<typeof readSlotModel>;

/** Sizes of a model. */
interface SlotLayout {
  readonly classes: readonly string[];
  readonly slots: number;
  readonly dimensions: number;
  readonly buckets: number;
}

/** Weights by feature, then by class: vectors of the slots, then the hashed words and flags. */
export interface StoredModel {
  readonly classes: readonly string[];
  readonly slots: number;
  readonly buckets: number;
  /** Value of a weight of 1, for vectors and for hashed features. */
  readonly scales: readonly [number, number];
  /** Signed bytes in Base64. */
  readonly weights: string;
}

const CACHED_WORDS = 20_000;

export function readSlotModel(stored: StoredModel) {
  const { classes, slots, buckets, scales } = stored;
  const { dimensions, find } = wordTable();
  const count = classes.length;
  const bytes = Buffer.from(stored.weights, 'base64');
  const hashedAt = slots * dimensions * count;
  if (bytes.length !== hashedAt + buckets * count) throw new Error('The weights do not fit the table of words.');
  const weights = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  const addHashed = (into: Float64Array, feature: string): void => {
    const at = hashedAt + bucketOf(feature, buckets) * count;
    for (let one = 0; one < count; one++) into[one] = (into[one] as number) + scales[1] * (weights[at + one] as number);
  };
  /** Returns the score that a word in a slot adds to each class. */
  const shareOf = (slot: number, word: string): Float64Array => {
    const share = new Float64Array(count);
    const vector = find(word)?.vector;
    for (let at = 0; vector !== undefined && at < dimensions; at++) {
      const from = (slot * dimensions + at) * count;
      const value = scales[0] * (vector[at] as number);
      for (let one = 0; one < count; one++)
        share[one] = (share[one] as number) + value * (weights[from + one] as number);
    }
    for (const feature of hashedOf(slot, word)) addHashed(share, feature);
    return share;
  };
  const known = Array.from({ length: slots }, () => new Map<string, Float64Array>());
  return {
    classes,
    /** Probability of each class. */
    probabilities(features: SlotFeatures) {
      const sums = new Float64Array(count);
      addHashed(sums, BIAS);
      for (const flag of features.flags) addHashed(sums, flag);
      for (const [slot, words] of features.slots.entries()) {
        const cache = known[slot] as Map<string, Float64Array>;
        const part = 1 / words.length;
        for (const word of words) {
          let share = cache.get(word);
          if (share === undefined) {
            share = shareOf(slot, word);
            if (cache.size >= CACHED_WORDS) cache.clear();
            cache.set(word, share);
          }
          for (let one = 0; one < count; one++) sums[one] = (sums[one] as number) + part * (share[one] as number);
        }
      }
      return softmax(sums);
    },
  };
}

const BIAS = 'bias';

/** Hashed features of a word in a slot: itself, and its ending, which tells something about unknown words. */
function hashedOf(slot: number, word: string): readonly string[] {
  return [`${slot}=${word}`, `${slot}~${word.slice(-3)}`];
}

/** The same features as a list of values, for training. */
export function sparseFeatures(features: SlotFeatures, layout: SlotLayout): { indexes: number[]; values: number[] } {
  const values = new Map<number, number>();
  const add = (at: number, value: number) => values.set(at, (values.get(at) ?? 0) + value);
  const hashedAt = layout.slots * layout.dimensions;
  const addHashed = (feature: string, value: number) => add(hashedAt + bucketOf(feature, layout.buckets), value);
  addHashed(BIAS, 1);
  for (const flag of features.flags) addHashed(flag, 1);
  for (const [slot, words] of features.slots.entries()) {
    for (const word of words) {
      for (const feature of hashedOf(slot, word)) addHashed(feature, 1 / words.length);
      const vector = wordTable().find(word)?.vector ?? [];
      for (const [at, value] of vector.entries()) add(slot * layout.dimensions + at, value / words.length);
    }
  }
  return { indexes: [...values.keys()], values: [...values.values()] };
}

/** FNV-1a. */
function bucketOf(feature: string, buckets: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < feature.length; at++) hash = Math.imul(hash ^ feature.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % buckets;
}

export function indexOfGreatest(values: Float64Array): number {
  return values.reduce((best, value, at) => (value > (values[best] as number) ? at : best), 0);
}
