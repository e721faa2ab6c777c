import { expect } from 'chai';
import { createWorld } from '../../../../test/support/cognify-service.ts';
import { graphOf } from '../../../../test/support/visible-graph.ts';
import type { DataItemId } from '../../kernel/brand.ts';
import { scopeOf } from '../../kernel/dataset.ts';
import { asId } from '../../kernel/ids.ts';

describe('reading the graph', () => {
  it('merges rows of one node that fall on two pages, and hides what is not committed', async () => {
    const world = await createWorld();
    const scope = scopeOf(world.dataset);
    const items = ['a', 'b', 'c'].map((name) => asId<DataItemId>(name));
    for (const item of items.slice(0, 2)) {
      const generation = await world.ledger.begin(scope, item);
      await world.store.commit(scope, world.ledger.commitWrites(item, generation, 'hash', '2026-01-02T03:04:05.678Z'));
    }
    const count = 4000;
    for (const item of items) {
      const common = { item, generation: 1, nodeSets: [], properties: {} };
      const nodes = Array.from({ length: count }, (_, index) => ({
        ...common,
        id: `node ${index}`,
        type: 'Entity',
        name: `name ${index}`,
        mentions: 1,
      }));
      const edges = Array.from({ length: count }, (_, index) => ({
        ...common,
        source: `node ${index}`,
        target: `node ${(index + 1) % count}`,
        relation: index % 2 === 0 ? 'knows' : 'next',
        weight: 1,
      }));
      await world.indexes.graph.upsert(scope, { nodes, edges });
    }
    const graph = await graphOf(world);
    expect(graph.nodes).to.have.length(count);
    expect(graph.nodes.every(({ mentions }) => mentions === 2)).to.equal(true);
    expect(graph.edges).to.have.length(count / 2);
    expect(graph.edges.every(({ weight }) => weight === 2)).to.equal(true);
  });
});
