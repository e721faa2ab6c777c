import type { RunState } from '../../common/domain/run.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Clock } from '../../common/ports/system.ts';
import type { DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { SearchSettings } from '../model.ts';
import { hasSearchableMemory } from '../retrieval/visibility.ts';

/** Why recall cannot search yet (search-recall.md §6.5). */
export type NotReady =
  | { readonly status: 'memory_warming_up' }
  | { readonly status: 'build_failed'; readonly errorClass: string | null; readonly errorMessage: string | null };

export type Readiness = ReturnType<typeof createReadiness>;

interface ReadinessDeps {
  readonly messenger: Messenger;
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: SearchSettings;
}

const ADD_PIPELINE = 'add_pipeline';
const BUILD_PIPELINES = ['cognify_pipeline', 'memify_pipeline'];
const MAX_REMEMBERED = 10_000;

/** Creates the readiness check. Ready datasets are cached for the configured time, others are checked again. */
export function createReadiness(deps: ReadinessDeps) {
  const warmUntil = new Map<string, number>();
  const remember = (datasets: readonly DatasetRef[]) => {
    if (warmUntil.size > MAX_REMEMBERED) warmUntil.clear();
    const until = deps.clock.monotonicMs() + deps.settings.recallWarmupCacheTtlMs;
    for (const dataset of datasets) warmUntil.set(dataset.id, until);
  };
  return {
    /** Forgets the state of a dataset that was erased or changed. */
    forget: (dataset: string): void => void warmUntil.delete(dataset),
    /** Returns null when recall can search. */
    async check(datasets: readonly DatasetRef[], context: CallContext) {
      if (!deps.settings.recallWarmupShortcircuit || deps.settings.recallWarmupThreshold === 0) return null;
      const now = deps.clock.monotonicMs();
      if (datasets.some((dataset) => (warmUntil.get(dataset.id) ?? 0) > now)) return null;
      try {
        const state = await readState(deps, datasets, context);
        if (state === null) remember(datasets);
        return state;
      } catch (error) {
        context.signal?.throwIfAborted();
        // The search reports the error itself; a failed check must not hide existing memory.
        deps.logger.warn('recall.readiness.failed', { error });
        return null;
      }
    },
  };
}

async function readState(
  deps: ReadinessDeps,
  datasets: readonly DatasetRef[],
  context: CallContext,
): Promise<NotReady | null> {
  if (datasets.length === 0) return { status: 'memory_warming_up' };
  const pipelines = [ADD_PIPELINE, ...BUILD_PIPELINES];
  const { runs } = await deps.messenger.call('cognify.RunStatuses', { datasets, pipelines }, context);
  const builds = runs.filter((run) => run.pipeline !== ADD_PIPELINE);
  if (builds.some((run) => run.status === 'DATASET_PROCESSING_COMPLETED')) return null;
  if (builds.length === 0 && runs.length > 0) return null;
  // The newest run of a pipeline hides an earlier completed one; built memory stays searchable.
  for (const dataset of datasets) if (await hasSearchableMemory(deps.store, dataset)) return null;
  return failureOf(builds) ?? { status: 'memory_warming_up' };
}

function failureOf(builds: readonly RunState[]): NotReady | null {
  const failed = builds.filter((run) => run.status === 'DATASET_PROCESSING_ERRORED');
  const newest = failed.toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1))[0];
  if (newest === undefined || failed.length < builds.length) return null;
  return { status: 'build_failed', errorClass: newest.errorClass, errorMessage: newest.errorMessage };
}
