import { expect } from 'chai';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { datasetScope, PERSONAL_TENANT } from '../../common/kernel/scope.ts';
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
});
