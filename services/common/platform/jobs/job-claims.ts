import { pagesOf } from '../../kernel/result-page.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { WallClock } from '../../ports/system.ts';
import { type DocumentStore, DuplicateKeyError, type Query } from '../../storage/ports/document-store.ts';
import { nullIf } from '../async/null-if.ts';
import { isLeased } from '../leases/lease.ts';
import { givenUp, type JobDocument, jobLeases, jobsCollection, type StoredJob } from './job-document.ts';

const PAGE = 100;

interface ClaimOptions {
  readonly store: DocumentStore;
  readonly clock: WallClock;
  readonly kinds: readonly string[];
  readonly worker: string;
  readonly leaseMs: number;
}

/**
 * Claims the next job: first those of lost workers, by the end of their lease, then the queue in enqueue order. A claim is a
 * compare-and-set on state and fencing token, so of any number of workers one gets the job.
 */
export async function claimNext(options: ClaimOptions): Promise<StoredJob | null> {
  for await (const job of lapsedJobs(options)) {
    const claimed = job.value.attempts < job.value.maxAttempts ? await take(options, job) : await bury(options, job);
    if (claimed !== null) return claimed;
  }
  // Of each ordering key only its first job may be next.
  const seenKeys = new Set<string>();
  for await (const job of queuedJobs(options)) {
    const key = job.value.orderingKey;
    if (key !== null) {
      if (seenKeys.has(key)) continue;
      seenKeys.add(key);
      if (!(await isNextOfKey(options.store, key, job.id))) continue;
    }
    const claimed = await take(options, job);
    if (claimed !== null) return claimed;
  }
  return null;
}

function lapsedJobs({ store, clock, kinds }: ClaimOptions): AsyncGenerator<StoredJob> {
  const dueAtMs = { atMost: clock.now().getTime() };
  return jobsOf(store, { where: { state: 'running', kind: { in: kinds }, dueAtMs }, sort: [{ field: 'dueAtMs' }] });
}

function queuedJobs({ store, clock, kinds }: ClaimOptions): AsyncGenerator<StoredJob> {
  const dueAtMs = { atMost: clock.now().getTime() };
  return jobsOf(store, { where: { state: 'queued', kind: { in: kinds }, dueAtMs }, sort: [{ field: 'sequence' }] });
}

async function* jobsOf(store: DocumentStore, query: Omit<Query<JobDocument>, 'limit'>): AsyncGenerator<StoredJob> {
  const read = (after: string | null) => store.find(SYSTEM_SCOPE, jobsCollection, { ...query, limit: PAGE, after });
  for await (const jobs of pagesOf(read)) yield* jobs;
}

/** Whether no earlier job of the ordering key is running or waiting for its back-off. */
async function isNextOfKey(store: DocumentStore, orderingKey: string, id: string): Promise<boolean> {
  const { items } = await store.find(SYSTEM_SCOPE, jobsCollection, {
    where: { orderingKey, state: { in: ['queued', 'running'] } },
    sort: [{ field: 'sequence' }],
    limit: 1,
  });
  return items[0]?.id === id;
}

/**
 * Claims one job, also during its back-off and when it is dead: the caller wants it tried now. Null when there is no such job,
 * and when a worker holds it.
 */
export async function claimOne(options: Omit<ClaimOptions, 'kinds'>, jobId: string): Promise<StoredJob | null> {
  const job = await options.store.get(SYSTEM_SCOPE, jobsCollection, jobId);
  if (job === null || isLeased(jobLeases.of(job.value), options.clock.now().getTime())) return null;
  return take(options, job);
}

/** Claims the job; null when another worker was faster. A replayed job may meet a running one of its key: the unique index stops it. */
async function take({ store, clock, worker, leaseMs }: Omit<ClaimOptions, 'kinds'>, job: StoredJob) {
  const { state, orderingKey, idempotencyKey } = job.value;
  const revived = state === 'dead' ? { unfinishedKey: idempotencyKey, failedAt: null } : {};
  const lease = { holder: worker, leasedUntilMs: clock.now().getTime() + leaseMs };
  const claim = jobLeases.claimWrite(job.id, job.value, lease, {
    where: { state },
    set: { state: 'running', runningKey: orderingKey, ...revived },
    increment: { attempts: 1 },
  });
  const commit = store.commit(SYSTEM_SCOPE, [claim]);
  const [result] = (await nullIf((error) => error instanceof DuplicateKeyError, commit)) ?? [];
  return (result?.stored ?? null) as StoredJob | null;
}

/** Gives up a job whose workers were lost at each attempt. */
async function bury({ store, clock }: ClaimOptions, job: StoredJob): Promise<null> {
  const error = { name: 'WorkerLostError', message: `${job.value.attempts} workers were lost while they ran the job` };
  const set = givenUp(clock, error);
  await store.commit(SYSTEM_SCOPE, [
    jobLeases.heldWrite(job.id, job.value.fencingToken, { where: { state: 'running' }, set }),
  ]);
  return null;
}
