import { expect } from 'chai';
import { createWorld, startCognify, type TestCognify, type TestWorld } from '../../../test/support/cognify-service.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { asId } from '../../common/kernel/ids.ts';
import { createHashingEmbedder } from '../../common/models/hashing/hashing-embedder.ts';
import { MAX_PATCH_ROWS, type PatchedTriplet, type RequestOf } from '../../common/platform/messaging/messages.ts';
import type { Embedder } from '../../common/ports/models.ts';
import { claimKeys, createImproveClaims } from '../../common/records/improve/improve-claims.ts';

const HOLDER = 'improve-1/0';

describe('patches of the graph', () => {
  let world: TestWorld;
  let cognify: TestCognify;
  /** Action while vectors are made. */
  let meanwhile: () => Promise<unknown>;

  beforeEach(async () => {
    meanwhile = async () => {};
    world = await createWorld();
    const inner = createHashingEmbedder({ dimensions: 64 });
    const embed: Embedder['embed'] = async (...call) => {
      await meanwhile();
      return inner.embed(...call);
    };
    cognify = await startCognify(world, { embedder: { ...inner, embed } });
    await claim(HOLDER, 60_000);
  });
  afterEach(() => cognify[Symbol.asyncDispose]());

  const scope = () => scopeOf(world.dataset);
  const keys = () => claimKeys(world.principal.tenant, world.dataset.id, []);
  const claims = () => createImproveClaims(world.store);
  const claim = (owner: string, leaseMs: number) => claims().claim(keys(), owner, { nowMs: Date.now(), leaseMs });
  /** An item that is built, and the generation that readers see. */
  async function build(): Promise<{ readonly item: DataItemId; readonly generation: number }> {
    const { id: item } = await world.addText('text', 'Ada knows Babbage.');
    await cognify.run();
    return { item, generation: (await world.ledger.committed(scope(), [item])).get(item) ?? 0 };
  }
  const triplet = (number: number): PatchedTriplet => ({
    ordinal: number,
    payload: {
      source: `s${number}`,
      target: 't',
      relation: 'knows',
      text: `s${number}-›knows-›t`,
      chunkId: '',
      statement: '',
    },
    nodeSets: ['people'],
  });
  const apply = (patch: Partial<RequestOf<'cognify.ApplyGraphPatch'>>, principal = world.principal) =>
    cognify.messenger.call(
      'cognify.ApplyGraphPatch',
      { dataset: world.dataset, leaseToken: HOLDER, items: [], gone: [], ...patch },
      { requestId: 'test', principal },
    );
  const refusal = (patch: Partial<RequestOf<'cognify.ApplyGraphPatch'>>) =>
    apply(patch, world.principal).then(
      () => null,
      (error: unknown) => error,
    );
  const counts = async () => {
    const { text, vectors } = world.indexes;
    return [await text.count(scope(), { kind: 'triplet' }), await vectors.count(scope(), { kind: 'triplet' })];
  };

  it('become rows with vectors, and the same rows when they are repeated', async () => {
    const origin = await build();
    const items = [{ ...origin, triplets: [triplet(1), triplet(2)] }];
    expect(await apply({ items })).to.deep.equal({ lostItems: [] });
    expect(await apply({ items })).to.deep.equal({ lostItems: [] });
    expect(await counts()).to.deep.equal([2, 2]);
    const rows = await world.indexes.text.list(scope(), { kind: 'triplet', provenance: origin, limit: 10 });
    expect(rows.map(({ payload, nodeSets, ordinal }) => ({ payload, nodeSets, ordinal }))).to.deep.equal([
      triplet(1),
      triplet(2),
    ]);
  });

  it('are refused when the improve has lost its claim, also while vectors are made', async () => {
    const items = [{ ...(await build()), triplets: [triplet(1)] }];
    const lost = { wireName: 'ConflictError', status: 409 };
    expect(await refusal({ items, leaseToken: 'another/0' })).to.include(lost);
    meanwhile = () => claims().seize(world.dataset.id, 'erasure:1', { nowMs: Date.now(), leaseMs: 60_000 });
    expect(await refusal({ items })).to.include(lost);
    meanwhile = async () => {};
    expect(await refusal({ items })).to.include(lost);
    expect(await counts()).to.deep.equal([0, 0]);
  });

  it('are refused after the lease of the improve, and accepted from the improve that took over', async () => {
    const items = [{ ...(await build()), triplets: [triplet(1)] }];
    expect(await claims().extend(keys(), HOLDER, { nowMs: Date.now() - 10_000, leaseMs: 5000 })).to.equal(true);
    expect(await refusal({ items })).to.include({ status: 409 });
    expect(await claim('improve-2/0', 60_000)).to.equal(true);
    expect(await refusal({ items })).to.include({ status: 409 });
    expect(await apply({ items, leaseToken: 'improve-2/0' })).to.deep.equal({ lostItems: [] });
    expect(await counts()).to.deep.equal([1, 1]);
  });

  it('leave no rows of an item that is forgotten, also while they are written', async () => {
    const items = [{ ...(await build()), triplets: [triplet(1)] }];
    const [{ item }] = items as [(typeof items)[0]];
    meanwhile = () => world.ledger.tombstone(scope(), [item]);
    expect(await apply({ items })).to.deep.equal({ lostItems: [item] });
    meanwhile = () => Promise.reject(new Error('nothing is to be embedded'));
    expect(await apply({ items })).to.deep.equal({ lostItems: [item] });
    expect(await counts()).to.deep.equal([0, 0]);
  });

  it('write the rows of existing items beside those of a missing one', async () => {
    const origin = await build();
    const unknown = { item: asId<DataItemId>('gone'), generation: 1, triplets: [triplet(1)] };
    expect(await apply({ items: [unknown, { ...origin, triplets: [triplet(2)] }] })).to.deep.equal({
      lostItems: ['gone'],
    });
    expect(await counts()).to.deep.equal([1, 1]);
  });

  it('remove old generations, and neither committed ones nor ones being built', async () => {
    const origin = await build();
    await apply({ items: [{ ...origin, triplets: [triplet(1)] }] });
    await apply({ gone: [origin] });
    expect(await counts(), 'committed').to.deep.equal([1, 1]);
    const generation = await world.ledger.begin(scope(), origin.item);
    const { indexes } = world;
    const [row] = await indexes.text.list(scope(), { kind: 'triplet', provenance: origin, limit: 1 });
    if (row === undefined) throw new Error('no row');
    const begun = { ...row, kind: 'triplet' as const, generation, tokens: 'x' };
    await indexes.text.upsert(scope(), [begun]);
    await apply({ gone: [{ item: origin.item, generation }] });
    expect(await indexes.text.count(scope(), { kind: 'triplet' }), 'being built').to.equal(2);
    await world.ledger.settle(scope(), origin.item, generation);
    await apply({ gone: [{ item: origin.item, generation }] });
    expect(await indexes.text.count(scope(), { kind: 'triplet' }), 'given up').to.equal(1);
  });

  it('are erased and counted with their item', async () => {
    const origin = await build();
    await apply({ items: [{ ...origin, triplets: [triplet(1), triplet(2)] }] });
    const request = { dataset: world.dataset, items: [origin.item], memoryOnly: false };
    const context = { requestId: 'test', principal: world.principal };
    const before = await world.indexes.text.count(scope(), {});
    const { removed, residue } = await cognify.messenger.call('cognify.Erase', request, context);
    expect([removed['text'], residue]).to.deep.equal([before, 0]);
    expect(await counts()).to.deep.equal([0, 0]);
  });

  it('are refused when they are too large, and without write permission', async () => {
    const origin = await build();
    const many = Array.from({ length: MAX_PATCH_ROWS + 1 }, (_, number) => triplet(number));
    expect(await refusal({ items: [{ ...origin, triplets: many }] })).to.include({ status: 413 });
    const gone = many.map((_, number) => ({ item: asId<DataItemId>(`i${number}`), generation: 1 }));
    expect(await refusal({ gone })).to.include({ status: 413 });
    world.permitted.delete(world.principal.id);
    expect(await refusal({ items: [{ ...origin, triplets: [triplet(1)] }] })).to.include({ status: 403 });
    expect(await counts()).to.deep.equal([0, 0]);
  });
});
