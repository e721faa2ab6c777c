import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import {
  capitalsExtractor,
  createWorld,
  startCognify,
  type TestCognify,
  type TestWorld,
} from '../../../test/support/cognify-service.ts';
import { dyingProcess } from '../../../test/support/dying-ports.ts';
import { graphPrint } from '../../../test/support/visible-graph.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { awaitRun } from '../../common/platform/jobs/await-run.ts';
import { jobsCollection } from '../../common/platform/jobs/job-document.ts';
import type { Extractor } from '../../common/ports/extractor.ts';
import { createLedger } from '../../common/records/cognify/ledger.ts';

/** The stores of a process that dies at its nth call: before the call takes effect, or after, its answer lost. */
function dyingWorld(world: TestWorld, dieAt: number, mode: 'before' | 'after') {
  const { dying, isDead } = dyingProcess(dieAt, mode);
  const { text, vectors, graph } = world.indexes;
  const store = dying(world.store);
  const indexes = { ...world.indexes, text: dying(text), vectors: dying(vectors), graph: dying(graph) };
  const stores = { store, ledger: createLedger(store), blobs: dying(world.blobs), indexes };
  return { isDead, world: { ...world, ...stores } };
}

/** Queues a run without anybody to take it. */
async function queueRun(world: TestWorld) {
  await using cognify = await startCognify(world, { runs: { maxConcurrentRuns: 0 } });
  return (await cognify.start()).id;
}

async function isQueueEmpty(world: TestWorld): Promise<boolean> {
  return (await world.store.count(SYSTEM_SCOPE, jobsCollection, {})) === 0;
}

/** True when the process got to the end of the run alive. */
async function runUntilKilled(world: TestWorld, dieAt: number, mode: 'before' | 'after'): Promise<boolean> {
  const dying = dyingWorld(world, dieAt, mode);
  let cognify: TestCognify | null = null;
  try {
    cognify = await startCognify(dying.world);
  } catch (error) {
    expect(error).to.have.property('message', 'killed');
  }
  while (!dying.isDead() && !(await isQueueEmpty(world))) await sleep(1);
  const survived = !dying.isDead();
  await cognify?.service.stop();
  return survived;
}

async function twoTexts(world: TestWorld): Promise<void> {
  const more = { createdAt: '2026-01-02T03:04:05.678Z' };
  await world.addText('one', 'Ada met Grace. Grace liked Ada.', { ...more, id: idOf(1) });
  await world.addText('two', 'Ada wrote to Charles.', { ...more, id: idOf(2), nodeSets: ['letters'] });
}

function idOf(digit: number) {
  return `00000000-0000-4000-8000-00000000000${digit}` as TestWorld['items'][number]['id'];
}

async function rowsOf({ indexes, dataset }: TestWorld): Promise<string> {
  const scope = scopeOf(dataset);
  const { nodeRows, edgeRows } = await indexes.graph.count(scope);
  return [await indexes.text.count(scope, {}), await indexes.vectors.count(scope, {}), nodeRows, edgeRows].join();
}

describe('killed cognify run', () => {
  for (const mode of ['before', 'after'] as const) {
    it(`builds the same graph, whichever store call it is killed ${mode}`, async () => {
      const undisturbed = await createWorld();
      await twoTexts(undisturbed);
      {
        await using cognify = await startCognify(undisturbed);
        await cognify.run();
      }
      const expected = [await graphPrint(undisturbed), await rowsOf(undisturbed)];
      let survived = false;
      let dieAt = 1;
      for (; !survived; dieAt++) {
        const world = await createWorld();
        await twoTexts(world);
        const id = await queueRun(world);
        survived = await runUntilKilled(world, dieAt, mode);
        await using cognify = await startCognify(world, { endLeases: true });
        const run = await awaitRun(cognify.messenger, id, { requestId: 'test' });
        const outcome = [run.status, ...run.items.map(({ status }) => status)];
        expect(outcome, `killed at ${dieAt}`).to.deep.equal(['DATASET_PROCESSING_COMPLETED', 'completed', 'completed']);
        const found = [await graphPrint(world), await rowsOf(world)];
        expect(found, `killed at ${dieAt}`).to.deep.equal(expected);
      }
      expect(dieAt).to.be.above(20);
    });
  }

  it('sets an item aside that blocked its worker beyond the lease three times', async () => {
    const world = await createWorld();
    const bad = await world.addText('bad', 'Poison met Kurt.');
    await world.addText('good', 'Ada met Grace.');
    await using cognify = await startCognify(world, {
      extractor: stallingOn('Poison', 700),
      runs: { leaseMs: 300 },
    });
    const run = await cognify.run();
    expect(run.status).to.equal('DATASET_PROCESSING_COMPLETED');
    expect(run.items.map(({ status }) => status)).to.have.members(['errored', 'completed']);
    expect(run.items.find(({ item }) => item === bad.id)?.failure).to.include({ name: 'bad', isSetAside: true });
  });

  it('sets an item aside that killed three workers, and no other item', async () => {
    const world = await createWorld();
    const bad = await world.addText('bad', 'Poison met Kurt.');
    for (const name of ['Ada', 'Grace', 'Emmy']) await world.addText(name, `${name} met Alan.`);
    const id = await queueRun(world);
    const lost: TestCognify[] = [];
    try {
      for (let worker = 1; worker <= 3; worker++) {
        const { promise: taken, resolve } = Promise.withResolvers<void>();
        // The first two block before a neighbour is through, as a process does that dies at once. The third builds one at a time.
        const extractor = blockingOn(worker === 3 ? 'Poison' : 'met', resolve);
        lost.push(await startCognify(world, { extractor, endLeases: true, runs: { leaseMs: 60_000 } }));
        await taken;
      }
      await using last = await startCognify(world, { extractor: blockingOn('Poison', () => {}), endLeases: true });
      const run = await awaitRun(last.messenger, id, { requestId: 'test' });
      expect(run.status).to.equal('DATASET_PROCESSING_COMPLETED');
      const { status, failure } = run.items.find(({ item }) => item === bad.id) ?? {};
      expect(status).to.equal('errored');
      expect(failure).to.include({ name: 'bad', isSetAside: true, errorClass: 'AbandonedPipelineRunError' });
      expect(run.items.filter((item) => item.status === 'completed')).to.have.length(3);
      expect(last.log.some(({ event }) => event === 'cognify.item.set_aside')).to.equal(true);
    } finally {
      for (const worker of lost) await worker.service.stop();
    }
  });
});

/** Blocks its thread at a text with the word. */
function stallingOn(word: string, forMs: number): Extractor {
  return {
    version: 'stalling/1',
    async extract(input, context) {
      const until = Date.now() + (input.text.includes(word) ? forMs : 0);
      while (Date.now() < until);
      return capitalsExtractor.extract(input, context);
    },
  };
}

/** Never comes back from a text with the word, until its lease is lost. */
function blockingOn(word: string, onTaken: () => void): Extractor {
  return {
    version: 'blocking/1',
    async extract(input, context) {
      if (!input.text.includes(word)) return capitalsExtractor.extract(input, context);
      onTaken();
      return new Promise((_, reject) => {
        context.signal?.addEventListener('abort', () => reject(context.signal?.reason), { once: true });
      });
    },
  };
}
