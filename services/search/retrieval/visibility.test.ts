import { expect } from 'chai';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { datasetScope, PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { createAskedItems } from '../../common/records/cognify/asked-items.ts';
import { createVisibility } from './visibility.ts';

const SCOPE = datasetScope(PERSONAL_TENANT, asId('notes'));
const row = (item: string, generation = 1) => ({ item: asId<DataItemId>(item), generation });

describe('visibility of rows', () => {
  it('looks each item up once, for concurrent lanes too', async () => {
    const asked: (readonly DataItemId[])[] = [];
    const visibility = createVisibility(
      {
        async committed(_, items) {
          asked.push(items);
          await new Promise((resolve) => setImmediate(resolve));
          return new Map(items.filter((item) => item !== 'gone').map((item) => [item, 1]));
        },
      },
      SCOPE,
    );
    const [first, second] = await Promise.all([
      visibility.filter([row('a'), row('b'), row('gone')]),
      visibility.filter([row('b'), row('b', 2), row('c')]),
    ]);
    expect(first).to.deep.equal([row('a'), row('b')]);
    expect(second).to.deep.equal([row('b'), row('c')]);
    expect(await visibility.filter([row('gone'), row('c')])).to.deep.equal([row('c')]);
    expect(asked).to.deep.equal([['a', 'b', 'gone'], ['c']]);
  });

  it('reads what searches of the dataset asked for last in one go, while most of that is of use', async () => {
    const reads: string[] = [];
    const ledger = {
      asked: createAskedItems(),
      async committed(_: unknown, items: readonly DataItemId[]) {
        reads.push(items.join(''));
        return new Map(items.map((item) => [item, 1]));
      },
    };
    const search = async (...lanes: readonly string[]) => {
      reads.length = 0;
      const visibility = createVisibility(ledger, SCOPE);
      for (const lane of lanes) await visibility.filter([...lane].map((item) => row(item)));
      return reads.join(' ');
    };
    expect(await search('abc', 'cd')).to.equal('abc d');
    expect(await search('', 'b', '', 'acd')).to.equal('bacd');
    expect(await search('x', 'ya')).to.equal('xbacd y');
    expect(await search('z', 'ab')).to.equal('z ab');
  });
});
