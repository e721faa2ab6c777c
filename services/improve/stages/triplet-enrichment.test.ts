import { expect } from 'chai';
import { createStructureWorld, type StructureWorld } from '../../../test/support/structure-world.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { runCustomTasks } from './run-tasks.ts';
import { createTripletEnrichment } from './structure-stages.ts';

const ADA = 'Ada knows Babbage well. Babbage lives in London.';
const GRACE = 'Grace met Ada in Paris.';

describe('triplet_enrichment', () => {
  let structure: StructureWorld;
  beforeEach(async () => {
    structure = await createStructureWorld({ settings: { tripletEmbedding: true } });
  });
  afterEach(() => structure[Symbol.asyncDispose]());

  const stage = () =>
    createTripletEnrichment({
      ...structure.deps,
      customTasks: (pass, custom) => runCustomTasks({ ...structure.deps, stages: [] }, pass, custom),
    });
  const scope = () => scopeOf(structure.world.dataset);
  async function triplets(): Promise<readonly string[]> {
    const { text } = structure.world.indexes;
    const texts: string[] = [];
    for (const { id } of structure.world.items) {
      const generation = (await structure.world.ledger.committed(scope(), [id])).get(id);
      if (generation === undefined) continue;
      const rows = await text.list(scope(), { kind: 'triplet', provenance: { item: id, generation }, limit: 1000 });
      texts.push(...rows.map(({ payload }) => String(payload['text'])));
    }
    return texts;
  }

  it('is skipped unless it is enabled and something changed', async () => {
    await structure.learn(ADA);
    const off = createTripletEnrichment({
      ...structure.deps,
      settings: { ...structure.deps.settings, tripletEmbedding: false },
      customTasks: async () => {},
    });
    const gates = [await off.gate(structure.pass()), await stage().gate(structure.pass())];
    await stage().run(structure.pass());
    gates.push(await stage().gate(structure.pass()), await stage().gate(structure.pass({ nodeNames: ['x'] })));
    await structure.learn(GRACE);
    gates.push(await stage().gate(structure.pass()));
    expect(gates).to.deep.equal([
      { status: 'skipped', reason: 'triplet_embedding_disabled' },
      null,
      { status: 'skipped', reason: 'no_writes_since_last_improve' },
      null,
      null,
    ]);
  });

  it('makes a text of every visible edge, and records the run', async () => {
    await structure.learn(ADA);
    const { status, counts, run } = await stage().run(structure.pass());
    expect({ status, counts }).to.deep.equal({ status: 'completed', counts: {} });
    expect(run?.pipeline).to.equal('memify_pipeline');
    const found = await triplets();
    expect(found)
      .to.include('Ada-›Ada knows Babbage well.-›Babbage')
      .and.include('Ada-›is_a-›person')
      .and.include(`${ADA}-›contains-›London`)
      .and.include(`${ADA}-›is_part_of-›text1`);
    expect(new Set(found).size).to.equal(found.length);
    const [vector] = await structure.deps.embedder.embed(['Ada-›Ada knows Babbage well.-›Babbage'], {
      scope: scope(),
      purpose: 'query',
    });
    const near = await structure.world.indexes.vectors.nearest(scope(), {
      kind: 'triplet',
      vector: vector ?? new Float32Array(),
      limit: 1,
    });
    expect(near[0]?.similarity).to.be.closeTo(1, 1e-3);
  });

  it('reads and embeds only new items in a second run', async () => {
    await structure.learn(ADA, 'Mary wrote to Percy.');
    await stage().run(structure.pass());
    await structure.learn(GRACE);
    const before = structure.embeddedByCognify.length;
    await stage().run(structure.pass());
    const added = structure.embeddedByCognify.slice(before);
    expect(added).to.not.be.empty;
    expect(added.filter((text) => text.includes('Mary') || text.includes('Babbage'))).to.deep.equal([]);
    await stage().run(structure.pass());
    expect(structure.embeddedByCognify.length).to.equal(before + added.length);
  });

  it('loses its rows with the item, also when they are written after the erasure', async () => {
    await structure.learn(ADA, GRACE);
    await stage().run(structure.pass());
    const { dataset, items, principal, indexes } = structure.world;
    const [first] = items;
    if (first === undefined) throw new Error('no item');
    const context = { requestId: 'test', principal };
    const request = { dataset, items: [first.id], memoryOnly: false };
    expect((await structure.cognify.messenger.call('cognify.Erase', request, context)).residue).to.equal(0);
    expect(await indexes.text.count(scope(), { kind: 'triplet', items: [first.id] })).to.equal(0);
    await stage().run(structure.pass());
    expect(await indexes.vectors.count(scope(), { kind: 'triplet', items: [first.id] })).to.equal(0);
    expect((await structure.deps.structureItems.all(scope(), 'triplets')).size).to.equal(1);
  });

  it('makes triplets of named node sets only, and does not mark items as done', async () => {
    await structure.world.addText('one', ADA, { nodeSets: ['people'] });
    await structure.learn(GRACE);
    await stage().run(structure.pass({ nodeNames: ['people'] }));
    expect((await triplets()).filter((text) => text.includes('Grace'))).to.deep.equal([]);
    expect((await triplets()).filter((text) => text.includes('Babbage'))).to.not.be.empty;
    expect(await stage().gate(structure.pass())).to.equal(null);
  });

  it('runs named tasks in place of the default', async () => {
    await structure.learn(ADA);
    const custom = { extractionTasks: ['extract_subgraph'], enrichmentTasks: [], data: null };
    await stage().run(structure.pass({ custom }));
    expect(await triplets()).to.deep.equal([]);
    await stage().run(structure.pass({ custom: { ...custom, enrichmentTasks: ['add_data_points'] } }));
    expect(await triplets()).to.not.be.empty;
  });
});
