import { setTimeout as sleep } from 'node:timers/promises';
import { clientMessage, isEngramError } from '../../common/kernel/errors.ts';
import { idOfText } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { type Scope, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { settlesWithin } from '../../common/platform/async/time-limit.ts';
import { heldError, isQueuedAlready, isRefusal, type JobFailureRules } from '../../common/platform/jobs/job-failure.ts';
import type { JobLease } from '../../common/platform/jobs/job-lease.ts';
import type { JobHandler } from '../../common/platform/jobs/job-worker.ts';
import type { ClaimedJob, NewJob } from '../../common/ports/work-queue.ts';
import { type DocumentWriter, VersionConflictError, type Write } from '../../common/storage/ports/document-store.ts';
import type { IngestDependencies } from '../dependencies.ts';
import type { WorkState } from '../model.ts';

export type WorkRecord = WorkState & { readonly version: number };

export interface WorkProgress<Record> {
  readonly signal: AbortSignal;
  readonly requestId: string;
  readonly jobId: string;
  /** Writes down how far the work is. `LeaseLostError` when another worker has it. */
  update(change: Partial<Record>): Promise<void>;
}

export interface RecordedWorkDependencies extends Pick<IngestDependencies, 'jobs' | 'workQueue' | 'clock'> {
  readonly store: DocumentWriter;
}

interface RecordedWorkParts<Record extends WorkRecord, Input> {
  /** Kind of its jobs. */
  readonly kind: string;
  /** Null: it is gone, and so is the work. */
  read(job: ClaimedJob): Promise<Record | null>;
  /** Commits the record together with `writes`. `VersionConflictError` when it changed since it was read. */
  save(job: ClaimedJob, record: Record, writes: readonly Write[]): Promise<unknown>;
  /**
   * Does all of it, or goes on; resolves to what its record says at the end. `input` is what the request brings, null without
   * one.
   */
  work(record: Record, input: Input | null, progress: WorkProgress<Record>): Promise<Partial<Record>>;
  /** How long a request waits for the end. The operator's patience is 30 s. Default 8 s. */
  readonly answerAfterMs?: number | undefined;
}

/** One piece of work. */
export interface WorkKey {
  readonly scope: Scope;
  /** Tells it apart from all others of its kind. */
  readonly key: string;
  /** By which `read` finds its record. */
  readonly payload: JsonObject;
  /** It is only worked on while it is asked for: requests bring what is stored nowhere, or what may change meanwhile. */
  readonly onRequest: boolean;
}

interface WorkRequest<Record, Input> {
  readonly work: WorkKey;
  readonly input: Input | null;
  readonly requestId: string;
  read(): Promise<Record>;
}

/** Work that a job drives, and that a record tells of. */
export interface RecordedWork<Record, Input> {
  /** For the worker of the jobs. */
  readonly handler: JobHandler;
  /** To be committed with a new record; none where a job of an earlier one is still there. */
  jobWrites(work: WorkKey): Promise<readonly Write[]>;
  /** Queues the job where the record has none. */
  ensureJob(work: WorkKey): Promise<void>;
  /**
   * Works on it when no worker does. Resolves when it is complete, when an attempt failed for good (`onRequest`: at all), or
   * after a while to how far it is.
   */
  progress(request: WorkRequest<Record, Input>): Promise<Record>;
}

const ANSWER_AFTER_MS = 8_000;
const LOOK_AGAIN_MS = 500;
/** Interval for checking work whose requester is gone. */
const NEXT_REQUEST_MS = 60_000;

export function createRecordedWork<Record extends WorkRecord, Input>(
  deps: RecordedWorkDependencies,
  parts: RecordedWorkParts<Record, Input>,
): RecordedWork<Record, Input> {
  const { jobs, workQueue, store } = deps;
  const { kind, answerAfterMs = ANSWER_AFTER_MS } = parts;
  const failures = failureRules(deps, parts);
  const jobOf = ({ scope, key, payload, onRequest }: WorkKey): NewJob & { readonly id: string } => ({
    id: idOfText(JSON.stringify([kind, scope.tenant, key])),
    kind,
    payload: { ...payload, onRequest },
  });
  const jobWrites = async (work: WorkKey): Promise<readonly Write[]> => {
    const job = jobOf(work);
    return (await workQueue.exists(SYSTEM_SCOPE, job.id)) ? [] : workQueue.enqueueWrites(work.scope, job).writes;
  };
  const ensureJob = async (work: WorkKey): Promise<void> => {
    const writes = await jobWrites(work);
    if (writes.length === 0) return;
    await store.commit(work.scope, writes).catch((error: unknown) => {
      if (!isQueuedAlready(error)) throw error;
    });
  };
  return {
    handler: { drive: (job, lease) => drive(deps, parts, { job, lease, request: null }), failures },
    jobWrites,
    ensureJob,
    async progress({ work, input, requestId, read }) {
      const endsAt = performance.now() + answerAfterMs;
      const { id } = jobOf(work);
      const handler: JobHandler = {
        drive: (job, lease) => drive(deps, parts, { job, lease, request: { input, requestId } }),
        failures,
      };
      if (!(await read()).isComplete) await ensureJob(work);
      for (let isDriven = false; ; ) {
        const attempt: Promise<boolean> = isDriven ? Promise.resolve(true) : jobs.run(id, handler);
        const isOver = await settlesWithin(attempt, endsAt - performance.now());
        isDriven = isOver ? await attempt : true;
        const record = await read();
        const rest = endsAt - performance.now();
        if (record.isComplete || record.failure !== null || rest <= 0 || jobs.stopping.aborted) return record;
        await sleep(Math.min(rest, LOOK_AGAIN_MS));
      }
    },
  };
}

interface Attempt<Input> {
  readonly job: ClaimedJob;
  readonly lease: JobLease;
  readonly request: { readonly input: Input | null; readonly requestId: string } | null;
}

async function drive<Record extends WorkRecord, Input>(
  { workQueue, store, clock }: RecordedWorkDependencies,
  parts: RecordedWorkParts<Record, Input>,
  { job, lease: { signal }, request }: Attempt<Input>,
): Promise<void> {
  const complete = () => store.commit(job.scope, workQueue.completeWrites(job));
  const found = await parts.read(job);
  if (found === null || found.isComplete) {
    await complete();
    return;
  }
  if (request === null && isOnRequest(job)) return workQueue.release(job, NEXT_REQUEST_MS);
  let current: Record = found;
  const save = async (change: Partial<WorkState> | Partial<Record>, writes: readonly Write[]): Promise<void> => {
    const next = { ...current, ...change, touchedAtMs: clock.now().getTime() };
    try {
      await parts.save(job, next, writes);
    } catch (error) {
      throw heldError(error, job);
    }
    current = { ...next, version: current.version + 1 };
  };
  try {
    await save({ failure: null }, workQueue.heldWrites(job));
    const { input, requestId } = request ?? { input: null, requestId: job.id };
    const update = (change: Partial<Record>) => save(change, workQueue.heldWrites(job));
    const change = await parts.work(current, input, { signal, requestId, jobId: job.id, update });
    await save({ ...change, isComplete: true, failure: null }, workQueue.completeWrites(job));
  } catch (error) {
    // Its record was removed meanwhile.
    if (!(error instanceof VersionConflictError) || (await parts.read(job)) !== null) throw error;
    await complete();
  }
}

function isOnRequest({ payload }: ClaimedJob): boolean {
  return payload['onRequest'] === true;
}

/** Who asks again and again decides when to stop; other work ends with what no further attempt can mend. */
function failureRules<Record extends WorkRecord, Input>(
  { workQueue, clock }: RecordedWorkDependencies,
  { read, save }: RecordedWorkParts<Record, Input>,
): JobFailureRules {
  return {
    decide: (error, job) => (isRefusal(error) && !isOnRequest(job) ? 'end' : 'retry'),
    async record(job, error, fate) {
      if (fate === 'retry' && !isOnRequest(job)) return;
      const record = await read(job);
      if (record === null) return;
      const failed = { ...record, failure: failureOf(error), touchedAtMs: clock.now().getTime() };
      await save(job, failed, workQueue.heldWrites(job)).catch((conflict: unknown) => {
        throw heldError(conflict, job);
      });
    },
  };
}

function failureOf(error: unknown): NonNullable<WorkState['failure']> {
  if (isEngramError(error)) return { name: error.wireName, message: clientMessage(error) };
  return { name: 'CogneeSystemError', message: 'An unexpected error; see the log of ingest' };
}
