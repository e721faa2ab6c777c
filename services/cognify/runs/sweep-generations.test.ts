import { expect } from 'chai';
import { createWorld, startCognify, type TestWorld } from '../../../test/support/cognify-service.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { createRuns } from '../../common/records/cognify/runs.ts';
import { createStatements } from '../../common/records/cognify/statements.ts';
import { createSupersessions } from '../../common/records/cognify/supersessions.ts';
import { sweepGenerations } from './sweep-generations.ts';

const logger = { debug() {}, info() {}, warn() {}, error() {} };

function dependenciesOf({ indexes, ledger, store }: TestWorld) {
  const stated = { statements: createStatements(store), supersessions: createSupersessions(store) };
  return { ...indexes, ...stated, ledger, runs: createRuns(store), logger };
}

describe('sweeping generations', () => {
  it('removes the rows of attempts whose run has ended, and no committed rows', async () => {
    const world = await createWorld();
    const scope = scopeOf(world.dataset);
    const item = await world.addText('one', 'Ada met Grace.');
    {
      await using cognify = await startCognify(world);
      await cognify.run();
    }
    const rows = await world.indexes.text.count(scope, {});
    const generation = await world.ledger.begin(scope, item.id);
    const left = { item: item.id, generation, id: 'left', nodeSets: [], ordinal: 0, payload: {}, tokens: 'left' };
    await world.indexes.text.upsert(scope, [{ ...left, kind: 'chunk' }]);
    const dependencies = dependenciesOf(world);
    expect(await sweepGenerations(dependencies)).to.equal(1);
    expect(await world.indexes.text.count(scope, {})).to.equal(rows);
    expect((await world.ledger.committed(scope, [item.id])).size).to.equal(1);
    expect(await sweepGenerations(dependencies)).to.equal(0);
  });

  it('does not touch attempts while a run of the dataset is unfinished', async () => {
    const world = await createWorld();
    const item = await world.addText('one', 'Ada met Grace.');
    await using cognify = await startCognify(world, { runs: { maxConcurrentRuns: 0 } });
    await cognify.start();
    await world.ledger.begin(scopeOf(world.dataset), item.id);
    const dependencies = dependenciesOf(world);
    expect(await sweepGenerations(dependencies)).to.equal(0);
  });
});
