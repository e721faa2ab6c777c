import { expect } from 'chai';
import { createWorld, startCognify, type TestWorld } from '../../../test/support/cognify-service.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { idFor } from '../../common/kernel/ids.ts';
import { validateDataset } from './validate-dataset.ts';

/** A dataset with one built item. */
async function built() {
  const world = await createWorld();
  const cognify = await startCognify(world);
  const item = await world.addText('note', 'Ada met Grace. Grace met Alan.');
  await cognify.run();
  const { indexes, ledger, dataset } = world;
  const check = () => validateDataset({ ...indexes, ledger }, dataset);
  return { world, cognify, item, check, scope: scopeOf(dataset) };
}

/** The generation of the item that readers see. */
async function generationOf({ ledger, dataset }: TestWorld): Promise<number> {
  const [generation] = (await ledger.allCommitted(scopeOf(dataset))).values();
  return generation ?? 0;
}

const typesOf = (issues: readonly { readonly type: string }[]) => [...new Set(issues.map(({ type }) => type))];

describe('validating a dataset', () => {
  it('reports missing vectors and text rows', async () => {
    const { check, cognify, world, item, scope } = await built();
    await using _ = cognify;
    await world.indexes.vectors.remove(scope, { item: item.id });
    const { status, issues } = await check();
    expect(status).to.equal('unhealthy');
    expect(typesOf(issues)).to.deep.equal(['missing_vector_entry']);
    // Three entities and one chunk.
    expect(issues).to.have.length(4);
    await world.indexes.text.remove(scope, { item: item.id });
    expect(typesOf((await check()).issues)).to.have.members(['missing_vector_entry', 'missing_index_entry']);
  });

  it('reports edges without ends, and built items without a node', async () => {
    const { check, cognify, world, item, scope } = await built();
    await using _ = cognify;
    const generation = await generationOf(world);
    const [edge] = (await world.indexes.graph.scanEdges(scope, { after: null, limit: 1 })).items;
    if (edge === undefined) throw new Error('the run built no edge');
    await world.indexes.graph.upsert(scope, { nodes: [], edges: [{ ...edge, target: 'nowhere', generation }] });
    const orphaned = await check();
    expect(orphaned.status).to.equal('unhealthy');
    expect(orphaned.issues).to.have.length(1);
    expect(orphaned.issues[0]).to.deep.include({ severity: 'error', type: 'orphaned_edge' });
    expect(orphaned.issues[0]?.detail).to.match(/there is no node nowhere$/);
    await world.indexes.graph.remove(scope, { item: item.id });
    expect(typesOf((await check()).issues)).to.deep.equal(['missing_document']);
  });

  it('warns of ids that are not made from the name', async () => {
    const { check, cognify, world, scope } = await built();
    await using _ = cognify;
    const generation = await generationOf(world);
    const { items } = await world.indexes.graph.scanNodes(scope, { after: null, limit: 100 });
    const ada = items.find(({ id }) => id === idFor('Entity', 'Ada'));
    if (ada === undefined) throw new Error('the run built no such entity');
    await world.indexes.graph.upsert(scope, { nodes: [{ ...ada, name: 'Eve', generation }], edges: [] });
    const { status, issues } = await check();
    expect(status).to.equal('degraded');
    expect(issues).to.deep.equal([
      { severity: 'warning', type: 'identity_id_mismatch', detail: `Entity 'Eve' has the id ${ada.id}` },
    ]);
  });

  it('ignores rows that were never committed', async () => {
    const { check, cognify, world, item, scope } = await built();
    await using _ = cognify;
    const [edge] = (await world.indexes.graph.scanEdges(scope, { after: null, limit: 1 })).items;
    if (edge === undefined) throw new Error('the run built no edge');
    const half = { ...edge, target: 'nowhere', item: item.id, generation: edge.generation + 7 };
    await world.indexes.graph.upsert(scope, { nodes: [], edges: [half] });
    expect((await check()).status).to.equal('healthy');
  });
});
