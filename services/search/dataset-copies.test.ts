import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../test/support/memory/document-store.ts';
import { until } from '../../test/support/until.ts';
import type { DataItemId, DatasetId, TenantId, UserId } from '../common/kernel/brand.ts';
import type { DatasetRef } from '../common/kernel/dataset.ts';
import { asId } from '../common/kernel/ids.ts';
import { datasetScope } from '../common/kernel/scope.ts';
import { slices } from '../common/kernel/slices.ts';
import { createLedger, ledgerCollection } from '../common/records/cognify/ledger.ts';
import {
  createSupersessions,
  supersessionRevertsCollection,
  supersessionsCollection,
} from '../common/records/cognify/supersessions.ts';
import { vectorVersionsCollection } from '../common/records/cognify/vector-index-versions.ts';
import { dataItemsCollection } from '../common/records/ingest/data-items.ts';
import type { IndexStores } from '../common/storage/ports/dataset-indexes.ts';
import { insert } from '../common/storage/ports/document-store.ts';
import type { CopyOptions } from '../common/storage/ports/index-entry.ts';
import { createDatasetCopies, type DatasetCopiesOptions } from './dataset-copies.ts';

const SCOPE = datasetScope(asId<TenantId>('t'), asId<DatasetId>('d'));
const DATASET: DatasetRef = {
  id: SCOPE.dataset,
  tenant: SCOPE.tenant,
  name: 'd',
  ownerId: asId<UserId>('u'),
  createdAt: '',
  updatedAt: '',
};
const [FIRST, SECOND] = ['one', 'two'].map((id) => asId<DataItemId>(id)) as [DataItemId, DataItemId];
const SPACE = { model: 'm', dimensions: 4 };

describe('copies of datasets', () => {
  let ledger: ReturnType<typeof createLedger>;
  let copies: ReturnType<typeof createDatasetCopies>;
  let [wholeReads, askedForVectors, activeVersion, isHeld] = [0, 0, 0, true];
  /** What was copied: whole, or brought up to date with so many generations. */
  let copied: string[];
  /** Where the nearest vectors were looked for. */
  let nearestOf: string[];

  const build = async (item: DataItemId) => {
    const generation = await ledger.begin(SCOPE, item);
    const writes = ledger.commitWrites(item, generation, 'hash', '2031-01-01T00:00:00.000Z', {
      runId: 'r',
      counts: { chunks: 1 },
    });
    await store.commit(SCOPE, writes);
  };
  const search = () => copies.of([DATASET]);
  let store: ReturnType<typeof createMemoryDocumentStore>;

  beforeEach(async () => {
    store = createMemoryDocumentStore();
    await store.prepare([
      ...[ledgerCollection, dataItemsCollection],
      ...[supersessionsCollection, supersessionRevertsCollection, vectorVersionsCollection],
    ]);
    ledger = createLedger(store);
    [wholeReads, askedForVectors, activeVersion, isHeld] = [0, 0, 0, true];
    [copied, nearestOf] = [[], []];
    const nearest = (place: string) => async () => {
      nearestOf.push(place);
      return [];
    };
    const made = {
      bytes: 10,
      reads: { fetch: async () => [], nearest: nearest('copy') },
      async updated({ committed }: CopyOptions) {
        copied.push(`to ${[...committed.values()].join()}`);
        return made;
      },
    };
    const copy = async () => {
      copied.push('whole');
      return made;
    };
    const from = {
      text: { copy, fetch: async () => [] },
      vectors: { copy: async () => ({ ...made, updated: async () => made }), nearest: nearest('server') },
      graph: {},
    } as unknown as IndexStores;
    const scopeOf = (scope: typeof SCOPE) => scope;
    let elapsedMs = 0;
    const options: Omit<DatasetCopiesOptions, 'from' | 'supersessions' | 'maxBytes'> = {
      store,
      ledger: {
        ...ledger,
        committedBuilds(...query) {
          wholeReads += 1;
          return ledger.committedBuilds(...query);
        },
      },
      leases: { hold: async () => ({ isHeld: () => isHeld, release: async () => {} }) },
      vectorVersions: {
        scopeOf,
        async active(scope) {
          askedForVectors += 1;
          return { number: activeVersion, scope, space: SPACE, requested: null };
        },
      },
      clock: { now: () => new Date('2032-01-01'), monotonicMs: () => (elapsedMs += 1000) },
      logger: { warn() {} } as never,
    };
    copies = createDatasetCopies({ ...options, from, supersessions: createSupersessions(store), maxBytes: 2 ** 22 });
    await build(FIRST);
    await until('the dataset is copied', async () => (await search()) !== null, { everyMs: 1, limitMs: 20_000 });
    [wholeReads, askedForVectors] = [0, 0];
  });

  afterEach(() => copies.stop());

  it('are searched without reading the ledger or asking for their vectors again', async () => {
    for (let time = 0; time < 3; time += 1) {
      const found = await search();
      expect(await found?.ledger.committed(SCOPE, [FIRST, SECOND])).to.deep.equal(new Map([[FIRST, 1]]));
      expect(await found?.vectorVersions.active(SCOPE)).to.include({ number: 0, space: SPACE });
    }
    expect([wholeReads, askedForVectors]).to.deep.equal([0, 0]);
  });

  it('are kept when the ledger changes and names the same, for one reading of it', async () => {
    const generation = await ledger.begin(SCOPE, SECOND);
    for (let time = 0; time < 3; time += 1) expect(await search()).to.not.equal(null);
    expect(wholeReads).to.equal(1);
    await ledger.settle(SCOPE, SECOND, generation);
    for (let time = 0; time < 3; time += 1) expect(await search()).to.not.equal(null);
    expect(wholeReads).to.equal(2);
  });

  it('are not read from the first search on after an item was forgotten, reset, or built', async () => {
    const changes = [
      () => build(SECOND),
      () => ledger.reset(SCOPE, [FIRST], '2031-01-02T00:00:00.000Z'),
      () => ledger.tombstone(SCOPE, [SECOND]),
      () => build(FIRST),
    ];
    for (const change of changes) {
      await change();
      expect(await search()).to.equal(null);
      const seen = (await ledger.allCommitted(SCOPE)).size;
      if (seen > 0)
        await until('the dataset is copied again', async () => (await search()) !== null, {
          everyMs: 1,
          limitMs: 20_000,
        });
    }
  });

  it('are brought up to date with what changed, not made anew', async () => {
    await build(SECOND);
    expect(await search()).to.equal(null);
    const again = () => until('it is copied', async () => (await search()) !== null, { everyMs: 1, limitMs: 20_000 });
    await again();
    expect(await (await search())?.ledger.committed(SCOPE, [FIRST, SECOND])).to.have.length(2);
    expect(copied).to.deep.equal(['whole', 'to 1,1']);
  });

  it('are not read by a search that began before they were brought up to date', async () => {
    const earlier = await search();
    await build(SECOND);
    await search();
    await until('it is copied', async () => (await search()) !== null, { everyMs: 1, limitMs: 20_000 });
    await earlier?.indexes.vectors.nearest(SCOPE, {} as never);
    await (await search())?.indexes.vectors.nearest(SCOPE, {} as never);
    expect(nearestOf).to.deep.equal(['server', 'copy']);
  });

  it('ask the server for the nearest vectors while others than theirs may be active', async () => {
    await store.commit(SCOPE, [
      insert(vectorVersionsCollection, 'homes', { active: 0, last: 0, wish: null, migration: null }),
    ]);
    await (await search())?.indexes.vectors.nearest(SCOPE, {} as never);
    expect(nearestOf).to.deep.equal(['server']);
  });

  it('are made of a dataset of 900 items, and of no larger one', async () => {
    const entry = {
      generation: 1,
      lastGeneration: 1,
      erased: false,
      contentHash: 'hash',
      committedAt: '',
      counts: { chunks: 1 },
    };
    const add = async (from: number, until: number) => {
      const ids = Array.from({ length: until - from }, (_, at) => `item-${from + at}`);
      for (const some of slices(ids, 100))
        await store.commit(
          SCOPE,
          some.map((id) => insert(ledgerCollection, id, entry)),
        );
    };
    await add(1, 900);
    await until('the dataset is copied again', async () => (await search()) !== null, { everyMs: 1, limitMs: 20_000 });
    await add(900, 901);
    const before = wholeReads;
    for (let time = 0; time < 200; time += 1) expect(await search()).to.equal(null);
    expect(wholeReads).to.be.above(before);
  });

  it('are not read without a lease', async () => {
    isHeld = false;
    expect(await search()).to.equal(null);
  });

  it('have their vectors asked for when another version of them is active', async () => {
    activeVersion = 1;
    const state = { active: 1, last: 1, wish: null, migration: null };
    await store.commit(SCOPE, [insert(vectorVersionsCollection, 'homes', state)]);
    expect(await (await search())?.vectorVersions.active(SCOPE)).to.include({ number: 1 });
    expect(askedForVectors).to.equal(1);
  });

  it('show at once that a statement is superseded', async () => {
    expect(await (await search())?.supersessions.ofChunks(SCOPE, ['chunk'])).to.deep.equal([]);
    const side = { text: 'It was so.', value: '', generation: 1, at: '', from: '', support: 1 };
    const places = { olderItem: FIRST, olderChunk: 'chunk', newerItem: FIRST, newerChunk: 'other' };
    const statement = { key: '', subject: '', predicate: '', reason: 'newer' as never, older: side, newer: side };
    const document = { ...statement, ...places, detectedAt: '' };
    await store.commit(SCOPE, [insert(supersessionsCollection, 'one', document)]);
    const found = await (await search())?.supersessions.ofChunks(SCOPE, ['chunk']);
    expect(found?.map(({ id }) => id)).to.deep.equal(['one']);
  });
});
