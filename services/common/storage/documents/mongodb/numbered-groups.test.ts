import { expect } from 'chai';
import { MongoNetworkError } from 'mongodb';
import { asId } from '../../../kernel/ids.ts';
import { type AnyScope, datasetScope, SYSTEM_SCOPE } from '../../../kernel/scope.ts';
import { insert, update } from '../../ports/document-store.ts';
import type { Step } from './apply-writes.ts';
import { createNumberedGroups } from './document-store.ts';

const things = { name: 'things', level: 'system', indexes: [] } as const;
const commit = (...ids: readonly string[]): readonly Step[] =>
  ids.map((id) => ({ scope: SYSTEM_SCOPE, write: insert(things, id, {}) }));

/** Groups over a server that refuses what `fault` says; `sizes` tells how many documents came together. */
function groupsWith(fault: (ids: readonly string[]) => Error | null) {
  const sizes: number[] = [];
  const groups = createNumberedGroups(async (steps) => {
    await new Promise(setImmediate);
    sizes.push(steps.length);
    const ids = steps.map(({ write }) => ('id' in write ? write.id : ''));
    const error = fault(ids);
    if (error !== null) throw error;
    return ids.map((id) => ({ stored: null, changed: id.length }));
  });
  return { groups, sizes };
}

describe('commits that take numbers, in groups', () => {
  it('go together while they wait, and each gets its own results', async () => {
    const { groups, sizes } = groupsWith(() => null);
    const all = await Promise.all([commit('a'), commit('bb', 'ccc'), commit('dddd')].map(groups));
    expect(all.map((results) => results.map(({ changed }) => changed))).to.deep.equal([[1], [2, 3], [4]]);
    expect(sizes).to.deep.equal([1, 3]);
  });

  it('keep to their bounds', async () => {
    const { groups, sizes } = groupsWith(() => null);
    const large = commit(...Array.from({ length: 700 }, (_, index) => `${index}`));
    await Promise.all([large, large, large, ...Array.from({ length: 60 }, () => commit('a'))].map(groups));
    expect(sizes).to.deep.equal([700, 700, 749, 11]);
  });

  it('change documents together only within one scope', async () => {
    const { groups, sizes } = groupsWith(() => null);
    const dataset = (id: string) => datasetScope(asId('tenant'), asId(id));
    const changing = (scope: AnyScope): readonly Step[] => [{ scope, write: update(things, 'a', {}) }, ...commit('b')];
    await Promise.all([
      groups(commit('first')),
      ...[dataset('x'), dataset('x'), dataset('y'), dataset('y'), dataset('y'), dataset('x')].map((scope) =>
        groups(changing(scope)),
      ),
    ]);
    expect(sizes).to.deep.equal([1, 4, 6, 2]);
  });

  it('go alone when one of them is at fault', async () => {
    const { groups, sizes } = groupsWith((ids) => (ids.includes('bad') ? new Error('taken') : null));
    const outcomes = await Promise.allSettled(['a', 'b', 'bad', 'c'].map((id) => groups(commit(id))));
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(sizes).to.deep.equal([1, 3, 1, 1, 1]);
  });

  it('fail at once when the server is away', async () => {
    const { groups, sizes } = groupsWith(() => new MongoNetworkError('gone'));
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((id) => groups(commit(id))));
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected', 'rejected']);
    expect(sizes).to.deep.equal([1, 2]);
  });
});
