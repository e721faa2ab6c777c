import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import type { DataItemId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import { datasetScope, PERSONAL_TENANT, SYSTEM_SCOPE } from '../../kernel/scope.ts';
import { VersionConflictError } from '../../storage/ports/document-store.ts';
import { dataItemsCollection } from '../ingest/data-items.ts';
import { createLedger, ItemErasedError, ledgerCollection, visible } from './ledger.ts';

const scope = datasetScope(PERSONAL_TENANT, asId('dataset'));
const item = asId<DataItemId>('item');
const AT = '2026-01-02T03:04:05.678Z';

async function newLedger() {
  const store = createMemoryDocumentStore();
  await store.prepare([ledgerCollection, dataItemsCollection]);
  const ledger = createLedger(store);
  const commit = (generation: number) => store.commit(scope, ledger.commitWrites(item, generation, 'hash', AT));
  return { ledger, commit };
}

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('ledger', () => {
  it('shows a generation once it is committed, and only the rows of that one', async () => {
    const { ledger, commit } = await newLedger();
    const generation = await ledger.begin(scope, item);
    expect((await ledger.committed(scope, [item])).size).to.equal(0);
    await commit(generation);
    const committed = await ledger.committed(scope, [item]);
    expect([...committed]).to.deep.equal([[item, 1]]);
    const rows = [1, 2].map((number) => ({ item, generation: number }));
    expect(visible(rows, committed)).to.deep.equal([rows[0]]);
    expect([...(await ledger.allCommitted(scope))]).to.deep.equal([[item, 1]]);
  });

  it('hands out each generation once, also to attempts that begin together', async () => {
    const { ledger } = await newLedger();
    const generations = await Promise.all(Array.from({ length: 8 }, () => ledger.begin(scope, item)));
    expect(generations.toSorted((one, other) => one - other)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('begins several attempts at once, also of items that are not as the caller believes', async () => {
    const { ledger, commit } = await newLedger();
    const [erased, unknown] = ['erased', 'unknown'].map((id) => asId<DataItemId>(id)) as [DataItemId, DataItemId];
    await commit(await ledger.begin(scope, item));
    await ledger.tombstone(scope, [erased]);
    const attempts = [item, erased, unknown].map((each) => ({ item: each, version: 'hash', tries: 2 }));
    expect(await ledger.beginAll(scope, attempts, (each) => each === unknown)).to.deep.equal([2, null, 1]);
    expect(await ledger.beginAll(scope, attempts, () => true)).to.deep.equal([3, null, 2]);
    const entries = await ledger.entries(scope, [unknown]);
    expect(entries.get(unknown)).to.include({ lastGeneration: 2, pending: true, tries: 2, triedVersion: 'hash' });
  });

  it('lets only the newest attempt commit', async () => {
    const { ledger, commit } = await newLedger();
    const late = await ledger.begin(scope, item);
    const present = await ledger.begin(scope, item);
    expect(await thrownBy(commit(late))).to.be.instanceOf(VersionConflictError);
    await commit(present);
    expect((await ledger.committed(scope, [item])).get(item)).to.equal(present);
  });

  it('keeps a tombstone for ever, against attempts under way and new ones', async () => {
    const { ledger, commit } = await newLedger();
    await commit(await ledger.begin(scope, item));
    const underWay = await ledger.begin(scope, item);
    await ledger.tombstone(scope, [item]);
    expect((await ledger.committed(scope, [item])).size).to.equal(0);
    expect(await thrownBy(commit(underWay))).to.be.instanceOf(VersionConflictError);
    expect(await thrownBy(ledger.begin(scope, item))).to.be.instanceOf(ItemErasedError);
    await ledger.tombstone(scope, [item]);
  });

  it('makes a tombstone for an item that was never built', async () => {
    const { ledger } = await newLedger();
    await ledger.tombstone(scope, [item]);
    expect(await thrownBy(ledger.begin(scope, item))).to.be.instanceOf(ItemErasedError);
  });

  it('bars attempts under way after a reset and takes new ones', async () => {
    const { ledger, commit } = await newLedger();
    await commit(await ledger.begin(scope, item));
    const underWay = await ledger.begin(scope, item);
    await ledger.reset(scope, [item], AT);
    expect(await thrownBy(commit(underWay))).to.be.instanceOf(VersionConflictError);
    await commit(await ledger.begin(scope, item));
    expect((await ledger.committed(scope, [item])).size).to.equal(1);
  });

  it('lists attempts until they end: by commit, by settling, also after an erasure', async () => {
    const { ledger, commit } = await newLedger();
    const pending = async () => (await ledger.pending(SYSTEM_SCOPE, 10)).map(({ entry }) => entry.lastGeneration);
    const first = await ledger.begin(scope, item);
    expect(await pending()).to.deep.equal([1]);
    await commit(first);
    expect(await pending()).to.deep.equal([]);
    const second = await ledger.begin(scope, item);
    await ledger.tombstone(scope, [item]);
    expect(await pending()).to.have.length(1);
    await ledger.settle(scope, item, second);
    expect(await pending()).to.deep.equal([]);
  });

  it('does not take an attempt of another worker for one that has ended', async () => {
    const { ledger } = await newLedger();
    const late = await ledger.begin(scope, item);
    await ledger.begin(scope, item);
    await ledger.settle(scope, item, late);
    expect(await ledger.pending(SYSTEM_SCOPE, 10)).to.have.length(1);
  });

  it('fences an attempt only while it is the newest', async () => {
    const { ledger, commit } = await newLedger();
    const first = await ledger.begin(scope, item);
    expect(await ledger.fence(scope, item, first)).to.equal(true);
    expect(await thrownBy(commit(first))).to.be.instanceOf(VersionConflictError);
    expect(await ledger.fence(scope, item, first)).to.equal(false);
  });
});
