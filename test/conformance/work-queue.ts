import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { jobsCollection } from '../../services/common/platform/jobs/job-document.ts';
import { createWorkQueue } from '../../services/common/platform/jobs/work-queue.ts';
import { createIdSource } from '../../services/common/platform/system/id-source.ts';
import { type ClaimedJob, LeaseLostError } from '../../services/common/ports/work-queue.ts';
import { createInProcessBus } from '../../services/common/storage/bus/in-process/bus.ts';
import { insert, VersionConflictError } from '../../services/common/storage/ports/document-store.ts';
import type { DocumentStoreSubject } from '../support/document-stores.ts';
import { rejection } from '../support/refusal-of.ts';
import { newDataset, newTenant, tenantThings } from './document-store-subject.ts';
import { deadLettersConformance } from './work-queue-dead-letters.ts';
import {
  claim,
  complete,
  enqueue,
  LEASE_MS,
  mustClaim,
  newKind,
  POLL_MS,
  type QueueSubject,
} from './work-queue-subject.ts';

/** The work queue on every document store; `open` gives an empty one. */
export function workQueueConformance(name: string, open: () => Promise<DocumentStoreSubject>): void {
  describe(`work queue: ${name}`, () => {
    let subject: DocumentStoreSubject;
    let current: QueueSubject;
    before(async () => {
      subject = await open();
      await subject.store.prepare([jobsCollection, tenantThings]);
    });
    beforeEach(() => {
      let nowMs = Date.now();
      const create = (pollMs: number) =>
        createWorkQueue({
          store: subject.store,
          bus: createInProcessBus(),
          clock: { now: () => new Date(nowMs) },
          ids: createIdSource(),
          pollMs,
          backOffMs: (attempt) => attempt * 1000,
        });
      const advance = (ms: number) => {
        nowMs += ms;
      };
      current = { queue: create(POLL_MS), patientQueue: create(3_600_000), subject, advance };
    });
    after(() => subject.dispose());
    claims(() => current);
    ordering(() => current);
    leases(() => current);
    endings(() => current);
    waits(() => current);
    deadLettersConformance(() => current);
  });
}

function claims(current: () => QueueSubject): void {
  describe('claims', () => {
    it('give a job to one worker, with its scope and payload', async () => {
      const kind = newKind();
      const scope = newDataset();
      const id = await enqueue(current(), { kind, payload: { runId: 'r' } }, scope);
      const job = await claim(current(), 'other kind', kind);
      expect(job).to.deep.equal({
        id,
        kind,
        scope,
        payload: { runId: 'r' },
        attempt: 1,
        maxAttempts: 5,
        fencingToken: 1,
        worker: 'worker',
        cancelRequested: false,
      });
      expect(await claim(current(), kind)).to.equal(null);
    });

    it('leave jobs of other kinds alone', async () => {
      await enqueue(current(), { kind: newKind() });
      expect(await claim(current(), newKind())).to.equal(null);
      expect(await claim(current())).to.equal(null);
    });

    it('go in enqueue order, and each job goes to one of many workers', async () => {
      const kind = newKind();
      const ids: string[] = [];
      for (let index = 0; index < 20; index += 1) ids.push(await enqueue(current(), { kind }));
      const first = await mustClaim(current(), kind);
      expect(first.id).to.equal(ids[0]);
      const workers = Array.from({ length: 8 }, async () => {
        const mine: string[] = [];
        for (let job = await claim(current(), kind); job !== null; job = await claim(current(), kind))
          mine.push(job.id);
        return mine;
      });
      const taken = (await Promise.all(workers)).flat();
      expect(taken.toSorted()).to.deep.equal(ids.slice(1).toSorted());
    });

    it('see a job only when the state it was committed with was written', async () => {
      const { queue, subject } = current();
      const kind = newKind();
      const scope = newTenant();
      await subject.store.commit(scope, [insert(tenantThings, 'taken', {})]);
      const { writes } = queue.enqueueWrites(scope, { kind, payload: {} });
      await rejection(subject.store.commit(scope, [...writes, insert(tenantThings, 'taken', {})]));
      expect(await claim(current(), kind)).to.equal(null);
    });

    it('know an idempotency key while its job is unfinished, per tenant', async () => {
      const kind = newKind();
      const scope = newDataset();
      const job = { kind, idempotencyKey: 'once' };
      await enqueue(current(), job, scope);
      expect(await rejection(enqueue(current(), job, scope))).to.include({ name: 'DuplicateKeyError' });
      await enqueue(current(), job, newDataset());
      const running = await mustClaim(current(), kind);
      expect(await rejection(enqueue(current(), job, scope))).to.include({ name: 'DuplicateKeyError' });
      await complete(current(), running);
      await enqueue(current(), job, scope);
    });

    it('of one job by its id take it also during its back-off and when it is dead, and not while a worker holds it', async () => {
      const { queue } = current();
      const kind = newKind();
      const claimJob = (jobId: string) => queue.claimJob(SYSTEM_SCOPE, jobId, 'other', LEASE_MS);
      const mustClaimJob = async (jobId: string) => {
        const job = await claimJob(jobId);
        if (job === null) throw new Error('the job cannot be claimed');
        return job;
      };
      const error = { name: 'Error', message: 'it failed' };
      const scope = newDataset();
      const id = await enqueue(current(), { kind, id: randomUUID(), maxAttempts: 2, idempotencyKey: 'once' }, scope);
      expect(await claimJob(randomUUID())).to.equal(null);
      const first = await mustClaim(current(), kind);
      expect(await claimJob(id)).to.equal(null);
      expect(await queue.fail(first, error, { retry: true })).to.equal('retry');
      const second = await mustClaimJob(id);
      expect(second).to.include({ id, attempt: 2, fencingToken: 2, worker: 'other' });
      expect(await queue.fail(second, error, { retry: true })).to.equal('dead');
      const third = await mustClaimJob(id);
      expect(third).to.include({ attempt: 3, fencingToken: 3 });
      expect(await rejection(enqueue(current(), { kind, idempotencyKey: 'once' }, scope))).to.include({
        name: 'DuplicateKeyError',
      });
      expect(await queue.fail(third, error, { retry: true })).to.equal('dead');
      const last = await mustClaimJob(id);
      current().advance(LEASE_MS + 1);
      const lapsed = await mustClaimJob(id);
      expect(await rejection(complete(current(), last))).to.be.instanceOf(VersionConflictError);
      await complete(current(), lapsed);
      expect(await claimJob(id)).to.equal(null);
    });

    it('are not needed for a job that its worker began, until that worker is lost', async () => {
      const { queue, subject } = current();
      const kind = newKind();
      const begun = queue.beginWrites(newDataset(), { kind, payload: {} }, 'worker', LEASE_MS);
      await subject.store.commit(begun.job.scope, begun.writes);
      expect(begun.job).to.include({ kind, attempt: 1, fencingToken: 1, worker: 'worker' });
      expect(await claim(current(), kind)).to.equal(null);
      await queue.heartbeat(begun.job, LEASE_MS);
      current().advance(LEASE_MS + 1);
      expect(await mustClaim(current(), kind)).to.include({ id: begun.job.id, attempt: 2, fencingToken: 2 });
      expect(await rejection(complete(current(), begun.job))).to.be.instanceOf(VersionConflictError);
    });
  });
}

function ordering(current: () => QueueSubject): void {
  describe('ordering keys', () => {
    it('let one job run at a time, in enqueue order, beside those of other keys and tenants', async () => {
      const kind = newKind();
      const tenant = newTenant();
      const [first, second, third] = [
        await enqueue(current(), { kind, orderingKey: 'k' }, newDataset(tenant)),
        await enqueue(current(), { kind, orderingKey: 'k' }, newDataset(tenant)),
        await enqueue(current(), { kind, orderingKey: 'k' }, newDataset(tenant)),
      ];
      const free = await enqueue(current(), { kind }, newDataset(tenant));
      const foreign = await enqueue(current(), { kind, orderingKey: 'k' });
      const running = await mustClaim(current(), kind);
      expect(running.id).to.equal(first);
      expect([(await claim(current(), kind))?.id, (await claim(current(), kind))?.id]).to.deep.equal([free, foreign]);
      expect(await claim(current(), kind)).to.equal(null);
      await complete(current(), running);
      const next = await mustClaim(current(), kind);
      expect(next.id).to.equal(second);
      await current().queue.fail(next, { name: 'E', message: 'm' }, { retry: true });
      expect(await claim(current(), kind)).to.equal(null);
      current().advance(1000);
      const again = await mustClaim(current(), kind);
      expect(again.id).to.equal(second);
      await current().queue.fail(again, { name: 'E', message: 'm' }, { retry: false });
      expect((await claim(current(), kind))?.id).to.equal(third);
    });

    it('never let two jobs run when a dead one is replayed while another runs', async () => {
      const kind = newKind();
      const scope = newDataset();
      const dead = await enqueue(current(), { kind, orderingKey: 'k' }, scope);
      const failing = await mustClaim(current(), kind);
      await current().queue.fail(failing, { name: 'E', message: 'm' }, { retry: false });
      await enqueue(current(), { kind, orderingKey: 'k' }, scope);
      const running = await mustClaim(current(), kind);
      expect(await current().queue.deadLetters.replay(SYSTEM_SCOPE, dead)).to.equal(true);
      expect(await claim(current(), kind)).to.equal(null);
      await complete(current(), running);
      expect((await claim(current(), kind))?.id).to.equal(dead);
    });

    it('hold among many workers that claim at the same time', async () => {
      const kind = newKind();
      const tenant = newTenant();
      for (let index = 0; index < 24; index += 1) {
        await enqueue(current(), { kind, orderingKey: `k${index % 3}`, payload: { index } }, newDataset(tenant));
      }
      const running = new Set<number>();
      const done: number[] = [];
      const work = async () => {
        while (done.length < 24) {
          const job = await claim(current(), kind);
          if (job === null) {
            await sleep(1);
            continue;
          }
          const index = job.payload['index'] as number;
          expect(running.has(index % 3)).to.equal(false);
          running.add(index % 3);
          await sleep(1);
          running.delete(index % 3);
          done.push(index);
          await complete(current(), job);
        }
      };
      await Promise.all(Array.from({ length: 6 }, work));
      for (const key of [0, 1, 2]) {
        const ofKey = done.filter((index) => index % 3 === key);
        expect(ofKey).to.deep.equal(ofKey.toSorted((left, right) => left - right));
      }
    });
  });
}

function leases(current: () => QueueSubject): void {
  describe('leases', () => {
    it('pass a lost worker’s job on, with a higher fencing token', async () => {
      const kind = newKind();
      const id = await enqueue(current(), { kind, orderingKey: 'k' });
      const lost = await mustClaim(current(), kind);
      current().advance(LEASE_MS - 1);
      expect(await claim(current(), kind)).to.equal(null);
      current().advance(1);
      const next = await mustClaim(current(), kind);
      expect(next).to.include({ id, attempt: 2 });
      expect(next.fencingToken).to.be.greaterThan(lost.fencingToken);
    });

    it('pass a lost worker’s job on to one of many that ask for it at the same time', async () => {
      const kind = newKind();
      await enqueue(current(), { kind });
      await mustClaim(current(), kind);
      current().advance(LEASE_MS);
      const claimed = await Promise.all(Array.from({ length: 8 }, () => claim(current(), kind)));
      expect(claimed.filter((job) => job !== null)).to.have.length(1);
    });

    it('keep a late worker from heartbeat, completion, failure and release', async () => {
      const { queue } = current();
      const kind = newKind();
      await enqueue(current(), { kind });
      const late = await mustClaim(current(), kind);
      current().advance(LEASE_MS);
      const holder = await mustClaim(current(), kind);
      const attempts = await Promise.all([
        rejection(queue.heartbeat(late, LEASE_MS)),
        rejection(queue.fail(late, { name: 'E', message: 'm' }, { retry: true })),
        rejection(queue.release(late)),
      ]);
      for (const error of attempts) expect(error).to.be.instanceOf(LeaseLostError);
      expect(await rejection(complete(current(), late))).to.include({ name: 'VersionConflictError' });
      await complete(current(), holder);
      expect(await rejection(queue.heartbeat(holder, LEASE_MS))).to.be.instanceOf(LeaseLostError);
      expect(await rejection(queue.fail(holder, { name: 'E', message: 'm' }, { retry: true }))).to.be.instanceOf(
        LeaseLostError,
      );
    });

    it('last as long as the heartbeats, and let a late worker finish that was not replaced', async () => {
      const kind = newKind();
      await enqueue(current(), { kind });
      const job = await mustClaim(current(), kind);
      current().advance(LEASE_MS - 1);
      await current().queue.heartbeat(job, LEASE_MS);
      current().advance(LEASE_MS - 1);
      expect(await claim(current(), kind)).to.equal(null);
      current().advance(2 * LEASE_MS);
      await complete(current(), job);
      expect(await claim(current(), kind)).to.equal(null);
    });

    it('make a late worker’s effects fail with its completion', async () => {
      const { queue, subject } = current();
      const kind = newKind();
      const scope = newDataset();
      await enqueue(current(), { kind }, scope);
      const late = await mustClaim(current(), kind);
      current().advance(LEASE_MS);
      await mustClaim(current(), kind);
      await rejection(subject.store.commit(scope, [insert(tenantThings, 'effect', {}), ...queue.completeWrites(late)]));
      expect(await subject.store.get(scope, tenantThings, 'effect')).to.equal(null);
    });

    it('end all at once for a process that starts alone', async () => {
      const kind = newKind();
      await enqueue(current(), { kind });
      await mustClaim(current(), kind);
      expect(await current().queue.endLeases(SYSTEM_SCOPE)).to.be.at.least(1);
      expect((await mustClaim(current(), kind)).attempt).to.equal(2);
    });

    it('are not given for ever to a job that kills its workers', async () => {
      const kind = newKind();
      const id = await enqueue(current(), { kind, maxAttempts: 2 });
      for (let attempt = 1; attempt <= 2; attempt += 1) {
        expect((await mustClaim(current(), kind)).attempt).to.equal(attempt);
        current().advance(LEASE_MS);
      }
      expect(await claim(current(), kind)).to.equal(null);
      const dead = await current().queue.deadLetters.get(SYSTEM_SCOPE, id);
      expect(dead?.error.name).to.equal('WorkerLostError');
    });
  });
}

function endings(current: () => QueueSubject): void {
  describe('endings', () => {
    it('bring a failed job back after its back-off, and make it a dead letter after its last attempt', async () => {
      const { queue, advance } = current();
      const kind = newKind();
      const id = await enqueue(current(), { kind, maxAttempts: 2 });
      const error = { name: 'DocumentParsingError', message: 'broken' };
      expect(await queue.fail(await mustClaim(current(), kind), error, { retry: true })).to.equal('retry');
      advance(999);
      expect(await claim(current(), kind)).to.equal(null);
      advance(1);
      expect(await queue.fail(await mustClaim(current(), kind), error, { retry: true })).to.equal('dead');
      advance(1_000_000);
      expect(await claim(current(), kind)).to.equal(null);
      const dead = await queue.deadLetters.get(SYSTEM_SCOPE, id);
      expect(dead).to.deep.include({ id, kind, attempts: 2, error });
      expect(new Date(dead?.failedAt ?? '').getTime()).to.be.greaterThan(0);
    });

    it('leave a job that is queued, running or dead, and none that was completed', async () => {
      const { queue } = current();
      const kind = newKind();
      const id = await enqueue(current(), { kind, maxAttempts: 1 });
      expect(await queue.exists(SYSTEM_SCOPE, id)).to.equal(true);
      const job = await mustClaim(current(), kind);
      expect(await queue.exists(SYSTEM_SCOPE, id)).to.equal(true);
      await queue.fail(job, { name: 'DocumentParsingError', message: 'broken' }, { retry: false });
      expect(await queue.exists(SYSTEM_SCOPE, id)).to.equal(true);
      await queue.deadLetters.replay(SYSTEM_SCOPE, id);
      await complete(current(), await mustClaim(current(), kind));
      expect(await queue.exists(SYSTEM_SCOPE, id)).to.equal(false);
    });

    it('let a commit through with which the worker proves that it holds the job, and not after another took it', async () => {
      const { queue, subject, advance } = current();
      const kind = newKind();
      const scope = newDataset();
      await enqueue(current(), { kind }, scope);
      const late = await mustClaim(current(), kind);
      const write = (job: ClaimedJob, id: string) => [
        ...queue.heldWrites(job),
        insert(tenantThings, id, { name: 'held' }),
      ];
      const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
      await subject.store.commit(scope, write(late, first));
      advance(LEASE_MS);
      await subject.store.commit(scope, write(late, second));
      const present = await mustClaim(current(), kind);
      const refused = await rejection(subject.store.commit(scope, write(late, third)));
      expect(refused).to.be.instanceOf(VersionConflictError).with.property('collection', jobsCollection.name);
      await subject.store.commit(scope, queue.heldWrites(present));
      expect((await subject.store.getMany(scope, tenantThings, [first, second, third])).length).to.equal(2);
    });

    it('let a commit that relies on a waiting job succeed as long as it waits', async () => {
      const { queue, subject } = current();
      const kind = newKind();
      const id = await enqueue(current(), { kind });
      const commit = () => subject.store.commit(SYSTEM_SCOPE, queue.waitingWrites(id));
      await commit();
      const job = await mustClaim(current(), kind);
      expect(await rejection(commit())).to.be.instanceOf(VersionConflictError);
      await queue.release(job);
      await commit();
      await subject.store.commit(SYSTEM_SCOPE, queue.completeWrites(await mustClaim(current(), kind)));
      expect(await rejection(commit())).to.be.instanceOf(VersionConflictError);
    });

    it('give a released job back at once without counting the attempt', async () => {
      const kind = newKind();
      await enqueue(current(), { kind, orderingKey: 'k' });
      const first = await mustClaim(current(), kind);
      await current().queue.release(first);
      const second = await mustClaim(current(), kind);
      expect(second.attempt).to.equal(1);
      expect(second.fencingToken).to.be.greaterThan(first.fencingToken);
    });

    it('tell a running job with its heartbeat, and a waiting one when it is claimed, that it is to stop', async () => {
      const { queue } = current();
      const kind = newKind();
      const id = await enqueue(current(), { kind });
      const job = await mustClaim(current(), kind);
      expect(await queue.heartbeat(job, LEASE_MS)).to.deep.equal({ cancelRequested: false });
      expect(await queue.requestCancel(SYSTEM_SCOPE, id)).to.equal(true);
      expect(await queue.heartbeat(job, LEASE_MS)).to.deep.equal({ cancelRequested: true });
      await queue.fail(job, { name: 'E', message: 'm' }, { retry: true });
      expect(await queue.requestCancel(SYSTEM_SCOPE, id)).to.equal(true);
      const again = await mustClaim(current(), kind);
      expect(again.cancelRequested).to.equal(true);
      expect(await queue.heartbeat(again, LEASE_MS)).to.deep.equal({ cancelRequested: true });
      await complete(current(), again);
      expect(await queue.requestCancel(SYSTEM_SCOPE, id)).to.equal(false);
    });

    it('count what is unfinished by kind', async () => {
      const [kind, other] = [newKind(), newKind()];
      for (const each of [kind, kind, other]) await enqueue(current(), { kind: each });
      await mustClaim(current(), kind);
      const failing = await mustClaim(current(), other);
      await current().queue.fail(failing, { name: 'E', message: 'm' }, { retry: false });
      const depth = await current().queue.depth(SYSTEM_SCOPE);
      expect([depth[kind], depth[other]]).to.deep.equal([2, 0]);
    });
  });
}

function waits(current: () => QueueSubject): void {
  describe('waiting workers', () => {
    it('wake for jobs of their kinds, also when the news came before they slept', async () => {
      const { patientQueue: queue } = current();
      const kind = newKind();
      const watch = await queue.watch([kind]);
      await queue.wake(kind);
      await sleep(5);
      await watch.wait();
      const waiting = watch.wait();
      await queue.wake(kind);
      await waiting;
      await watch.stop();
    });

    it('are not needed to hear that a job was asked to stop', async () => {
      const { queue } = current();
      const kind = newKind();
      const heard = Promise.withResolvers<void>();
      const subscription = await queue.watchCancels(heard.resolve);
      const id = await enqueue(current(), { kind });
      await queue.requestCancel(SYSTEM_SCOPE, id);
      await heard.promise;
      await subscription.stop();
    });

    it('wake at the next poll without any news', async () => {
      const watch = await current().queue.watch([newKind()]);
      const startedAt = performance.now();
      await watch.wait();
      expect(performance.now() - startedAt).to.be.within(POLL_MS - 20, 15_000);
      await watch.stop();
    });
  });
}
