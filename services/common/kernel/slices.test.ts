import { expect } from 'chai';
import { type Page, pagesOf } from './result-page.ts';
import { slices } from './slices.ts';

describe('slices of a list', () => {
  it('hold all of it in its order, the last one what is left', () => {
    expect([...slices([1, 2, 3, 4, 5], 2)]).to.deep.equal([[1, 2], [3, 4], [5]]);
    expect([...slices([1, 2], 2)]).to.deep.equal([[1, 2]]);
    expect([...slices([], 2)]).to.deep.equal([]);
  });
});

describe('pages of a listing', () => {
  it('are read one after the other, and only as far as they are consumed', async () => {
    const asked: (string | null)[] = [];
    const read = async (after: string | null): Promise<Page<string>> => {
      asked.push(after);
      const next = { start: 'a', a: 'b', b: null }[after ?? 'start'] ?? null;
      return { items: after === 'a' ? [] : [after ?? 'start'], next };
    };
    const all: string[] = [];
    for await (const items of pagesOf(read)) all.push(...items);
    expect({ all, asked }).to.deep.equal({ all: ['start', 'b'], asked: [null, 'a', 'b'] });
    for await (const _ of pagesOf(read)) break;
    expect(asked).to.deep.equal([null, 'a', 'b', null]);
  });
});
