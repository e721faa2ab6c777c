import type { DatasetScope } from '../../common/kernel/scope.ts';
import { createConcurrencyLimit } from '../../common/platform/async/concurrency-limit.ts';
import type { LanguageModel, ModelCallContext } from '../../common/ports/models.ts';
import type { Candidate } from './candidates.ts';
import { BLOCKS_PER_BATCH, batchesOf, curate, type Lesson, type ProposedLesson, write } from './curate-lessons.ts';
import { isBudgetError } from './each-session.ts';
import { glossary, type KnownLessonsDependencies, similarLessons } from './known-lessons.ts';
import type { SessionMaterial } from './session-material.ts';

const CONCURRENT_CALLS = 5;

export interface Distilled {
  readonly lessons: readonly Lesson[];
  /** Candidates that were worked through, whatever came of them. */
  readonly sealed: readonly Candidate[];
  /** Sealed candidates that no call read, because there were too many. */
  readonly uncurated: number;
  /** Calls that failed; what they read stays open. */
  readonly failed: readonly unknown[];
}

/**
 * A curator proposes lessons batch by batch, a writer accepts and words each (cognify-improve.md §3.10). A budget error is
 * thrown; other failures of calls are told.
 */
export async function distilByModel(
  model: LanguageModel,
  { candidates, turns }: Pick<SessionMaterial, 'candidates' | 'turns'>,
  options: {
    readonly deps: KnownLessonsDependencies;
    readonly scope: DatasetScope;
    readonly maxBatches: number;
    readonly context: ModelCallContext;
  },
): Promise<Distilled> {
  const { deps, scope, maxBatches, context } = options;
  const chosen = maxBatches === 0 ? candidates : fitting(turns, candidates, maxBatches);
  const batches = batchesOf(turns, chosen);
  const failed: unknown[] = [];
  const open = new Set<string>();
  const proposed: ProposedLesson[] = [];
  const gate = createConcurrencyLimit(CONCURRENT_CALLS);
  await settled(
    batches.map((batch) =>
      gate(async () => {
        try {
          proposed.push(...(await curate(model, batch, context)));
        } catch (error) {
          refuse(error, context);
          failed.push(error);
          for (const { id } of batch.candidates) open.add(id);
        }
      }),
    ),
  );
  const lessons: Lesson[] = [];
  await settled(
    proposed.map((lesson) =>
      gate(async () => {
        try {
          const [known, names] = await Promise.all([
            similarLessons(deps, scope, lesson.statement),
            glossary(deps, scope, lesson.statement),
          ]);
          const written = await write(model, lesson, { lessons: known, names }, context);
          if (written !== null) lessons.push(written);
        } catch (error) {
          refuse(error, context);
          failed.push(error);
        }
      }),
    ),
  );
  const sealed = candidates.filter(({ id }) => !open.has(id));
  return { lessons, sealed, uncurated: candidates.length - chosen.length, failed };
}

/** The surest candidates, the newest first among equals, as many as the batches hold. */
function fitting(
  turns: SessionMaterial['turns'],
  candidates: readonly Candidate[],
  maxBatches: number,
): readonly Candidate[] {
  const ranked = candidates.toSorted(
    (left, right) => right.confidence - left.confidence || (left.at < right.at ? 1 : left.at > right.at ? -1 : 0),
  );
  let count = Math.min(ranked.length, maxBatches * BLOCKS_PER_BATCH);
  while (count > 1 && batchesOf(turns, ranked.slice(0, count)).length > maxBatches) count = Math.floor(count / 2);
  return ranked.slice(0, count);
}

/** A budget and an abort end everything. */
function refuse(error: unknown, { signal }: ModelCallContext): void {
  signal?.throwIfAborted();
  if (isBudgetError(error)) throw error;
}

/** Waits for all, so that nothing goes on behind an error; then throws the first. */
async function settled(work: readonly Promise<void>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(work)) if (outcome.status === 'rejected') throw outcome.reason;
}
