import { expect } from 'chai';
import { createStructureWorld, type StructureWorld } from '../../../test/support/structure-world.ts';
import { cosine, dotProduct, unitVector } from '../../common/domain/vector-text.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { onlyEmbedder } from '../../common/ports/embedders.ts';
import { truthFactor, truthScore, withLearnings } from '../../common/ranking/truth.ts';
import { createTruthState, TRUTH_SLOTS } from '../../common/records/improve/truth-state.ts';
import { createBuildTruthSubspace } from './structure-stages.ts';

describe('build_truth_subspace', () => {
  let structure: StructureWorld;
  beforeEach(async () => {
    structure = await createStructureWorld();
  });
  afterEach(() => structure[Symbol.asyncDispose]());

  const scope = () => scopeOf(structure.world.dataset);
  const truth = () => createTruthState(structure.world.store);
  const stage = (deps = structure.deps) => createBuildTruthSubspace({ ...deps, truth: truth() });
  const pass = (...sessions: readonly string[]) => structure.pass({ buildTruthSubspace: true }, sessions);
  const run = async (...sessions: readonly string[]) => (await stage().run(pass(...sessions))).counts;
  async function teach(session: string, text: string): Promise<void> {
    await structure.world.addText(`lesson ${text}`, text, {
      nodeSets: ['session_learnings', `session_learnings:${session}`],
    });
    await structure.learn();
  }

  it('is opt-in', async () => {
    expect(await stage().gate(structure.pass({}, ['s1']))).to.deep.equal({
      status: 'skipped',
      reason: 'opt_in_disabled',
    });
    expect(await stage().gate(pass('s1'))).to.equal(null);
  });

  it('counts nothing when the sessions have no learnings', async () => {
    await structure.learn('Ada lives in Oslo.');
    await teach('s2', 'Deploy on Fridays only.');
    expect(await run('s1')).to.deep.equal({ anchors: 0, nodes_scored: 0, nodes_skipped: 0, truth_epoch: 0 });
  });

  it('scores every passage by stored vectors, and keeps the epoch while nothing changes', async () => {
    await structure.learn('Ada lives in Oslo.', 'The Nile flows through Egypt.');
    await teach('s1', 'Ada prefers trains.');
    const first = { anchors: 1, nodes_scored: 3, nodes_skipped: 0, truth_epoch: 1 };
    expect(await run('s1')).to.deep.equal(first);
    expect(await run('s1')).to.deep.equal(first);
    expect(structure.embedded).to.deep.equal([]);
    const [slot] = (await truth().subspace(scope())).slots;
    const { text, vectors } = structure.world.indexes;
    for (const { id: item } of structure.world.items) {
      const generation = (await structure.world.ledger.committed(scope(), [item])).get(item) ?? 0;
      const [row] = await text.list(scope(), { kind: 'chunk', provenance: { item, generation }, limit: 1 });
      const id = row?.id ?? '';
      const [stored] = await vectors.fetch(scope(), 'chunk', [id]);
      const found = (await truth().coordinates(scope(), 1, [{ id, item, number: 0 }])).get(id);
      const expected = cosine(stored?.vector ?? new Float32Array(), slot?.centroid ?? new Float32Array());
      expect(found?.[0]).to.be.closeTo(expected, 1e-6);
      expect([...(found ?? [])].slice(1)).to.deep.equal([0, 0, 0, 0, 0, 0, 0]);
    }
  });

  it('begins a new epoch with a new learning, and scores new passages in the current one', async () => {
    await teach('s1', 'Ada prefers trains.');
    await run('s1');
    await structure.learn('The Nile flows through Egypt.');
    expect(await run('s1')).to.include({ nodes_scored: 2, truth_epoch: 1 });
    await teach('s1', 'Never deploy on Mondays.');
    expect(await run('s1')).to.deep.equal({ anchors: 2, nodes_scored: 3, nodes_skipped: 0, truth_epoch: 2 });
    const { items, ledger } = structure.world;
    await ledger.tombstone(
      scope(),
      items.slice(0, 1).map(({ id }) => id),
    );
    expect(await run('s1')).to.include({ nodes_scored: 2, truth_epoch: 2 });
    expect((await truth().pages(scope())).size).to.equal(2);
  });

  it('counts passages that cannot be embedded as skipped, and scores them later', async () => {
    await teach('s1', 'Ada prefers trains.');
    await structure.learn('The Nile flows through Egypt.');
    const { indexes } = structure.world;
    const lacking = {
      ...indexes,
      vectors: {
        ...indexes.vectors,
        fetch: async (...call: Parameters<typeof indexes.vectors.fetch>) => {
          const found = await indexes.vectors.fetch(...call);
          return found.filter(({ item }) => item === structure.world.items[0]?.id);
        },
      },
    };
    const embedder = { ...structure.deps.embedder, embed: () => Promise.reject(new Error('away')) };
    const broken = stage({ ...structure.deps, indexes: lacking, embedders: onlyEmbedder(embedder) });
    expect((await broken.run(pass('s1'))).counts).to.deep.equal({
      anchors: 1,
      nodes_scored: 1,
      nodes_skipped: 1,
      truth_epoch: 1,
    });
    expect(await run('s1')).to.include({ nodes_scored: 2, nodes_skipped: 0, truth_epoch: 1 });
  });

  it('fills eight centroids, then moves the nearest one', () => {
    const axis = (at: number) => Float32Array.from({ length: 9 }, (_, index) => (index === at ? 2 : 0));
    const eight = withLearnings(
      [],
      Array.from({ length: 8 }, (_, at) => ({ id: `l${at}`, vector: axis(at) })),
      TRUTH_SLOTS,
    );
    const near = Float32Array.from(axis(3), (value, index) => (index === 8 ? 1 : value));
    const moved = withLearnings(
      eight,
      [
        { id: 'l3', vector: axis(0) },
        { id: 'new', vector: near },
      ],
      TRUTH_SLOTS,
    );
    expect(moved.map(({ count }) => count)).to.deep.equal([1, 1, 1, 2, 1, 1, 1, 1]);
    const expected = unitVector(axis(3).map((value, index) => value / 2 + (unitVector(near)[index] ?? 0)));
    expect(dotProduct(moved[3]?.centroid ?? new Float32Array(), expected)).to.be.closeTo(1, 1e-6);
  });

  it('weights a passage by the direction of the query', () => {
    const query = Float32Array.of(0.8, -0.5, 0.2);
    expect(truthScore(Float32Array.of(1, 1, 0), query)).to.be.closeTo(0.8, 1e-6);
    expect(truthScore(undefined, query)).to.equal(0.5);
    expect(truthScore(Float32Array.of(1, 1, 1), Float32Array.of(-1, 0, 0))).to.equal(0.5);
    expect(truthScore(Float32Array.of(-1, 0, -1), query)).to.equal(0);
    expect([truthFactor(0), truthFactor(0.5), truthFactor(1)]).to.deep.equal([0.75, 1, 1.25]);
  });
});
