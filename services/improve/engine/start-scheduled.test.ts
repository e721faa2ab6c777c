import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { jobsCollection } from '../../common/platform/jobs/job-document.ts';
import { createWorkQueue } from '../../common/platform/jobs/work-queue.ts';
import { createSilentLogger } from '../../common/platform/observability/logger.ts';
import { createSystemClock } from '../../common/platform/system/clock.ts';
import { createIdSource } from '../../common/platform/system/id-source.ts';
import type { ClaimedJob } from '../../common/ports/work-queue.ts';
import { createScheduledStarts, scheduledStartsCollection } from '../../common/records/cognify/scheduled-starts.ts';
import { createInProcessBus } from '../../common/storage/bus/in-process/bus.ts';
import { IMPROVE_JOB } from './improve-job.ts';
import { startScheduled } from './start-improve.ts';

const [FIRST, SECOND, THIRD] = [1, 2, 3].map((day) => `2026-08-0${day}T03:00:00Z`) as [string, string, string];

describe('scheduled starts of improve', () => {
  async function world() {
    const store = createMemoryDocumentStore();
    await store.prepare([scheduledStartsCollection, jobsCollection]);
    const [clock, ids] = [createSystemClock(), createIdSource()];
    const workQueue = createWorkQueue({ store, clock, ids, bus: createInProcessBus(), backOffMs: () => 0 });
    const parts = {
      store,
      workQueue,
      ids,
      scheduledStarts: createScheduledStarts(store),
      logger: createSilentLogger(),
    };
    const tenant = asId<never>('acme');
    const principal = { id: asId<never>('ada'), email: null, tenant, isSuperuser: false, parentId: null };
    const dataset = { id: asId<never>('notes'), name: 'notes', ownerId: principal.id, tenant, createdAt: FIRST };
    const request = { dataset: { ...dataset, updatedAt: null }, principal, sessionIds: [] };
    return {
      start: (dueAt: string) => startScheduled(parts as never, { ...request, dueAt } as never),
      count: () => store.count(SYSTEM_SCOPE, jobsCollection, {}),
      async claim(): Promise<ClaimedJob> {
        const job = await workQueue.claim(SYSTEM_SCOPE, [IMPROVE_JOB], 'worker', 60_000);
        if (job === null) throw new Error('there is no job');
        return job;
      },
      complete: (job: ClaimedJob) => store.commit(SYSTEM_SCOPE, workQueue.completeWrites(job)),
      fail: (job: ClaimedJob) => workQueue.fail(job, { name: 'Error', message: 'failed' }, { retry: true }),
    };
  }

  it('start one improve per due time, for concurrent requests and after its end', async () => {
    const { start, count, claim, complete } = await world();
    await Promise.all([start(FIRST), start(FIRST), start(FIRST)]);
    expect(await count()).to.equal(1);
    await complete(await claim());
    await start(FIRST);
    expect(await count()).to.equal(0);
    await start(SECOND);
    expect(await count()).to.equal(1);
  });

  it('start another improve after a running one', async () => {
    const { start, count, claim, complete } = await world();
    await start(FIRST);
    const job = await claim();
    await Promise.all([start(SECOND), start(SECOND)]);
    expect(await count()).to.equal(2);
    await complete(job);
    await complete(await claim());
    expect(await count()).to.equal(0);
  });

  it('do not pile up: a waiting job, also one to be retried, covers later times', async () => {
    const { start, count, claim, complete, fail } = await world();
    await start(FIRST);
    await start(SECOND);
    expect(await count()).to.equal(1);
    await fail(await claim());
    await start(THIRD);
    expect(await count()).to.equal(1);
    await complete(await claim());
    await start(THIRD);
    expect(await count()).to.equal(0);
  });
});
