import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import type { DatasetId, TenantId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import { datasetScope } from '../../kernel/scope.ts';
import { createDatasetCopyLeases, datasetCopiesCollection } from './dataset-copies.ts';

const SCOPE = datasetScope(asId<TenantId>('t'), asId<DatasetId>('notes'));
const LEASE_MS = 10_000;

describe('leases of copies of datasets', () => {
  /** A process with a clock of its own. */
  function processes() {
    const store = createMemoryDocumentStore();
    let started = 0;
    return () => {
      started += 1;
      const state = { atMs: 1_000_000 * started };
      const clock = { now: () => new Date(state.atMs), monotonicMs: () => state.atMs };
      const ids = { uuid: () => randomUUID() };
      return { state, store, leases: createDatasetCopyLeases({ store, clock, ids }) };
    };
  }

  async function isPending(work: Promise<unknown>): Promise<boolean> {
    return Promise.race([work.then(() => false), sleep(150).then(() => true)]);
  }

  it('let an erasure go on when the copy was dropped, and not before', async () => {
    const start = processes();
    const [holder, eraser] = [start(), start()];
    await holder.store.prepare([datasetCopiesCollection]);
    let dropped = false;
    const lease = await holder.leases.hold(SCOPE, () => {
      dropped = true;
    });
    expect(lease.isHeld()).to.equal(true);
    const recalled = eraser.leases.recall(SCOPE);
    expect(await isPending(recalled)).to.equal(true);
    // The holder hears of it with its next beat.
    await sleep(1_100);
    expect(dropped).to.equal(true);
    await lease.release();
    await recalled;
    await eraser.leases.recall(SCOPE);
  });

  it('are over for a holder that stood still before they are over for an erasure', async () => {
    const start = processes();
    const [holder, eraser, other] = [start(), start(), start()];
    await holder.store.prepare([datasetCopiesCollection]);
    const lease = await holder.leases.hold(SCOPE, () => {});
    const recalled = eraser.leases.recall(SCOPE);
    expect(await isPending(recalled)).to.equal(true);
    // A copy that is registered later is none of its business.
    const later = await other.leases.hold(SCOPE, () => {});
    holder.state.atMs += LEASE_MS - 1;
    eraser.state.atMs += LEASE_MS - 1;
    expect(lease.isHeld()).to.equal(false);
    expect(await isPending(recalled)).to.equal(true);
    eraser.state.atMs += 2;
    await recalled;
    expect(later.isHeld()).to.equal(true);
    await Promise.all([lease.release(), later.release()]);
  });
});
