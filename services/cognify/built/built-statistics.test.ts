import { expect } from 'chai';
import { CALL } from '../../../test/support/call-route.ts';
import { capitalsExtractor, createWorld, startCognify, type TestWorld } from '../../../test/support/cognify-service.ts';
import type { DataItem } from '../../common/domain/data-item.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { Extractor } from '../../common/ports/extractor.ts';
import { createDataItems } from '../../common/records/ingest/data-items.ts';

describe('statistics of what was built', () => {
  let world: TestWorld;
  let broken: Set<string>;
  const extractor: Extractor = {
    version: 'capitals/1',
    async extract(input, context) {
      if ([...broken].some((word) => input.text.includes(word))) throw engramError('CogneeValidationError', 'broken');
      return capitalsExtractor.extract(input, context);
    },
  };
  beforeEach(async () => {
    world = await createWorld();
    broken = new Set();
  });

  const items = () => createDataItems(world.store);
  /** As ingest does. */
  const add = async (text: string, more: Partial<DataItem> = {}): Promise<DataItem> => {
    const item = await world.addText(text, `${text} met Grace.`, more);
    await world.store.commit(scopeOf(world.dataset), items().insertWrites([item]));
    return item;
  };
  const replace = async (present: DataItem, text: string, updatedAt: string): Promise<void> => {
    const { id, createdAt } = present;
    const next = await world.addText(text, `${text} met Grace.`, { id, createdAt, updatedAt, revision: updatedAt });
    await world.store.commit(scopeOf(world.dataset), items().replaceWrites(present, next));
  };
  const look = async (cognify: Awaited<ReturnType<typeof startCognify>>) => {
    const { dataset } = world;
    const { failed, pendingSince, chunks } = await cognify.messenger.call('cognify.BuiltStatistics', { dataset }, CALL);
    return { waiting: await items().countWaiting(scopeOf(dataset)), failed, pendingSince, chunks };
  };
  const at = (minute: number) => `2026-01-02T03:0${minute}:00.000Z`;

  it('counts failed and waiting items, with the time of the longest wait', async () => {
    const old = await add('Ada', { createdAt: at(1) });
    await add('Kurt', { createdAt: at(3) });
    await using cognify = await startCognify(world, { extractor });
    expect(await look(cognify)).to.deep.equal({ waiting: 2, failed: 0, pendingSince: at(1), chunks: 0 });
    await cognify.run();
    await add('Alan', { createdAt: at(2) });
    broken = new Set(['Alan']);
    await cognify.run();
    expect(await look(cognify)).to.deep.equal({ waiting: 1, failed: 1, pendingSince: null, chunks: 2 });
    await replace(old, 'Emmy', at(5));
    await add('Rosa', { createdAt: at(4) });
    expect(await look(cognify)).to.deep.equal({ waiting: 3, failed: 1, pendingSince: at(4), chunks: 2 });
    broken = new Set();
    await cognify.run();
    expect(await look(cognify)).to.deep.equal({ waiting: 0, failed: 0, pendingSince: null, chunks: 4 });
  });

  it('does not count what a killed run left unfinished', async () => {
    await add('Ada', { createdAt: at(1) });
    let entered = () => {};
    const begun = new Promise<void>((resolve) => {
      entered = resolve;
    });
    const held: Extractor = {
      version: 'held/1',
      extract: (_, { signal }) => {
        entered();
        return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
      },
    };
    {
      await using cognify = await startCognify(world, { extractor: held, runs: { onStop: 'hand-over' } });
      await cognify.start();
      await begun;
      expect(await look(cognify)).to.deep.include({ waiting: 1, failed: 0, chunks: 0 });
    }
    await using idle = await startCognify(world, { runs: { maxConcurrentRuns: 0 } });
    expect(await look(idle)).to.deep.include({ waiting: 1, failed: 0, chunks: 0, pendingSince: at(1) });
  });

  it('counts an item as waiting whose content was replaced during its build', async () => {
    const item = await add('Ada', { createdAt: at(1) });
    const gate = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    const held: Extractor = {
      version: 'held/1',
      async extract(input, context) {
        entered.resolve();
        await gate.promise;
        return capitalsExtractor.extract(input, context);
      },
    };
    await using cognify = await startCognify(world, { extractor: held });
    const running = cognify.run();
    await entered.promise;
    await replace(item, 'Emmy', at(5));
    gate.resolve();
    await running;
    expect(await look(cognify)).to.deep.include({ waiting: 1, pendingSince: at(5) });
  });
});
