import { percent, quantile, round } from '../paired.ts';
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
