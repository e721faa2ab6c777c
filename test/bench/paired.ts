import { seededRandom } from '../../services/common/kernel/random.ts';

export interface Difference {
  /** Mean difference, in points of percent. */
  readonly points: number;
  readonly low: number;
  readonly high: number;
  /** How many questions got better, worse. */
  readonly better: number;
  readonly worse: number;
}

/**
 * Paired bootstrap over questions: mean difference of two lists of values between 0 and 1, with its 95 % interval from
 * `samples` draws. The seed is fixed: the intervals must not change from run to run.
 */
export function pairedDifference(values: readonly number[], baseline: readonly number[], samples = 10_000): Difference {
  const differences = values.map((value, at) => value - (baseline[at] ?? 0));
  const random = seededRandom(20260101);
  const means = Array.from({ length: samples }, () => {
    let sum = 0;
    for (let draw = 0; draw < differences.length; draw++) {
      sum += differences[Math.floor(random() * differences.length)] ?? 0;
    }
    return sum / differences.length;
  }).sort((a, b) => a - b);
  return {
    points: percent(differences),
    low: round(100 * quantile(means, 0.025)),
    high: round(100 * quantile(means, 0.975)),
    better: differences.filter((difference) => difference > 0).length,
    worse: differences.filter((difference) => difference < 0).length,
  };
}

/** Mean of values between 0 and 1, in percent with one decimal. */
export function percent(values: readonly number[]): number {
  return round((100 * values.reduce((sum, value) => sum + value, 0)) / Math.max(1, values.length));
}

export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
