import { once } from 'node:events';
import { expect } from 'chai';
import { newDataset } from '../../../../test/conformance/document-store-subject.ts';
import { newKind } from '../../../../test/conformance/work-queue-subject.ts';
import { type DocumentStoreSubject, openSqliteStore } from '../../../../test/support/document-stores.ts';
import { rejection } from '../../../../test/support/refusal-of.ts';
import { until } from '../../../../test/support/until.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import { type ClaimedJob, LeaseLostError } from '../../ports/work-queue.ts';
import { createInProcessBus } from '../../storage/bus/in-process/bus.ts';
import { VersionConflictError } from '../../storage/ports/document-store.ts';
import { createIdSource } from '../system/id-source.ts';
import { jobsCollection } from './job-document.ts';
import { HandOverError, handOver, type JobFailureRules, type JobFate } from './job-failure.ts';
import type { JobLease } from './job-lease.ts';
import { createJobWorker, type JobHandler, type JobWorker, type JobWorkerSettings } from './job-worker.ts';
import { createWorkQueue, type WatchedWorkQueue } from './work-queue.ts';

/** Nothing happens by itself in so long a time. */
const NEVER_MS = 3_600_000;
const PATIENT: JobWorkerSettings = { leaseMs: NEVER_MS, pollMs: NEVER_MS, maxConcurrent: 4, drainMs: NEVER_MS };

/** Jobs of one kind in a store, over a bus, by a clock that stands: what several processes share. */
function createWorld({ store }: DocumentStoreSubject) {
  let nowMs = Date.now();
  const kind = newKind();
  const queue = createWorkQueue({
    store,
    bus: createInProcessBus(),
    clock: { now: () => new Date(nowMs) },
    ids: createIdSource(),
    pollMs: NEVER_MS,
  });
  return {
    kind,
    queue,
    store,
    advance(ms: number) {
      nowMs += ms;
    },
    async enqueue(payload: { readonly number: number } = { number: 0 }): Promise<string> {
      const scope = newDataset();
      const { jobId, writes } = queue.enqueueWrites(scope, { kind, payload });
      await store.commit(scope, writes);
      return jobId;
    },
    claim: (worker: string) => queue.claim(SYSTEM_SCOPE, [kind], worker, NEVER_MS),
    complete: (job: ClaimedJob) => store.commit(job.scope, queue.completeWrites(job)),
    waiting: async () => (await queue.depth(SYSTEM_SCOPE))[kind] ?? 0,
  };
}

type World = ReturnType<typeof createWorld>;

interface StartedWorker extends JobWorker, AsyncDisposable {
  readonly log: readonly string[];
}

async function startWorker(
  world: World,
  drive: JobHandler['drive'],
  {
    settings = {},
    workQueue = world.queue,
  }: { settings?: Partial<JobWorkerSettings>; workQueue?: WatchedWorkQueue } = {},
): Promise<StartedWorker> {
  const log: string[] = [];
  const write = (event: string) => void log.push(event);
  const logger = { debug: write, info: write, warn: write, error: write };
  const clock = { monotonicMs: () => performance.now() };
  const worker = createJobWorker(
    { workQueue, store: world.store, clock, ids: createIdSource(), logger },
    { name: 'test', handlers: { [world.kind]: { drive } }, settings: { ...PATIENT, ...settings } },
  );
  await worker.start();
  return { ...worker, log, [Symbol.asyncDispose]: () => worker.stop() };
}

/** Work that begins and goes on until it is let go or aborted; then the job is completed, or handed over. */
function heldWork(world: World) {
  const begun: ClaimedJob[] = [];
  const reasons: unknown[] = [];
  const goOn = Promise.withResolvers<void>();
  const drive = async (job: ClaimedJob, { signal }: JobLease): Promise<void> => {
    begun.push(job);
    await Promise.race([goOn.promise, signal.aborted ? null : once(signal, 'abort')]);
    if (!signal.aborted) return void (await world.complete(job));
    reasons.push(signal.reason);
    if (signal.reason instanceof HandOverError) await handOver(world.queue, job);
  };
  return { begun, reasons, drive, letGo: goOn.resolve };
}

describe('job worker', () => {
  let subject: DocumentStoreSubject;
  let world: World;
  before(async () => {
    subject = await openSqliteStore();
    await subject.store.prepare([jobsCollection]);
  });
  beforeEach(() => {
    world = createWorld(subject);
  });
  after(() => subject.dispose());

  it('drives at most maxConcurrent jobs, and claims the next one when one has ended', async () => {
    for (let number = 0; number < 5; number += 1) await world.enqueue({ number });
    const ends: (() => void)[] = [];
    const numbers: unknown[] = [];
    await using _ = await startWorker(
      world,
      async (job) => {
        numbers.push(job.payload['number']);
        await new Promise<void>((resolve) => ends.push(resolve));
        await world.complete(job);
      },
      { settings: { maxConcurrent: 2 } },
    );
    for (let ended = 0; ended < 5; ended += 1) {
      const begun = Math.min(ended + 2, 5);
      await until(`${begun} have begun`, () => numbers.length >= begun);
      expect(numbers).to.have.length(begun);
      ends[ended]?.();
    }
    await until('all are done', async () => (await world.waiting()) === 0);
    expect(numbers).to.deep.equal([0, 1, 2, 3, 4]);
  });

  it('claims a job that another process queued, or that it is notified of, without a poll', async () => {
    const { begun, drive, letGo } = heldWork(world);
    letGo();
    const { watch: _watch, watchCancels: _cancels, ...unwatched } = world.queue;
    await using watching = await startWorker(world, drive);
    await world.enqueue();
    await world.queue.wake(world.kind);
    await until('the first is done', async () => begun.length === 1 && (await world.waiting()) === 0);
    await watching.stop();
    await using told = await startWorker(world, drive, { workQueue: unwatched });
    await world.enqueue();
    told.notify();
    await until('the second is done', async () => begun.length === 2 && (await world.waiting()) === 0);
  });

  it('takes over the job of a killed worker, whose late writes fail', async () => {
    const id = await world.enqueue();
    const killed = (await world.claim('killed')) as ClaimedJob;
    const { begun, drive, letGo } = heldWork(world);
    await using _ = await startWorker(world, drive, { settings: { pollMs: 5 } });
    world.advance(NEVER_MS + 1);
    await until('it is taken over', () => begun.length === 1);
    const late = [rejection(world.complete(killed)), rejection(world.queue.release(killed))];
    const [completed, released] = await Promise.all(late);
    expect(completed).to.be.instanceOf(VersionConflictError);
    expect(released).to.be.instanceOf(LeaseLostError);
    expect(begun[0]).to.include({ id, attempt: 2 });
    letGo();
    await until('it is done', async () => (await world.waiting()) === 0);
  });

  it('aborts the work when another worker has the job, and leaves the job to that one', async () => {
    await world.enqueue();
    const { begun, reasons, drive, letGo } = heldWork(world);
    await using _ = await startWorker(world, drive);
    await until('it has begun', () => begun.length === 1);
    world.advance(NEVER_MS + 1);
    const other = (await world.claim('other')) as ClaimedJob;
    await world.queue.requestCancel(SYSTEM_SCOPE, other.id);
    await until('it is told', () => reasons.length === 1);
    expect(reasons[0]).to.be.instanceOf(LeaseLostError);
    letGo();
    await world.complete(other);
  });

  it('aborts a job at once that another process cancels, and only that job', async () => {
    const ids = [await world.enqueue({ number: 1 }), await world.enqueue({ number: 2 })];
    const { begun, reasons, drive, letGo } = heldWork(world);
    await using _ = await startWorker(world, drive);
    await until('both have begun', () => begun.length === 2);
    await world.queue.requestCancel(SYSTEM_SCOPE, ids[1] ?? '');
    await until('one is cancelled', () => reasons.length === 1);
    expect(reasons[0]).to.include({ wireName: 'CancelledError' });
    letGo();
    await until('the other is done', async () => (await world.waiting()) === 1);
  });

  it('aborts the selected jobs in flight', async () => {
    for (const number of [1, 2, 3]) await world.enqueue({ number });
    const aborted: unknown[] = [];
    const { begun, drive, letGo } = heldWork(world);
    await using worker = await startWorker(world, async (job, lease) => {
      lease.signal.addEventListener('abort', () => aborted.push([job.payload['number'], lease.signal.reason]));
      await drive(job, lease);
    });
    await until('all have begun', () => begun.length === 3);
    const reason = new Error('of no more use');
    worker.abort(reason, ({ payload }) => payload['number'] === 2);
    expect(aborted).to.deep.equal([[2, reason]]);
    letGo();
  });

  it('hands over its jobs when it stops, claims no more, and does not count the attempt', async () => {
    const id = await world.enqueue();
    const stopping = heldWork(world);
    const worker = await startWorker(world, stopping.drive, { settings: { maxConcurrent: 1 } });
    await until('it has begun', () => stopping.begun.length === 1);
    const next = heldWork(world);
    await using _ = await startWorker(world, next.drive);
    await Promise.all([worker.stop(), worker.stop()]);
    await until('the next one has it', () => next.begun.length === 1);
    expect(stopping.reasons[0]).to.be.instanceOf(HandOverError);
    expect(next.begun[0]).to.include({ id, attempt: 1 });
    await world.enqueue();
    worker.notify();
    next.letGo();
    await world.queue.wake(world.kind);
    await until('all is done', async () => (await world.waiting()) === 0);
    expect(stopping.begun).to.have.length(1);
  });

  it('waits at its stop for work in flight, at most drainMs', async () => {
    await world.enqueue();
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<ClaimedJob>();
    const deaf = async (job: ClaimedJob): Promise<void> => {
      begun.resolve(job);
      await end;
      await world.complete(job);
    };
    const worker = await startWorker(world, deaf, { settings: { drainMs: 20 } });
    await begun.promise;
    await worker.stop();
    expect(await world.waiting()).to.equal(1);
    resolve();
    await until('it ended all the same', async () => (await world.waiting()) === 0);
  });

  it('logs an unavailable store once, and works when it is back', async () => {
    let isAway = true;
    let asked = 0;
    const claim: WatchedWorkQueue['claim'] = (...call) => {
      asked += 1;
      return isAway ? Promise.reject(new Error('store away')) : world.queue.claim(...call);
    };
    await world.enqueue();
    const { drive, letGo } = heldWork(world);
    letGo();
    const options = { settings: { pollMs: 1 }, workQueue: { ...world.queue, claim } };
    await using worker = await startWorker(world, drive, options);
    await until('it asked again and again', () => asked > 3);
    isAway = false;
    await until('the job is done', async () => (await world.waiting()) === 0);
    expect(worker.log).to.deep.equal(['test.claim.failed']);
  });

  it('leaves a job whose work threw to the next claim after its lease, and drives others', async () => {
    const id = await world.enqueue();
    const attempts: ClaimedJob[] = [];
    const failing = async (job: ClaimedJob): Promise<void> => {
      attempts.push(job);
      if (attempts.length === 1) throw new Error('nobody expected this');
      await world.complete(job);
    };
    await using worker = await startWorker(world, failing, { settings: { pollMs: 5 } });
    await until('it threw', () => worker.log.includes('test.job.unsettled'));
    await world.enqueue();
    await until('another is done', async () => (await world.waiting()) === 1);
    world.advance(NEVER_MS + 1);
    await until('it is done', async () => (await world.waiting()) === 0);
    expect(attempts.filter((job) => job.id === id).map(({ attempt }) => attempt)).to.deep.equal([1, 2]);
  });

  const NO_REASON: JobFailureRules = { decide: () => 'end' };
  const failingWith =
    (error: Error): JobHandler['drive'] =>
    async () => {
      throw error;
    };

  it('retries, gives up or ends a failed job by the rules of its kind', async () => {
    await using worker = await startWorker(world, failingWith(new Error('unused')));
    const recorded: [string, JobFate][] = [];
    const run = async (decision: 'retry' | 'dead' | 'end', maxAttempts = 2): Promise<string> => {
      const scope = newDataset();
      const { jobId, writes } = world.queue.enqueueWrites(scope, { kind: newKind(), payload: {}, maxAttempts });
      await world.store.commit(scope, writes);
      await worker.run(jobId, {
        drive: failingWith(new TypeError(decision)),
        failures: {
          decide: () => decision,
          record: async (job, _, fate) => void recorded.push([job.id, fate]),
        },
      });
      return jobId;
    };
    const state = async (id: string) => (await world.store.get(SYSTEM_SCOPE, jobsCollection, id))?.value.state;
    const ids = [await run('retry'), await run('retry', 1), await run('dead'), await run('end')];
    expect(await Promise.all(ids.map(state))).to.deep.equal(['queued', 'dead', 'dead', undefined]);
    const fates = ['retry', 'dead', 'dead', 'end'];
    expect(recorded).to.deep.equal(ids.map((id, at) => [id, fates[at]]));
    expect(worker.log).to.deep.equal(['postponed', 'failed', 'failed', 'ended'].map((word) => `test.job.${word}`));
  });

  it('leaves a job with a lost lease alone, and hands a failed one over when it is stopping', async () => {
    const worker = await startWorker(world, failingWith(new Error('unused')));
    const scope = newDataset();
    const { jobId, writes } = world.queue.enqueueWrites(scope, { kind: newKind(), payload: {} });
    await world.store.commit(scope, writes);
    await worker.run(jobId, { drive: failingWith(new LeaseLostError('taken')), failures: NO_REASON });
    expect(worker.log).to.deep.equal(['test.lease.lost']);
    world.advance(NEVER_MS + 1);
    const driving = worker.run(jobId, {
      async drive(_, { signal }) {
        await once(signal, 'abort');
        throw new Error('any');
      },
      failures: NO_REASON,
    });
    await until('it is held', async () => (await world.queue.claimJob(SYSTEM_SCOPE, jobId, 'other', 1)) === null);
    await worker.stop();
    await driving;
    const job = await world.queue.claimJob(SYSTEM_SCOPE, jobId, 'other', NEVER_MS);
    expect(job).to.include({ attempt: 2 });
  });

  it('runs one job on demand, unless another worker holds it', async () => {
    await using worker = await startWorker(world, failingWith(new Error('unused')));
    const scope = newDataset();
    const { jobId, writes } = world.queue.enqueueWrites(scope, { kind: newKind(), payload: {} });
    await world.store.commit(scope, writes);
    const held = await world.queue.claimJob(SYSTEM_SCOPE, jobId, 'other', NEVER_MS);
    const driven: string[] = [];
    const handler: JobHandler = {
      async drive(job) {
        driven.push(job.id);
        await world.complete(job);
      },
    };
    await worker.run(jobId, handler);
    expect(driven).to.deep.equal([]);
    if (held !== null) await world.queue.fail(held, { name: 'Error', message: '' }, { retry: true });
    await worker.run(jobId, handler);
    expect(driven).to.deep.equal([jobId]);
    expect(await world.queue.exists(SYSTEM_SCOPE, jobId)).to.equal(false);
  });

  it('begins a job that another worker takes over when its process dies', async () => {
    const taken: string[] = [];
    await using first = await startWorker(world, failingWith(new Error('unused')));
    const never = Promise.withResolvers<void>();
    await first.begin(newDataset(), { kind: world.kind, payload: {} }, { drive: () => never.promise });
    await using _ = await startWorker(
      world,
      async (job) => {
        taken.push(job.id);
        await world.complete(job);
      },
      { settings: { pollMs: 5 } },
    );
    expect(await world.waiting()).to.equal(1);
    world.advance(NEVER_MS + 1);
    await until('another worker has done it', async () => (await world.waiting()) === 0);
    expect(taken).to.have.length(1);
    never.resolve();
  });
});
