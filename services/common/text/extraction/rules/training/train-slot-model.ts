import { softmax } from '../../../../kernel/probability.ts';
import { linearRandom } from '../../../../kernel/random.ts';
import { wordTable } from '../../../words/word-table.ts';
import { readSlotModel, type SlotFeatures, type SlotModel, type StoredModel, sparseFeatures } from '../slot-model.ts';

export interface Example {
  readonly features: SlotFeatures;
  readonly label: string;
  /** Examples of one group are never on both sides of a cross-validation. */
  readonly group: number;
}

export interface TrainingOptions {
  readonly classes: readonly string[];
  readonly slots: number;
  readonly buckets: number;
  readonly epochs: number;
  /** Learning rate at the start. */
  readonly rate: number;
  /** Weight decay per example. */
  readonly decay: number;
  /** How much more than one hashed feature a word vector of length 1 weighs while the model learns. */
  readonly vectorScale: number;
}

/** Multinomial logistic regression by AdaGrad, with weights rounded to eight bits. Deterministic. */
export function train(examples: readonly Example[], options: TrainingOptions): StoredModel {
  const { classes, slots, buckets, epochs, rate, decay, vectorScale } = options;
  const { dimensions } = wordTable();
  const count = classes.length;
  const layout = { classes, slots, buckets, dimensions };
  const hashedAt = slots * dimensions;
  const rows = examples.map(({ features, label }) => {
    const { indexes, values } = sparseFeatures(features, layout);
    const scaled = values.map((value, at) => ((indexes[at] as number) < hashedAt ? value * vectorScale : value));
    return {
      indexes: Uint32Array.from(indexes),
      values: Float64Array.from(scaled),
      wanted: classes.indexOf(label),
    };
  });
  const size = (hashedAt + buckets) * count;
  const weights = new Float64Array(size);
  const squares = new Float64Array(size).fill(1);
  const random = linearRandom(7);
  for (let epoch = 0; epoch < epochs; epoch++) {
    for (const { indexes, values, wanted } of shuffled(rows, random)) {
      const scores = new Float64Array(count);
      for (let at = 0; at < indexes.length; at++) {
        const [from, value] = [valueAt(indexes, at) * count, valueAt(values, at)];
        for (let one = 0; one < count; one++) scores[one] = valueAt(scores, one) + value * valueAt(weights, from + one);
      }
      const errors = softmax(scores);
      errors[wanted] = valueAt(errors, wanted) - 1;
      for (let at = 0; at < indexes.length; at++) {
        const [from, value] = [valueAt(indexes, at) * count, valueAt(values, at)];
        for (let one = 0; one < count; one++) {
          const place = from + one;
          const gradient = valueAt(errors, one) * value + decay * valueAt(weights, place);
          const square = valueAt(squares, place) + gradient * gradient;
          squares[place] = square;
          weights[place] = valueAt(weights, place) - (rate * gradient) / Math.sqrt(square);
        }
      }
    }
  }
  for (let at = 0; at < hashedAt * count; at++) weights[at] = valueAt(weights, at) * vectorScale;
  return rounded(weights, hashedAt * count, { classes, slots, buckets });
}

/** Models that were trained without one fold of the groups each, as a function from group to model. */
export function crossValidated(
  examples: readonly Example[],
  options: TrainingOptions,
  folds = 5,
): (group: number) => SlotModel {
  const models = Array.from({ length: folds }, (_, fold) =>
    readSlotModel(
      train(
        examples.filter(({ group }) => group < 0 || group % folds !== fold),
        options,
      ),
    ),
  );
  return (group) => models[group % folds] as SlotModel;
}

function rounded(
  weights: Float64Array,
  hashedAt: number,
  layout: Pick<StoredModel, 'classes' | 'slots' | 'buckets'>,
): StoredModel {
  const scaleOf = (part: Float64Array): number =>
    part.reduce((most, weight) => Math.max(most, Math.abs(weight)), 1e-9) / 127;
  const scales = [scaleOf(weights.subarray(0, hashedAt)), scaleOf(weights.subarray(hashedAt))] as const;
  const bytes = Int8Array.from(weights, (weight, at) => Math.round(weight / scales[at < hashedAt ? 0 : 1]));
  return { ...layout, scales, weights: Buffer.from(bytes.buffer).toString('base64') };
}

function valueAt(list: Float64Array | Uint32Array, at: number): number {
  return list[at] as number;
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  const copy = [...list];
  for (let at = copy.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [copy[at], copy[other]] = [copy[other] as T, copy[at] as T];
  }
  return copy;
}
