import { payerOf } from '../../common/domain/budget.ts';
import type { ChunkProgress, RunItem } from '../../common/domain/run.ts';
import type { RunId } from '../../common/kernel/brand.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { clientMessage, engramError, isEngramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { datasetScope } from '../../common/kernel/scope.ts';
import { createWorkGroups } from '../../common/platform/async/work-groups.ts';
import { authoriseJob, type JobAuthority } from '../../common/platform/jobs/job-authority.ts';
import { heldError } from '../../common/platform/jobs/job-document.ts';
import { HandOverError, handOver } from '../../common/platform/jobs/job-failure.ts';
import type { JobLease } from '../../common/platform/jobs/job-lease.ts';
import { isPassing } from '../../common/platform/jobs/run-error.ts';
import {
  describeRunError,
  type RunEnd,
  type RunRecorder,
  type RunUsage,
} from '../../common/platform/jobs/run-recorder.ts';
import { type RunJob, readRunJob } from '../../common/platform/messaging/jobs.ts';
import type { Messenger } from '../../common/platform/messaging/messenger.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { ModelKind, TokenUsage } from '../../common/ports/models.ts';
import type { Clock } from '../../common/ports/system.ts';
import { NO_TRACER, type TraceRoot, type Tracer } from '../../common/ports/tracer.ts';
import { type ClaimedJob, LeaseLostError, type WorkQueue } from '../../common/ports/work-queue.ts';
import {
  datasetOf,
  type RunDocument,
  type Runs,
  runsCollection,
  type StoredRun,
} from '../../common/records/cognify/runs.ts';
import { type DocumentStore, update, type Write } from '../../common/storage/ports/document-store.ts';
import { isProgressTick } from './progress-rule.ts';
import type { ActiveRun, RunExecutor } from './run-executor.ts';
import type { RunSettings } from './run-settings.ts';
import { whileInUse } from './while-in-use.ts';

export interface DriveDependencies {
  readonly store: DocumentStore;
  readonly runs: Runs;
  readonly recorder: RunRecorder;
  readonly workQueue: WorkQueue;
  readonly messenger: Messenger;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly logger: Logger;
  /** Absent: nothing is traced. */
  readonly tracer?: Tracer;
  readonly maxStalledClaims: number;
  readonly onStoreFailure: RunSettings['onStoreFailure'];
}

/** Takes a claimed job to its end: completed, errored, handed over, or lost to another worker. Never throws. */
export async function driveRun(
  dependencies: DriveDependencies,
  executor: RunExecutor,
  job: ClaimedJob,
  lease: JobLease,
): Promise<void> {
  const { logger } = dependencies;
  const { runId, datasetId } = job.payload as RunJob;
  const fields = { runId, datasetId, attempt: job.attempt };
  try {
    const payload = await readJob(dependencies, job);
    if (payload !== null) await drive(dependencies, executor, { job, payload, lease });
  } catch (error) {
    const reason: unknown = lease.signal.reason instanceof LeaseLostError ? lease.signal.reason : error;
    if (reason instanceof LeaseLostError) {
      logger.warn('run.lease.lost', { ...fields, reason: reason.message });
    } else {
      // The state stays STARTED and the lease lapses: another claim goes on with the run.
      logger.error('run.unrecorded', { ...fields, error });
      await tellInterrupted(dependencies, job, error);
    }
  }
}

/** Null for a job that no attempt can read: it is a dead letter then. */
async function readJob({ workQueue, logger }: DriveDependencies, job: ClaimedJob): Promise<RunJob | null> {
  try {
    return await readRunJob(job.payload);
  } catch (error) {
    logger.error('run.job.unreadable', { jobId: job.id, error });
    await workQueue.fail(job, { name: 'CorruptStoreError', message: String(error) }, { retry: false });
    return null;
  }
}

/** Whoever waits for the run would wait until the store can be written again. */
async function tellInterrupted(
  { runs, recorder, logger }: DriveDependencies,
  job: ClaimedJob,
  error: unknown,
): Promise<void> {
  const { runId, datasetId } = job.payload as RunJob;
  const reason = isEngramError(error) ? clientMessage(error) : 'its end could not be recorded.';
  try {
    const run = await runs.get(datasetScope(job.scope.tenant, asId(datasetId)), asId<RunId>(runId));
    if (run !== null) await recorder.publish({ kind: 'interrupted', run: run.state, reason });
  } catch (unreadable) {
    logger.error('run.unreadable', { runId, error: unreadable });
  }
}

interface Claim {
  readonly job: ClaimedJob;
  readonly payload: RunJob;
  readonly lease: JobLease;
}

interface AuthorisedClaim extends Claim {
  readonly run: StoredRun;
  readonly authority: JobAuthority;
}

async function drive(dependencies: DriveDependencies, executor: RunExecutor, claim: Claim): Promise<void> {
  const { store, runs, workQueue, maxStalledClaims } = dependencies;
  const { job, payload } = claim;
  const scope = datasetScope(job.scope.tenant, asId(payload.datasetId));
  const run = await runs.get(scope, asId<RunId>(payload.runId));
  if (run === null || run.state.status !== 'DATASET_PROCESSING_STARTED') {
    await commitAs(job, () => store.commit(scope, workQueue.completeWrites(job)));
    return;
  }
  if (run.stalledClaims >= maxStalledClaims) {
    const message = `The run made no progress in ${run.stalledClaims} attempts.`;
    await finish(dependencies, claim, run, {
      error: describeRunError(engramError('AbandonedPipelineRunError', message)),
    });
    return;
  }
  const counted = update(runsCollection, run.state.id, { increment: { stalledClaims: 1 } });
  await commitAs(job, () => store.commit(scope, [...workQueue.heldWrites(job), counted]));
  const authority = await authorise(dependencies, claim, run);
  if (authority !== null) await execute(dependencies, executor, { ...claim, run, authority });
}

/** Null when the run may not go on now; it was ended or put back then. */
async function authorise(dependencies: DriveDependencies, claim: Claim, run: StoredRun): Promise<JobAuthority | null> {
  const { workQueue } = dependencies;
  const { userId, userTenant, datasetId } = claim.payload;
  try {
    const account = { userId, tenant: userTenant, datasetIds: [datasetId] };
    return await authoriseJob(dependencies, account, { requestId: run.state.id, signal: claim.lease.signal });
  } catch (error) {
    const described = describeRunError(error);
    if (!isPassing(error)) {
      await finish(dependencies, claim, run, { error: described });
      return null;
    }
    const fate = await workQueue.fail(
      claim.job,
      { name: described.errorClass, message: described.message },
      { retry: true },
    );
    if (fate === 'dead') await dependencies.recorder.ended(run, datasetOf(run), { error: described });
    return null;
  }
}

async function execute(dependencies: DriveDependencies, executor: RunExecutor, claim: AuthorisedClaim): Promise<void> {
  const { workQueue, logger, tracer = NO_TRACER } = dependencies;
  const { job, lease, run, authority } = claim;
  const { active, outcome } = activeRun(dependencies, claim);
  const fields = { runId: run.state.id, pipeline: run.state.pipeline, datasetId: authority.dataset.id };
  logger.info('run.claimed', { ...fields, attempt: job.attempt });
  try {
    const using = { principal: authority.principal, requestId: run.state.id };
    const report = await whileInUse(dependencies, using, () =>
      tracer.root(rootOf(claim), () => executor.execute(active)),
    );
    lease.signal.throwIfAborted();
    const { counts, outcome: kind, itemError } = report;
    await finish(dependencies, claim, run, {
      ...{ ...outcome(), counts },
      ...(kind === undefined ? {} : { outcome: kind }),
      ...(itemError === undefined ? {} : { itemError }),
    });
    logger.info('run.completed', { ...fields, ...counts });
  } catch (error) {
    const reason: unknown = lease.signal.aborted ? lease.signal.reason : error;
    if (reason instanceof LeaseLostError) throw reason;
    if (reason instanceof HandOverError) {
      await handOver(workQueue, job);
      logger.info('run.handed-over', fields);
      return;
    }
    if (dependencies.onStoreFailure === 'retry' && isPassing(reason)) {
      const { errorClass: name, message } = describeRunError(reason);
      await workQueue.fail(job, { name, message }, { retry: true });
      logger.warn('run.postponed', { ...fields, reason: message });
      await tellInterrupted(dependencies, job, reason);
      return;
    }
    logger.error('run.errored', { ...fields, error: reason });
    await finish(dependencies, claim, run, { ...outcome(), error: describeRunError(reason) });
  }
}

/** It goes on with the trace of the request that asked for it, and is its user's like that. */
function rootOf({ job, payload, run, authority }: AuthorisedClaim): TraceRoot {
  const { id: user, tenant } = authority.principal;
  return {
    name: `run ${run.state.pipeline}`,
    owner: { user, tenant },
    attributes: { run_id: run.state.id, dataset_id: authority.dataset.id, attempt: job.attempt },
    continues: payload.trace,
  };
}

/** Items of a run that are committed at once, and their writes: below every adapter's limit. */
const ITEMS_TOGETHER = 50;
const WRITES_TOGETHER = 100;
/** Between two notes of how many chunks are built. */
const CHUNK_NOTE_MS = 1_000;

interface HeldCommit {
  readonly writes: readonly Write[];
  /** It brings the run forward; a note of its progress does not. */
  readonly isItem: boolean;
}

function activeRun(
  { store, runs, recorder, workQueue, onStoreFailure, maxStalledClaims }: DriveDependencies,
  { job, payload, lease, run, authority }: Claim & { readonly run: StoredRun; readonly authority: JobAuthority },
): { readonly active: ActiveRun; readonly outcome: () => Pick<RunEnd, 'items' | 'usage'> } {
  const { dataset, principal } = authority;
  const scope = scopeOf(dataset);
  const { id } = run.state;
  const results = new Map<string, RunItem | null>();
  let completed = 0;
  let usage: RunUsage = { inputTokens: 0, outputTokens: 0, embeddingTokens: 0 };
  let lastStage: string | null = null;
  let isStalled = true;
  const chunks = new Map<string, ChunkProgress>();
  let chunksNotedAt = Number.NEGATIVE_INFINITY;
  const progressOf = () => ({ completedItems: completed, totalItems: results.size, currentStage: lastStage });
  // Every commit changes the job, so that two at a time would only disturb each other.
  const commitHeld = createWorkGroups<HeldCommit, undefined>({
    async together(group) {
      const writes = group.flatMap((each) => each.writes);
      const isMoved = isStalled && group.some(({ isItem }) => isItem);
      if (isMoved) writes.push(update(runsCollection, id, { set: { stalledClaims: 0 } }));
      try {
        await commitAs(job, () => store.commit(scope, [...workQueue.heldWrites(job), ...writes]));
      } catch (error) {
        if (error instanceof LeaseLostError) lease.abort(error);
        throw error;
      }
      if (isMoved) isStalled = false;
      return group.map(() => undefined);
    },
    concernsAll: (error) => error instanceof LeaseLostError || (isEngramError(error) && error.retryable),
    maxCount: ITEMS_TOGETHER,
    maxSize: WRITES_TOGETHER,
    sizeOf: ({ writes }) => writes.length,
  });
  const note = async (change: Partial<RunDocument>): Promise<void> => {
    await commitHeld({ writes: [runs.tickWrite(id, change)], isItem: false });
  };
  const writeTick = async (): Promise<void> => {
    if (!isProgressTick(completed, results.size)) return;
    const change = { completedItems: completed, totalItems: results.size, stage: lastStage };
    await note({ ...change, chunks: summed(chunks) });
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
    goesOnLater: onStoreFailure === 'retry' && run.stalledClaims + 1 < maxStalledClaims,
    plan: (items) => {
      for (const item of items) results.set(item, null);
    },
    drop: (item) => {
      results.delete(item);
      chunks.delete(item);
    },
    async chunksBuilt(item, progress) {
      chunks.set(item, progress);
      const now = performance.now();
      if (now - chunksNotedAt < CHUNK_NOTE_MS) return;
      chunksNotedAt = now;
      await note({ totalItems: results.size, chunks: summed(chunks) });
    },
    async itemEnded(item, stage) {
      results.set(item.item, item);
      chunks.delete(item.item);
      completed += 1;
      lastStage = stage?.name ?? lastStage;
      await writeTick();
      if (stage === null) return;
      const place = { stage: stage.name, stageIndex: stage.index, stageTotal: stage.total };
      await recorder.publish({ kind: 'progress', run: { ...run.state, progress: progressOf() }, ...place });
    },
    commit: (writes) => commitHeld({ writes, isItem: true }),
    meter: (more, kind) => {
      usage = addedUsage(usage, more, kind);
    },
  };
  const outcome = () => ({ items: [...results.values()].filter((item) => item !== null), usage });
  return { active, outcome };
}

/** Null: there are none. */
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

/** Ends run and job in one commit; throws `LeaseLostError` when another worker has the job. */
async function finish(dependencies: DriveDependencies, claim: Claim, run: StoredRun, end: RunEnd): Promise<void> {
  const { store, recorder, workQueue } = dependencies;
  const writes = workQueue.completeWrites(claim.job);
  await commitAs(claim.job, async () => {
    const state = await recorder.ended(run, datasetOf(run), end, writes);
    if (state === null) await store.commit(run.scope, writes);
  });
}

/** A commit that only the holder of the job gets through: `LeaseLostError` for anybody else. */
async function commitAs(job: ClaimedJob, commit: () => Promise<unknown>): Promise<void> {
  try {
    await commit();
  } catch (error) {
    throw heldError(error, job);
  }
}
