import { expect } from 'chai';
import { scopeOf } from '../../services/common/kernel/dataset.ts';
import { findAll } from '../../services/common/records/base/find-all.ts';
import {
  type ContextNode,
  contextNodesCollection,
  contextRootId,
  readGlobalContext,
} from '../../services/common/records/improve/context-summaries.ts';
import { createTruthState } from '../../services/common/records/improve/truth-state.ts';
import {
  createBuildTruthSubspace,
  createGlobalContextIndex,
  createTripletEnrichment,
} from '../../services/improve/stages/structure-stages.ts';
import { forgetItems } from '../../services/improve/structure/erase-items.ts';
import type { SharedDocuments } from '../support/document-stores.ts';
import { createStructureWorld, type StructureWorld } from '../support/structure-world.ts';

const NAMES = 'Ada Grace Mary Alan Kurt Emmy Sofia Euclid Hypatia Leonhard'.split(' ');

/** What improve builds over a dataset, with any document store behind it. */
export function structuresBehaviour(name: string, open: () => Promise<SharedDocuments>): void {
  describe(`structures over ${name}`, () => {
    let subject: SharedDocuments;
    let structure: StructureWorld;
    before(async () => {
      subject = await open();
      const [store] = subject.stores;
      structure = await createStructureWorld({ store, settings: { tripletEmbedding: true } });
      const texts = NAMES.flatMap((who) => [1, 2, 3, 4].map((at) => `${who} kept note ${at} about ${who}s work.`));
      await structure.learn(...texts);
    });
    after(async () => {
      await structure[Symbol.asyncDispose]();
      await subject.dispose();
    });

    const scope = () => scopeOf(structure.world.dataset);
    const pass = () => structure.pass({ buildGlobalContextIndex: true, buildTruthSubspace: true }, ['s1']);
    const build = () => createGlobalContextIndex(structure.deps).run(pass());
    async function tree(): Promise<ReadonlyMap<string, ContextNode & { readonly version: number }>> {
      const found = await findAll(structure.world.store, scope(), contextNodesCollection);
      return new Map(found.map(({ id, version, value }) => [id, { ...value, version }]));
    }
    async function leaves(): Promise<readonly string[]> {
      const all = await tree();
      const below = (id: string): readonly string[] => {
        const node = all.get(id);
        if (node === undefined) throw new Error('a child is missing');
        return node.level === 0 ? node.children : node.children.flatMap(below);
      };
      return below(contextRootId(structure.world.dataset.id));
    }

    it('contain every summary once, and add a branch for a new one', async () => {
      await build();
      expect(new Set(await leaves()).size).to.equal(40);
      const before = await tree();
      await structure.learn('Euclid drew circles.');
      await build();
      const after = await tree();
      expect(await leaves()).to.have.length(41);
      const changed = [...after].filter(([id, node]) => before.get(id)?.version !== node.version);
      const height = after.get(contextRootId(structure.world.dataset.id))?.level ?? 0;
      expect(height).to.be.at.least(2);
      expect(changed.length).to.be.within(1, 2 * (height + 1));
    });

    it('contain nothing of a forgotten item', async () => {
      const { store, ledger, items } = structure.world;
      const ids = items.slice(0, 4).map(({ id }) => id);
      await ledger.tombstone(scope(), ids);
      expect(await forgetItems(store, scope(), ids)).to.deep.equal({ removed: 4, residue: 0 });
      expect(await readGlobalContext(store, scope(), { vector: null, areas: 3 })).to.deep.equal([]);
      await build();
      expect(await leaves()).to.have.length(37);
      expect([...(await tree()).values()].some(({ text }) => text.includes('Ada'))).to.equal(false);
    });

    it('keep the epoch of the truth subspace while nothing changes, and end it with a new learning', async () => {
      const truth = createTruthState(structure.world.store);
      const run = async () => (await createBuildTruthSubspace({ ...structure.deps, truth }).run(pass())).counts;
      const teach = (text: string) =>
        structure.world.addText(text, text, { nodeSets: ['session_learnings', 'session_learnings:s1'] });
      await teach('Grace prefers trains.');
      await structure.learn();
      const first = { anchors: 1, nodes_scored: 38, nodes_skipped: 0, truth_epoch: 1 };
      expect([await run(), await run()]).to.deep.equal([first, first]);
      await teach('Never deploy on Mondays.');
      await structure.learn();
      expect(await run()).to.deep.equal({ anchors: 2, nodes_scored: 39, nodes_skipped: 0, truth_epoch: 2 });
      expect((await truth.subspace(scope())).slots.map(({ slot, count }) => [slot, count])).to.deep.equal([
        [0, 1],
        [1, 1],
      ]);
    });

    it('record the items of their triplets', async () => {
      const stage = createTripletEnrichment({ ...structure.deps, customTasks: async () => {} });
      await stage.run(pass());
      expect(await stage.gate(pass())).to.deep.equal({ status: 'skipped', reason: 'no_writes_since_last_improve' });
      const items = await structure.deps.structureItems.all(scope(), 'triplets');
      expect([items.size, [...items.values()].every(({ isDone }) => isDone)]).to.deep.equal([39, true]);
    });
  });
}
