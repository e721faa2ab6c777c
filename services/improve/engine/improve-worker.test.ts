import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import { asId } from '../../common/kernel/ids.ts';
import {
  claimKeys,
  createImproveClaims,
  improveClaimsCollection,
  ownerOf,
} from '../../common/records/improve/improve-claims.ts';
import { DEFAULT_IMPROVE_SETTINGS } from '../dependencies.ts';
import { improveJob } from './improve-job.ts';
import type { ImproveParts } from './improve-passes.ts';
import { createImproveWorker } from './improve-worker.ts';

describe('improve worker', () => {
  it('releases the claim of a job whose account is refused', async () => {
    const store = createMemoryDocumentStore();
    await store.prepare([improveClaimsCollection]);
    const claims = createImproveClaims(store);
    const [tenant, user, datasetId] = [asId<never>('acme'), asId<never>('ada'), asId<never>('notes')];
    const keys = claimKeys(tenant, datasetId, [{ user, session: 's1' }]);
    const lease = { nowMs: Date.now(), leaseMs: 60_000 };
    expect(await claims.claim(keys, ownerOf('i1', 0), lease)).to.equal(true);
    const order = { id: 'i1', datasetId, sessionIds: ['s1'], options: null, isAutomatic: false };
    const { kind, payload } = improveJob(order, { id: user, tenant, keyId: null });
    const dropped = Promise.withResolvers<void>();
    const jobs = [{ id: 'j1', kind, payload, scope: { tenant }, attempt: 1, fencingToken: 1, worker: 'w' }];
    const completeWrites = () => {
      dropped.resolve();
      return [];
    };
    const silent = () => {};
    const worker = createImproveWorker({
      store,
      claims,
      settings: DEFAULT_IMPROVE_SETTINGS,
      workQueue: { claim: async () => jobs.shift() ?? null, completeWrites },
      // The account is gone.
      messenger: { call: async () => ({ principal: null }) },
      clock: { now: () => new Date(), monotonicMs: () => performance.now() },
      ids: { uuid: () => 'w' },
      logger: { debug: silent, info: silent, warn: silent, error: silent },
    } as unknown as ImproveParts);
    await worker.start();
    await dropped.promise;
    await worker.stop();
    expect(await claims.claim(keys, ownerOf('i2', 0), lease)).to.equal(true);
  });
});
