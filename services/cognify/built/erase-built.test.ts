import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { CALL } from '../../../test/support/call-route.ts';
import { capitalsExtractor, createWorld, startCognify, type TestWorld } from '../../../test/support/cognify-service.ts';
import { graphOf } from '../../../test/support/visible-graph.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { awaitRun } from '../../common/platform/jobs/await-run.ts';
import type { Extractor } from '../../common/ports/extractor.ts';
import { builtAmong } from '../../common/records/cognify/ledger.ts';
import { createModelCache } from '../repositories/model-cache.ts';

async function rowsLeft({ indexes, dataset, store }: TestWorld): Promise<number> {
  const scope = scopeOf(dataset);
  const { nodeRows, edgeRows } = await indexes.graph.count(scope);
  const answers = await createModelCache(store).count(scope);
  return (
    (await indexes.text.count(scope, {})) + (await indexes.vectors.count(scope, {})) + nodeRows + edgeRows + answers
  );
}

/** Holds extractions of texts with the word until it is opened, whatever their signal says. */
function gatedExtractor(word: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const extractor: Extractor = {
    version: 'gated/1',
    async extract(input, context) {
      if (input.text.includes(word)) {
        entered.resolve();
        await promise;
      }
      return capitalsExtractor.extract(input, context);
    },
  };
  return { extractor, open: resolve, entered: entered.promise };
}

describe('erasing what cognify built', () => {
  it('erases an item and keeps what other items state', async () => {
    const world = await createWorld();
    await using cognify = await startCognify(world, { models: { keepExtractions: true } });
    const gone = await world.addText('gone', 'Ada met Grace.');
    await world.addText('kept', 'Ada met Alan.');
    await cognify.run();
    const { dataset } = world;
    const request = { dataset, items: [gone.id], memoryOnly: false };
    const erased = await cognify.messenger.call('cognify.Erase', request, CALL);
    expect(erased).to.include({ residue: 0, itemsReset: 1 });
    expect(erased.removed['answers']).to.equal(1);
    const names = (await graphOf(world)).nodes.filter(({ type }) => type === 'Entity').map(({ name }) => name);
    expect(names).to.have.members(['Ada', 'Alan']);
    expect((await cognify.run()).items).to.have.length(1);
    expect((await cognify.messenger.call('cognify.Erase', request, CALL)).residue).to.equal(0);
  });

  it('hides an erased item before its rows are removed', async () => {
    const world = await createWorld();
    await using cognify = await startCognify(world);
    const item = await world.addText('gone', 'Ada met Grace.');
    await cognify.run();
    const broken = new Error('disk');
    world.indexes.graph.remove = () => Promise.reject(broken);
    const request = { dataset: world.dataset, items: [item.id], memoryOnly: false };
    const failure = await cognify.messenger.call('cognify.Erase', request, CALL).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error);
    expect((await graphOf(world)).nodes).to.deep.equal([]);
  });

  it('keeps model answers of an item and of a dataset with memoryOnly', async () => {
    const world = await createWorld();
    await using cognify = await startCognify(world, { models: { keepExtractions: true } });
    const item = await world.addText('one', 'Ada met Grace.');
    await cognify.run();
    const { dataset } = world;
    for (const items of [[item.id], undefined]) {
      const request = { dataset, memoryOnly: true, ...(items === undefined ? {} : { items }) };
      expect(await cognify.messenger.call('cognify.Erase', request, CALL)).to.include({ residue: 0 });
      expect(await createModelCache(world.store).count(scopeOf(dataset))).to.equal(1);
    }
  });

  it('erases the memory of an item, which can be built again', async () => {
    const world = await createWorld();
    await using cognify = await startCognify(world);
    const item = await world.addText('one', 'Ada met Grace.');
    await cognify.run();
    const { dataset } = world;
    const built = async () => [...(await builtAmong(world.ledger, scopeOf(dataset), [item]))];
    expect(await built()).to.deep.equal([item.id]);
    const erased = await cognify.messenger.call('cognify.Erase', { dataset, items: [item.id], memoryOnly: true }, CALL);
    expect(erased).to.include({ residue: 0, itemsReset: 1 });
    expect(await built()).to.deep.equal([]);
    const statuses = await cognify.messenger.call(
      'cognify.RunStatuses',
      { datasets: [dataset], pipelines: ['cognify_pipeline'] },
      CALL,
    );
    expect(statuses.runs[0]?.status).to.equal('DATASET_PROCESSING_COMPLETED');
    expect((await cognify.run()).items).to.deep.equal([{ item: item.id, status: 'completed' }]);
    expect((await graphOf(world)).nodes).to.have.length.above(3);
  });

  it('erases a dataset with its vector space and its status', async () => {
    const world = await createWorld();
    await using cognify = await startCognify(world, { models: { keepExtractions: true } });
    await world.addText('one', 'Ada met Grace.');
    await world.addText('two', 'Ada met Alan.');
    await cognify.run();
    const { dataset } = world;
    const erased = await cognify.messenger.call('cognify.Erase', { dataset, memoryOnly: false }, CALL);
    expect(erased).to.include({ residue: 0, itemsReset: 2 });
    expect(await rowsLeft(world)).to.equal(0);
    expect(await world.indexes.vectors.space(scopeOf(dataset))).to.equal(null);
    const statuses = await cognify.messenger.call(
      'cognify.RunStatuses',
      { datasets: [dataset], pipelines: ['cognify_pipeline'] },
      CALL,
    );
    expect(statuses.runs).to.deep.equal([]);
  });

  for (const memoryOnly of [false, true]) {
    it(`stops a build of the item in flight (memoryOnly ${memoryOnly})`, async () => {
      const world = await createWorld();
      const { extractor, open, entered } = gatedExtractor('Grace');
      await using cognify = await startCognify(world, { extractor });
      const item = await world.addText('racing', 'Ada met Grace.');
      const other = await world.addText('other', 'Alan met Kurt.');
      const { id } = await cognify.start();
      await entered;
      const request = { dataset: world.dataset, items: [item.id], memoryOnly };
      const erasing = cognify.messenger.call('cognify.Erase', request, CALL);
      await sleep(20);
      open();
      expect((await erasing).residue).to.equal(0);
      const run = await awaitRun(cognify.messenger, id, CALL);
      expect(run.status).to.equal('DATASET_PROCESSING_COMPLETED');
      expect(run.items).to.deep.equal([{ item: other.id, status: 'completed' }]);
      expect((await world.indexes.graph.count(scopeOf(world.dataset), { item: item.id })).nodeRows).to.equal(0);
      expect((await world.ledger.entries(scopeOf(world.dataset), [item.id])).get(item.id)?.pending).to.equal(false);
    });
  }

  it('does not wait for the model call of a build that it stops', async () => {
    const world = await createWorld();
    const entered = Promise.withResolvers<void>();
    const extractor: Extractor = {
      version: 'endless/1',
      extract: (_input, context) =>
        new Promise((_resolve, reject) => {
          entered.resolve();
          context.signal?.addEventListener('abort', () => reject(context.signal?.reason));
        }),
    };
    await using cognify = await startCognify(world, { extractor });
    const item = await world.addText('endless', 'Ada met Grace.');
    const { id } = await cognify.start();
    await entered.promise;
    const request = { dataset: world.dataset, items: [item.id], memoryOnly: false };
    expect((await cognify.messenger.call('cognify.Erase', request, CALL)).residue).to.equal(0);
    expect(await awaitRun(cognify.messenger, id, CALL)).to.deep.include({
      status: 'DATASET_PROCESSING_COMPLETED',
      items: [],
    });
  });

  it('ends the runs of an erased dataset', async () => {
    const world = await createWorld();
    const { extractor, open, entered } = gatedExtractor('Grace');
    await using cognify = await startCognify(world, { extractor });
    await world.addText('racing', 'Ada met Grace.');
    const { id } = await cognify.start();
    await entered;
    const erasing = cognify.messenger.call('cognify.Erase', { dataset: world.dataset, memoryOnly: false }, CALL);
    await sleep(20);
    open();
    expect((await erasing).residue).to.equal(0);
    expect(await awaitRun(cognify.messenger, id, CALL)).to.include({
      status: 'DATASET_PROCESSING_ERRORED',
      errorClass: 'CancelledError',
    });
    expect(await rowsLeft(world)).to.equal(0);
  });
});
