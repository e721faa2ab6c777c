import { setImmediate as nextTurn } from 'node:timers/promises';
import { payerOf } from '../../common/domain/budget.ts';
import type { ChunkProgress, RunItem } from '../../common/domain/run.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { createWorkGroups } from '../../common/platform/async/work-groups.ts';
import type { JobAuthority } from '../../common/platform/jobs/job-authority.ts';
import { heldError } from '../../common/platform/jobs/job-failure.ts';
import type { JobLease } from '../../common/platform/jobs/job-lease.ts';
import type { RunEnd, RunRecorder, RunUsage } from '../../common/platform/jobs/run-recorder.ts';
import type { RunJob } from '../../common/platform/messaging/jobs.ts';
import type { ModelKind, TokenUsage } from '../../common/ports/models.ts';
import { type ClaimedJob, LeaseLostError, type WorkQueue } from '../../common/ports/work-queue.ts';
import { type RunDocument, type Runs, runsCollection, type StoredRun } from '../../common/records/cognify/runs.ts';
import { type DocumentStore, update, type Write } from '../../common/storage/ports/document-store.ts';
import type { ActiveRun } from '../model.ts';
import type { RunSettings } from '../settings.ts';

/** Items of a run that are committed together, and their writes: below every adapter's limit. */
const ITEMS_TOGETHER = 50;
const WRITES_TOGETHER = 100;
/** Least pause between two writes of the number of built items, and of built chunks. */
const ITEM_PROGRESS_MS = 200;
const CHUNK_PROGRESS_MS = 1_000;

export interface ActiveRunDependencies {
  readonly store: DocumentStore;
  readonly runs: Runs;
  readonly recorder: RunRecorder;
  readonly workQueue: WorkQueue;
  readonly maxStalledClaims: number;
  readonly onStoreFailure: RunSettings['onStoreFailure'];
}

/** A claimed job with its run, its lease, and its user's permission on the dataset. */
export interface AuthorisedClaim {
  readonly job: ClaimedJob;
  readonly payload: RunJob;
  readonly lease: JobLease;
  readonly run: StoredRun;
  readonly authority: JobAuthority;
}

interface HeldCommit {
  readonly writes: readonly Write[];
  /** Whether it commits an item, which counts as progress of the run. */
  readonly isItem: boolean;
}

/** Commits of a run for as long as its worker holds the job. */
function createHeldCommits(
  { store, workQueue }: Pick<ActiveRunDependencies, 'store' | 'workQueue'>,
  { job, lease, scope, id }: Pick<AuthorisedClaim, 'job' | 'lease'> & Pick<ActiveRun, 'scope' | 'id'>,
) {
  let isStalled = true;
  // Every commit changes the job, so two at a time would only conflict.
  return createWorkGroups<HeldCommit, undefined>({
    async together(group) {
      const writes = group.flatMap((each) => each.writes);
      const hasProgress = isStalled && group.some(({ isItem }) => isItem);
      if (hasProgress) writes.push(update(runsCollection, id, { set: { stalledClaims: 0 } }));
      try {
        await commitAs(job, () => store.commit(scope, [...workQueue.heldWrites(job), ...writes]));
      } catch (error) {
        if (error instanceof LeaseLostError) lease.abort(error);
        throw error;
      }
      if (hasProgress) isStalled = false;
      return group.map(() => undefined);
    },
    gather: nextTurn,
    concernsAll: (error) => error instanceof LeaseLostError || (isEngramError(error) && error.retryable),
    maxCount: ITEMS_TOGETHER,
    maxSize: WRITES_TOGETHER,
    sizeOf: ({ writes }) => writes.length,
  });
}

/** Creates the run that an executor works with. `outcome`: its items and usage so far. */
export function createActiveRun(
  { store, runs, recorder, workQueue, onStoreFailure, maxStalledClaims }: ActiveRunDependencies,
  { job, payload, lease, run, authority }: AuthorisedClaim,
): { readonly active: ActiveRun; readonly outcome: () => Pick<RunEnd, 'items' | 'usage'> } {
  const { dataset, principal } = authority;
  const scope = scopeOf(dataset);
  const { id } = run.state;
  const results = new Map<string, RunItem | null>();
  let completed = 0;
  let usage: RunUsage = { inputTokens: 0, outputTokens: 0, embeddingTokens: 0 };
  let lastStage: string | null = null;
  const chunks = new Map<string, ChunkProgress>();
  let writtenAt = Number.NEGATIVE_INFINITY;
  const commitHeld = createHeldCommits({ store, workQueue }, { job, lease, scope, id });
  const writeProgress = async (change: Partial<RunDocument>, pauseMs: number): Promise<void> => {
    const now = performance.now();
    if (now - writtenAt < pauseMs) return;
    writtenAt = now;
    const progress = { ...change, totalItems: results.size, chunks: summed(chunks) };
    await commitHeld({ writes: [runs.tickWrite(id, progress)], isItem: false });
  };
  const active: ActiveRun = {
    id,
    pipeline: run.state.pipeline,
    dataset,
    scope,
    principal,
    payer: run.paidBy.length === 0 ? payerOf(principal) : { tenant: principal.tenant, accounts: run.paidBy },
    options: payload.options,
    signal: lease.signal,
    isResumable: onStoreFailure === 'retry' && run.stalledClaims + 1 < maxStalledClaims,
    plan: (items) => {
      for (const item of items) results.set(item, null);
    },
    drop: (item) => {
      results.delete(item);
      chunks.delete(item);
    },
    async chunksBuilt(item, progress) {
      chunks.set(item, progress);
      await writeProgress({}, CHUNK_PROGRESS_MS);
    },
    async itemEnded(item, stage) {
      results.set(item.item, item);
      chunks.delete(item.item);
      completed += 1;
      lastStage = stage?.name ?? lastStage;
      if (isProgressTick(completed, results.size)) {
        const pauseMs = completed < results.size ? ITEM_PROGRESS_MS : 0;
        await writeProgress({ completedItems: completed, stage: lastStage }, pauseMs);
      }
      if (stage === null) return;
      const progress = { completedItems: completed, totalItems: results.size, currentStage: lastStage };
      const place = { stage: stage.name, stageIndex: stage.index, stageTotal: stage.total };
      await recorder.publish({ kind: 'progress', run: { ...run.state, progress }, ...place });
    },
    commit: (writes) => commitHeld({ writes, isItem: true }),
    meter: (more, kind) => {
      usage = addedUsage(usage, more, kind);
    },
  };
  const outcome = () => ({ items: [...results.values()].filter((item) => item !== null), usage });
  return { active, outcome };
}

/** A commit that only the holder of the job gets through: `LeaseLostError` for anybody else. */
export async function commitAs(job: ClaimedJob, commit: () => Promise<unknown>): Promise<void> {
  try {
    await commit();
  } catch (error) {
    throw heldError(error, job);
  }
}

/**
 * Whether progress is written after this many items: after the first, the last, and every twentieth of the items, which is
 * about twenty writes per run.
 */
export function isProgressTick(completedItems: number, totalItems: number): boolean {
  if (completedItems <= 1 || completedItems >= totalItems) return true;
  return completedItems % Math.max(1, Math.floor(totalItems / 20)) === 0;
}

function summed(parts: ReadonlyMap<string, ChunkProgress>): ChunkProgress | null {
  if (parts.size === 0) return null;
  let [completed, total] = [0, 0];
  for (const part of parts.values()) {
    completed += part.completed;
    total += part.total;
  }
  return { completed, total };
}

function addedUsage(usage: RunUsage, more: TokenUsage, kind: ModelKind): RunUsage {
  if (kind === 'embedding') return { ...usage, embeddingTokens: usage.embeddingTokens + more.inputTokens };
  return {
    ...usage,
    inputTokens: usage.inputTokens + more.inputTokens,
    outputTokens: usage.outputTokens + more.outputTokens,
  };
}
