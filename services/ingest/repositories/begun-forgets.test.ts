import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import type { DatasetId, TenantId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { datasetScope, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { jobsCollection } from '../../common/platform/jobs/job-document.ts';
import { createWorkQueue } from '../../common/platform/jobs/work-queue.ts';
import { createIdSource } from '../../common/platform/system/id-source.ts';
import type { ClaimedJob } from '../../common/ports/work-queue.ts';
import { createInProcessBus } from '../../common/storage/bus/in-process/bus.ts';
import { insert } from '../../common/storage/ports/document-store.ts';
import { DELETION_JOB, deletionOf } from '../forgetting/deletion-job.ts';
import { begunForgetsCollection, queueBegunForgets } from './begun-forgets.ts';

const SCOPE = datasetScope(asId<TenantId>('t1'), asId<DatasetId>('d1'));
const NOW = new Date('2026-01-02T03:04:05Z');
const OF = { createdAt: '2026-01-01T00:00:00Z', ownerId: 'ada' };

describe('deletions that an earlier release began', () => {
  it('become jobs once, and those that a process of it still holds later', async () => {
    const store = createMemoryDocumentStore();
    await store.prepare([jobsCollection, begunForgetsCollection]);
    const clock = { now: () => NOW };
    const workQueue = createWorkQueue({ store, bus: createInProcessBus(), clock, ids: createIdSource() });
    const shared = { ...store, capabilities: { ...store.capabilities, sharedBetweenProcesses: true } };
    const lapsed = { ...OF, leasedUntilMs: 0 };
    await store.commit(SCOPE, [
      insert(begunForgetsCollection, 'dataset', lapsed),
      insert(begunForgetsCollection, 'item', lapsed),
      insert(begunForgetsCollection, 'memory dataset', { ...lapsed, begunAt: '2026-01-02T00:00:00Z' }),
      insert(begunForgetsCollection, 'memory item', { ...OF, leasedUntilMs: NOW.getTime() + 1, begunAt: '2026-01-02' }),
    ]);
    const queue = () => queueBegunForgets({ store: shared, workQueue, clock }, SYSTEM_SCOPE);
    expect(await queue()).to.equal(3);
    expect(await queue()).to.equal(0);
    expect(await store.count(SCOPE, begunForgetsCollection, {})).to.equal(1);
    expect(await queueBegunForgets({ store, workQueue, clock }, SYSTEM_SCOPE)).to.equal(1);

    const claim = () => workQueue.claim(SYSTEM_SCOPE, [DELETION_JOB], 'worker', 60_000);
    const jobs: ClaimedJob[] = [];
    for (let job = await claim(); job !== null; job = await claim()) jobs.push(job);
    const dataset = { id: 'd1', tenant: 't1', ...OF };
    expect(jobs.map(deletionOf)).to.have.deep.members([
      { dataset, items: null, memoryBefore: null },
      { dataset, items: ['item'], memoryBefore: null },
      { dataset, items: null, memoryBefore: '2026-01-02T00:00:00Z' },
      { dataset, items: ['item'], memoryBefore: '2026-01-02' },
    ]);
  });
});
