import type { BenchCorpus } from './corpus.ts';
import { type Difference, judge, pairedDifference, type QuestionResult, type Summary, summarise } from './measures.ts';

/** A way to search: corpus positions, best first. */
export type Ask = (query: string) => Promise<readonly number[]>;

export interface Run {
  readonly name: string;
  readonly ask: Ask;
}

export interface RunReport extends Summary {
  /** Against the first run. */
  readonly versusBm25: Difference;
}

/** Every question to every way, one after another; differences are paired with the first way, the floor. */
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
    reports[name] = { ...summarise(results), versusBm25: pairedDifference(results, floor) };
  }
  return reports;
}
