import { type Difference, pairedDifference } from '../paired.ts';
import type { BenchCorpus } from './corpus.ts';
import { judge, type QuestionResult, type Summary, summarise } from './measures.ts';

/** A search method: returns corpus positions, best first. */
export type Ask = (query: string) => Promise<readonly number[]>;

interface Run {
  readonly name: string;
  readonly ask: Ask;
}

export interface RunReport extends Summary {
  /** Difference of recall@5 to the first run. */
  readonly versusBm25: Difference;
}

/** Runs every question with every method in turn; differences are paired with the first method, the baseline. */
export async function askAll(corpus: BenchCorpus, runs: readonly Run[]): Promise<Record<string, RunReport>> {
  const reports: Record<string, RunReport> = {};
  let floor: readonly QuestionResult[] | undefined;
  for (const { name, ask } of runs) {
    const results: QuestionResult[] = [];
    for (const question of corpus.questions) {
      const start = performance.now();
      const ranking = await ask(question.text);
      results.push(judge(question, ranking, performance.now() - start));
    }
    floor ??= results;
    reports[name] = { ...summarise(results), versusBm25: pairedDifference(recall5(results), recall5(floor)) };
  }
  return reports;
}

function recall5(results: readonly QuestionResult[]): readonly number[] {
  return results.map((result) => result.recall5);
}
