import type { BenchQuestion } from './corpus.ts';

export interface QuestionResult {
  readonly recall2: number;
  readonly recall5: number;
  readonly recall10: number;
  readonly reciprocalRank: number;
  readonly milliseconds: number;
}

/** `ranking`: corpus positions, best first. */
export function judge(question: BenchQuestion, ranking: readonly number[], milliseconds: number): QuestionResult {
  const recallAt = (depth: number) => {
    const top = new Set(ranking.slice(0, depth));
    return question.gold.filter((position) => top.has(position)).length / question.gold.length;
  };
  const first = ranking.findIndex((position) => question.gold.includes(position));
  return {
    recall2: recallAt(2),
    recall5: recallAt(5),
    recall10: recallAt(10),
    reciprocalRank: first === -1 ? 0 : 1 / (first + 1),
    milliseconds,
  };
}

export interface Summary {
  /** Percent. */
  readonly 'R@2': number;
  readonly 'R@5': number;
  readonly 'R@10': number;
  readonly MRR: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

export function summarise(results: readonly QuestionResult[]): Summary {
  const times = results.map((result) => result.milliseconds).sort((a, b) => a - b);
  return {
    'R@2': percent(results.map((result) => result.recall2)),
    'R@5': percent(results.map((result) => result.recall5)),
    'R@10': percent(results.map((result) => result.recall10)),
    MRR: percent(results.map((result) => result.reciprocalRank)),
    p50Ms: round(quantile(times, 0.5)),
    p95Ms: round(quantile(times, 0.95)),
  };
}

export interface Difference {
  /** Points of recall@5. */
  readonly points: number;
  readonly low: number;
  readonly high: number;
  /** How many questions got better, worse. */
  readonly better: number;
  readonly worse: number;
}

/** Paired bootstrap over questions: mean difference of recall@5 with its 95 % interval. The seed is fixed. */
export function pairedDifference(
  results: readonly QuestionResult[],
  baseline: readonly QuestionResult[],
  samples = 10_000,
): Difference {
  const differences = results.map((result, at) => result.recall5 - (baseline[at]?.recall5 ?? 0));
  const random = mulberry32(20260101);
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

function percent(values: readonly number[]): number {
  return round((100 * values.reduce((sum, value) => sum + value, 0)) / Math.max(1, values.length));
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Small seeded generator (public domain, Tommy Ettinger): the intervals must not change from run to run. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
