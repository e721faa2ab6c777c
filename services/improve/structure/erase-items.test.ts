import { expect } from 'chai';
import { createStructureWorld, type StructureWorld } from '../../../test/support/structure-world.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { idFor } from '../../common/kernel/ids.ts';
import { createElementWeights } from '../../common/records/improve/element-weights.ts';
import { eraseItems } from './erase-items.ts';

describe('weights of erased items', () => {
  let structure: StructureWorld;
  beforeEach(async () => {
    structure = await createStructureWorld();
  });
  afterEach(() => structure[Symbol.asyncDispose]());

  const weights = () => createElementWeights(structure.world.store);
  const scope = () => scopeOf(structure.world.dataset);
  const entity = (name: string) => idFor('Entity', name);
  async function rate(id: string, elements: readonly string[]): Promise<void> {
    const { principal } = structure.world;
    await weights().cast(scope(), {
      session: { user: principal.id, session: 's1' },
      answer: { id, number: 1 },
      ids: elements,
      vote: { score: 5, source: 'explicit', applied: elements, attempts: 1, version: null },
      move: () => 0.6,
      at: '2026-01-02T03:04:05.000Z',
    });
  }
  async function forget(position: number): Promise<unknown> {
    const { dataset, principal, items } = structure.world;
    const ids = items.slice(position, position + 1).map(({ id }) => id);
    const request = { dataset, items: ids, memoryOnly: false };
    await structure.cognify.messenger.call('cognify.Erase', request, { requestId: 'test', principal });
    return eraseItems({ ...structure.deps, weights: weights() }, dataset, ids);
  }
  const left = async (...names: readonly string[]) => {
    const found = await weights().of(scope(), names.map(entity));
    return names.filter((name) => found.has(entity(name)));
  };

  it('are removed with the last item that has the element, and not before', async () => {
    await structure.learn('Ada knows Babbage.', 'Ada met Grace.');
    await rate('a1', [entity('Ada'), entity('Babbage')]);
    await rate('a2', [entity('Grace')]);
    expect(await forget(0)).to.deep.equal({ removed: 1, residue: 0 });
    expect(await left('Ada', 'Babbage', 'Grace')).to.deep.equal(['Ada', 'Grace']);
    expect((await weights().vote(scope(), 'a1'))?.applied).to.deep.equal([entity('Ada')]);
    expect((await weights().vote(scope(), 'a2'))?.applied).to.deep.equal([entity('Grace')]);
    expect(await forget(1)).to.deep.equal({ removed: 2, residue: 0 });
    expect(await left('Ada', 'Babbage', 'Grace')).to.deep.equal([]);
    expect(await forget(1)).to.deep.equal({ removed: 0, residue: 0 });
  });

  it('stay for elements that many items have', async () => {
    await structure.learn(...Array.from({ length: 8 }, (_, at) => `Ada met Person${at}. Ada wrote.`), 'Grace sailed.');
    await rate('a1', [entity('Ada'), entity('Grace')]);
    expect(await forget(8)).to.deep.equal({ removed: 1, residue: 0 });
    expect(await left('Ada', 'Grace')).to.deep.equal(['Ada']);
  });
});
