import { expect } from 'chai';
import { createMemoryBlobStore } from '../../../test/support/memory/blob-store.ts';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import { asId } from '../../common/kernel/ids.ts';
import { datasetScope, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { jobsCollection } from '../../common/platform/jobs/job-document.ts';
import { createWorkQueue } from '../../common/platform/jobs/work-queue.ts';
import { createIdSource } from '../../common/platform/system/id-source.ts';
import { blobIntentsCollection, createBlobIntents } from '../../common/records/ingest/blob-intents.ts';
import { createInProcessBus } from '../../common/storage/bus/in-process/bus.ts';
import { sweepBlobs } from './sweep-blobs.ts';

describe('the sweep of blobs without an owner', () => {
  it('keeps the inputs of background additions that wait, and removes those whose job was discarded', async () => {
    const store = createMemoryDocumentStore();
    await store.prepare([blobIntentsCollection, jobsCollection]);
    const ids = createIdSource();
    const day = 86_400_000;
    const clock = { now: () => new Date(Date.now() + day), monotonicMs: () => 0 };
    const workQueue = createWorkQueue({ store, bus: createInProcessBus(), clock: { now: () => new Date() }, ids });
    const blobs = createMemoryBlobStore();
    const intents = createBlobIntents(store);
    const scope = datasetScope(asId('tenant'), asId('dataset'));
    const accept = async (run: string) => {
      const { jobId, writes } = workQueue.enqueueWrites(scope, { kind: 'addition', payload: {} });
      await intents.declare(scope, jobId, [`additions/${run}/`], new Date().toISOString());
      await blobs.put(scope, `additions/${run}/0`, Buffer.from(run));
      await store.commit(scope, writes);
      return jobId;
    };
    await accept('waiting');
    const discarded = await accept('discarded');
    await store.commit(SYSTEM_SCOPE, workQueue.withdrawWrites(discarded, 'queued'));
    expect(await sweepBlobs({ intents, blobs, clock, workQueue }, SYSTEM_SCOPE)).to.equal(1);
    expect(await blobs.stat(scope, 'additions/waiting/0')).to.not.equal(null);
    expect(await blobs.stat(scope, 'additions/discarded/0')).to.equal(null);
  });
});
