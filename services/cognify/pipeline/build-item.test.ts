import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { capitalsExtractor, createWorld, startCognify, type TestWorld } from '../../../test/support/cognify-service.ts';
import { graphOf } from '../../../test/support/visible-graph.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Extractor } from '../../common/ports/extractor.ts';
import { createLedger, ledgerCollection } from '../../common/records/cognify/ledger.ts';

async function rowsOf({ indexes, dataset }: TestWorld): Promise<readonly number[]> {
  const scope = scopeOf(dataset);
  const { nodeRows, edgeRows } = await indexes.graph.count(scope);
  return [await indexes.text.count(scope, {}), await indexes.vectors.count(scope, {}), nodeRows + edgeRows];
}

/** Many chunks at a chunk size of 160 tokens; the last one says "broken". */
function longText(): string {
  const paragraph = (index: number) => `${'Ada met Grace in the house by the river. '.repeat(12)}Number ${index}.`;
  return [...Array.from({ length: 40 }, (_, index) => paragraph(index)), 'This one is broken.'].join('\n\n');
}

describe('building an item', () => {
  it('removes the written rows of an item when a later passage fails', async () => {
    const world = await createWorld();
    let written = 0;
    const { text } = world.indexes;
    const upsert = text.upsert.bind(text);
    text.upsert = async (scope, entries) => {
      // Still under way when the failing passage is met.
      await sleep(15);
      await upsert(scope, entries);
      written += entries.length;
    };
    const extractor: Extractor = {
      version: 'failing/1',
      async extract(input, context) {
        if (input.text.includes('broken')) throw engramError('CogneeValidationError', 'broken');
        return capitalsExtractor.extract(input, context);
      },
    };
    await using cognify = await startCognify(world, { extractor, settings: { chunksPerBatch: 16 } });
    const item = await world.addText('long', longText());
    const run = await cognify.run({ chunkSize: 160 });
    expect(run.errorMessage).to.equal("'long' could not be built: broken");
    // A write that came after the roll-back would show by now.
    await sleep(40);
    expect(written).to.be.above(0);
    expect(await rowsOf(world)).to.deep.equal([0, 0, 0]);
    expect((await world.ledger.entries(scopeOf(world.dataset), [item.id])).get(item.id)?.pending).to.equal(false);
  });

  it('keeps a generation whose commit succeeded although its answer was lost', async () => {
    const world = await createWorld();
    const item = await world.addText('one', 'Ada met Grace.');
    const store: TestWorld['store'] = new Proxy(world.store, {
      get(target, name, receiver) {
        if (name !== 'commit') return Reflect.get(target, name, receiver) as unknown;
        const commit: TestWorld['store']['commit'] = async (scope, writes) => {
          const results = await target.commit(scope, writes);
          const isItemCommit = writes.some(
            (write) => write.kind === 'update' && write.collection.name === ledgerCollection.name && write.required,
          );
          if (isItemCommit) throw new Error('connection lost');
          return results;
        };
        return commit;
      },
    });
    {
      await using cognify = await startCognify({ ...world, store, ledger: createLedger(store) });
      expect((await cognify.run()).errorMessage).to.contain('connection lost');
    }
    expect((await graphOf(world)).nodes.length).to.be.above(3);
    await using cognify = await startCognify(world);
    expect((await cognify.run()).items).to.deep.equal([{ item: item.id, status: 'already_completed' }]);
  });
});
