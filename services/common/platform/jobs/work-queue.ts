import { pagesOf } from '../../kernel/result-page.ts';
import { type Scope, SYSTEM_SCOPE, type SystemScope } from '../../kernel/scope.ts';
import type { IdSource, WallClock } from '../../ports/system.ts';
import type { ClaimedJob, DeadLetter, DeadLetters, NewJob, WorkQueue } from '../../ports/work-queue.ts';
import type { Bus, Subscription } from '../../storage/ports/bus.ts';
import {
  type DocumentStore,
  DuplicateKeyError,
  type Filter,
  insert,
  remove,
  removeWhere,
  update,
  type Write,
} from '../../storage/ports/document-store.ts';
import { nullIf } from '../async/null-if.ts';
import { createWakeUp } from '../async/wake-up.ts';
import type { LeasedChange } from '../leases/lease.ts';
import { claimNext, claimOne } from './job-claims.ts';
import {
  claimedJob,
  givenUp,
  type JobDocument,
  jobLeases,
  jobsCollection,
  leaseLost,
  orderingKeyOf,
  type StoredJob,
  waiting,
} from './job-document.ts';

interface WorkQueueOptions {
  readonly store: DocumentStore;
  readonly bus: Bus;
  readonly clock: WallClock;
  readonly ids: Pick<IdSource, 'ordered'>;
  /** Interval of looking for jobs without a wake-up; default 1000. */
  readonly pollMs?: number;
  /** Wait after the given failed attempt (from 1); default 1 s doubled each time, at most 5 min. */
  readonly backOffMs?: (attempt: number) => number;
}

export interface DurableWorkQueue extends WorkQueue {
  watch(kinds: readonly string[]): Promise<WorkWatch>;
  /** Calls back when any job is cancelled; the next heartbeat of a job shows whether it is that one. */
  watchCancels(listener: () => void): Promise<Subscription>;
  /**
   * Ends the leases of all workers, so that their jobs need not wait for the end of the term. For a process that just started and
   * holds the data directory alone: every other worker is dead. Returns the number of leases.
   */
  endLeases(scope: SystemScope): Promise<number>;
}

/** Queue that, with the watches, sees at once what another process queued or cancelled; else after a poll or heartbeat. */
export type WatchedWorkQueue = WorkQueue & Partial<Pick<DurableWorkQueue, 'watch' | 'watchCancels'>>;

const DEFAULT_MAX_ATTEMPTS = 5;
const DEFAULT_POLL_MS = 1_000;

/** Creates a queue of jobs on a document store; `jobsCollection` must be prepared. */
export function createWorkQueue(options: WorkQueueOptions): DurableWorkQueue {
  const { store, bus, clock, ids, pollMs = DEFAULT_POLL_MS, backOffMs = doubledBackOff } = options;
  const nowMs = () => clock.now().getTime();

  /** Changes a job that the caller still holds. */
  const changeHeld = async (
    job: ClaimedJob,
    set: Partial<JobDocument>,
    increment: Readonly<Record<string, number>> = {},
  ): Promise<JobDocument> => {
    const [result] = await store.commit(SYSTEM_SCOPE, [heldWrite(job, { set, increment })]);
    if (result?.stored) return result.stored.value as JobDocument;
    const present = await store.get(SYSTEM_SCOPE, jobsCollection, job.id);
    throw leaseLost(job, { isTaken: present?.value.state === 'running' });
  };
  const wake = (kind: string): Promise<void> => bus.publish(wakeSubject(kind), new Uint8Array());
  return {
    enqueueWrites(scope, job) {
      const jobId = job.id ?? ids.ordered();
      return { jobId, writes: [insert(jobsCollection, jobId, newDocument(scope, job, nowMs()))] };
    },
    beginWrites(scope, job, worker, leaseMs) {
      const id = job.id ?? ids.ordered();
      const queued = newDocument(scope, job, nowMs());
      const value: JobDocument = {
        ...queued,
        ...jobLeases.spelled({ holder: worker, leasedUntilMs: nowMs() + leaseMs }),
        state: 'running',
        runningKey: queued.orderingKey,
        fencingToken: 1,
        attempts: 1,
      };
      return { job: claimedJob({ id, value }), writes: [insert(jobsCollection, id, value)] };
    },
    wake,
    watch: (kinds) => watchWork(bus, kinds, pollMs),
    watchCancels: (listener) => bus.subscribe(CANCEL_SUBJECT, listener),
    async claim(_scope, kinds, worker, leaseMs) {
      const job = await claimNext({ store, clock, kinds, worker, leaseMs });
      return job === null ? null : claimedJob(job);
    },
    async claimJob(_scope, jobId, worker, leaseMs) {
      const job = await claimOne({ store, clock, worker, leaseMs }, jobId);
      return job === null ? null : claimedJob(job);
    },
    async heartbeat(job, leaseMs) {
      const { cancelRequested } = await changeHeld(job, jobLeases.spelled({ leasedUntilMs: nowMs() + leaseMs }));
      return { cancelRequested };
    },
    heldWrites: (job) => [heldWrite(job, { required: true })],
    completeWrites: (job) => completion(job),
    async fail(job, error, { retry }) {
      if (!retry || job.attempt >= job.maxAttempts) {
        await changeHeld(job, givenUp(clock, error));
        return 'dead';
      }
      await changeHeld(job, { ...waiting(nowMs() + backOffMs(job.attempt)), error });
      return 'retry';
    },
    async release(job, afterMs = 0) {
      await changeHeld(job, waiting(nowMs() + afterMs), { attempts: -1 });
    },
    async requestCancel(scope, jobId) {
      const isAsked = await requestCancel(store, scope, jobId, nowMs());
      // When it is lost, the worker notices with its next heartbeat.
      if (isAsked) await bus.publish(CANCEL_SUBJECT, new Uint8Array()).catch(() => null);
      return isAsked;
    },
    waitingWrites: (jobId) => [update(jobsCollection, jobId, { where: { state: 'queued' }, required: true })],
    withdrawWrites: (jobId, state) => [
      update(jobsCollection, jobId, { where: { state }, required: true }),
      remove(jobsCollection, jobId),
    ],
    deadLetters: createDeadLetters({ store, nowMs, wake }),
    removeOfTenant: (scope, tenant, except) => removeOfTenant(store, scope, { tenant, id: { notEquals: except } }),
    exists: async (scope, jobId) => (await store.get(scope, jobsCollection, jobId)) !== null,
    depth: (scope) => depth(store, scope),
    endLeases: (scope) => endLeases(store, scope, nowMs()),
  };
}

async function removeOfTenant(store: DocumentStore, scope: SystemScope, where: Filter<JobDocument>) {
  const [removed] = await store.commit(scope, [removeWhere(jobsCollection, where)]);
  return { removed: removed?.changed ?? 0, left: await store.count(scope, jobsCollection, where) };
}

function doubledBackOff(attempt: number): number {
  return Math.min(300_000, 1000 * 2 ** Math.min(attempt - 1, 20));
}

function newDocument(scope: Scope, job: NewJob, nowMs: number): JobDocument {
  const tenantKey = (key: string | undefined) => (key === undefined ? null : orderingKeyOf(scope.tenant, key));
  const idempotencyKey = tenantKey(job.idempotencyKey);
  return {
    kind: job.kind,
    tenant: scope.tenant,
    dataset: scope.dataset ?? null,
    payload: job.payload,
    ...waiting(nowMs),
    orderingKey: tenantKey(job.orderingKey),
    idempotencyKey,
    unfinishedKey: idempotencyKey,
    fencingToken: 0,
    attempts: 0,
    maxAttempts: job.maxAttempts ?? DEFAULT_MAX_ATTEMPTS,
    cancelRequested: false,
    error: null,
    failedAt: null,
  };
}

function heldWrite({ id, fencingToken }: ClaimedJob, change: LeasedChange<JobDocument>): Write {
  return jobLeases.heldWrite(id, fencingToken, { ...change, where: { state: 'running' } });
}

/** The first write fails the commit with `VersionConflictError` when the job is not held any more. */
function completion(job: ClaimedJob): readonly Write[] {
  return [heldWrite(job, { set: { runningKey: null }, required: true }), remove(jobsCollection, job.id)];
}

/** Cancels the job. One that waits for its back-off becomes due at once, so that a worker ends it properly. */
async function requestCancel(store: DocumentStore, scope: SystemScope, jobId: string, nowMs: number): Promise<boolean> {
  const change = (state: 'queued' | 'running', set: Partial<JobDocument>) =>
    update(jobsCollection, jobId, { where: { state }, set });
  const results = await store.commit(scope, [
    change('running', { cancelRequested: true }),
    change('queued', { cancelRequested: true, dueAtMs: nowMs }),
  ]);
  return results.some(({ changed }) => changed > 0);
}

/** Returns the number of unfinished jobs by kind. */
async function depth(store: DocumentStore, scope: SystemScope): Promise<Readonly<Record<string, number>>> {
  const depths: Record<string, number> = {};
  const nextKind = async (after: string): Promise<StoredJob | undefined> => {
    const where = { kind: { greaterThan: after } };
    const { items } = await store.find(scope, jobsCollection, { where, sort: [{ field: 'kind' }], limit: 1 });
    return items[0];
  };
  for (let job = await nextKind(''); job !== undefined; job = await nextKind(job.value.kind)) {
    const { kind } = job.value;
    depths[kind] = await store.count(scope, jobsCollection, { kind, state: { in: ['queued', 'running'] } });
  }
  return depths;
}

async function endLeases(store: DocumentStore, scope: SystemScope, nowMs: number): Promise<number> {
  let ended = 0;
  const query = { where: { state: 'running' as const }, sort: [{ field: 'sequence' as const }], limit: 1000 };
  for await (const running of pagesOf((after) => store.find(scope, jobsCollection, { ...query, after }))) {
    const end = running.map(({ id }) =>
      update(jobsCollection, id, { where: { state: 'running' }, set: jobLeases.spelled({ leasedUntilMs: nowMs }) }),
    );
    for (const { changed } of await store.commit(scope, end)) ended += changed;
  }
  return ended;
}

interface DeadLettersOptions {
  readonly store: DocumentStore;
  readonly nowMs: () => number;
  /** Wakes the workers of the kind. */
  readonly wake: (kind: string) => Promise<void>;
}

function createDeadLetters({ store, nowMs, wake }: DeadLettersOptions): DeadLetters {
  return {
    async list(scope, { limit, after = null }) {
      const page = await store.find(scope, jobsCollection, {
        where: { state: 'dead' },
        sort: [{ field: 'sequence' }],
        limit,
        after,
      });
      return { items: page.items.map(letterOf), next: page.next };
    },
    async get(scope, jobId) {
      const job = await store.get(scope, jobsCollection, jobId);
      return job?.value.state === 'dead' ? letterOf(job) : null;
    },
    async replay(scope, jobId) {
      const job = await store.get(scope, jobsCollection, jobId);
      if (job?.value.state !== 'dead') return false;
      const fresh = { attempts: 0, cancelRequested: false, error: null, failedAt: null };
      const revive = update(jobsCollection, jobId, {
        where: { state: 'dead' },
        set: { ...waiting(nowMs()), ...fresh, unfinishedKey: job.value.idempotencyKey },
      });
      const commit = store.commit(scope, [revive]);
      const [result] = (await nullIf((error) => error instanceof DuplicateKeyError, commit)) ?? [];
      if (result?.changed !== 1) return false;
      await wake(job.value.kind).catch(() => null); // a lost one costs a poll
      return true;
    },
  };
}

function letterOf({ id, value }: StoredJob): DeadLetter {
  const { kind, tenant, dataset, payload, attempts, error, failedAt } = value;
  return {
    id,
    kind,
    tenant,
    dataset,
    payload,
    attempts,
    error: error ?? { name: 'Error', message: '' },
    failedAt: failedAt ?? '',
  };
}

/** Lets a worker wait between claims, until a job of its kinds is announced or until the next poll. */
export type WorkWatch = Awaited<ReturnType<typeof watchWork>>;

function wakeSubject(kind: string): string {
  return `engram.jobs.${kind}`;
}

/** No kind of job has this name. */
const CANCEL_SUBJECT = wakeSubject('cancel');

async function watchWork(bus: Bus, kinds: readonly string[], pollMs: number) {
  const wakeUp = createWakeUp();
  const subscriptions = await Promise.all(kinds.map((kind) => bus.subscribe(wakeSubject(kind), wakeUp.notify)));
  return {
    /** Resolves at once when a job was announced since the last wait: none is missed between a claim and the wait. */
    wait: (signal?: AbortSignal) => wakeUp.wait(pollMs, signal),
    async stop() {
      wakeUp.notify();
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
    },
  };
}
