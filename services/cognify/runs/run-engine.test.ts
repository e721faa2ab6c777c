import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { CALL } from '../../../test/support/call-route.ts';
import { capitalsExtractor, createWorld, startCognify, type TestWorld } from '../../../test/support/cognify-service.ts';
import { until } from '../../../test/support/until.ts';
import type { RunEvent, RunState } from '../../common/domain/run.ts';
import type { RunId } from '../../common/kernel/brand.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { awaitRun } from '../../common/platform/jobs/await-run.ts';
import { jobsCollection } from '../../common/platform/jobs/job-document.ts';
import type { Extractor } from '../../common/ports/extractor.ts';
import { createRunRecords } from '../../common/records/cognify/run-records.ts';
import { createRuns, runsCollection } from '../../common/records/cognify/runs.ts';
import { update } from '../../common/storage/ports/document-store.ts';

/** Extracts nothing until it is released; reports when a call waits. */
function heldExtractor() {
  const gate = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  let waiting = 0;
  const extractor: Extractor = {
    version: 'held/1',
    async extract(input, context) {
      waiting += 1;
      entered.resolve();
      const aborted = new Promise<never>((_, reject) => {
        context.signal?.addEventListener('abort', () => reject(context.signal?.reason), { once: true });
      });
      await Promise.race([gate.promise, aborted]);
      return capitalsExtractor.extract(input, context);
    },
  };
  return { extractor, entered: entered.promise, waiting: () => waiting, letGo: gate.resolve };
}

async function history({ store, dataset }: TestWorld): Promise<readonly (string | null)[]> {
  const query = { datasets: [dataset.id], limit: 50, offset: 0 };
  const rows = await createRunRecords(store).newest(scopeOf(dataset), query);
  return rows.map(({ record }) => record.status).toReversed();
}

async function runOf(world: TestWorld, id: RunId): Promise<RunState | undefined> {
  return (await createRuns(world.store).get(scopeOf(world.dataset), id))?.state;
}

describe('run engine', () => {
  it('appends one history row when a run starts and one when it ends', async () => {
    const world = await createWorld();
    await using cognify = await startCognify(world);
    await world.addText('one', 'Ada met Grace.');
    await cognify.run();
    await cognify.run();
    const once = ['DATASET_PROCESSING_STARTED', 'DATASET_PROCESSING_COMPLETED'];
    expect(await history(world)).to.deep.equal([...once, ...once]);
  });

  it('notifies subscribers of every item and of the durable end', async () => {
    const world = await createWorld();
    for (let index = 0; index < 3; index++) await world.addText(`text ${index}`, `Ada met number ${index}.`);
    const { extractor, entered, letGo } = heldExtractor();
    await using cognify = await startCognify(world, { extractor });
    const { id } = await cognify.start();
    const events: RunEvent[] = [];
    const subscription = await cognify.messenger.subscribe('runs', id, (event) => {
      events.push(event);
    });
    await entered;
    letGo();
    await awaitRun(cognify.messenger, id, CALL);
    await until('all is told', () => events.length >= 4);
    await sleep(5);
    await subscription.stop();
    expect(events.map(({ kind }) => kind)).to.deep.equal(['progress', 'progress', 'progress', 'completed']);
    expect(events[0]).to.include({ stage: 'add_data_points', stageIndex: 4, stageTotal: 4 });
  });

  it('notifies waiting clients when the end cannot be recorded, and resumes the run later', async () => {
    const world = await createWorld();
    await world.addText('one', 'Ada met Grace.');
    const { extractor, entered, letGo } = heldExtractor();
    let isFull = false;
    const full = engramError('ServiceUnavailableError', 'The disk that holds /data/control.db is full');
    const commit: typeof world.store.commit = (...call) =>
      isFull ? Promise.reject(full) : world.store.commit(...call);
    const store = { ...world.store, commit };
    // Not to be lost by a slow machine before the end is tried.
    await using cognify = await startCognify({ ...world, store }, { extractor, runs: { leaseMs: 3000 } });
    const { id } = await cognify.start();
    await entered;
    isFull = true;
    letGo();
    const error = await awaitRun(cognify.messenger, id, CALL).catch((reason: unknown) => reason);
    expect(error).to.include({ wireName: 'ServiceUnavailableError', status: 503 });
    expect((error as Error).message).to.equal('The run goes on later: The disk that holds control.db is full');
    expect((await runOf(world, id))?.status).to.equal('DATASET_PROCESSING_STARTED');
    isFull = false;
    expect((await awaitRun(cognify.messenger, id, CALL)).status).to.equal('DATASET_PROCESSING_COMPLETED');
  });

  it('resumes a run when an unavailable index answers again with onStoreFailure retry, else ends it', async () => {
    for (const onStoreFailure of ['retry', 'end'] as const) {
      const world = await createWorld();
      await world.addText('one', 'Ada met Grace.');
      const away = engramError('ServiceUnavailableError', 'The index cannot be reached', { retryable: true });
      let failures = 1;
      const upsert: typeof world.indexes.text.upsert = async (...call) => {
        failures -= 1;
        if (failures >= 0) throw away;
        return world.indexes.text.upsert(...call);
      };
      const indexes = { ...world.indexes, text: { ...world.indexes.text, upsert } };
      await using cognify = await startCognify({ ...world, indexes }, { runs: { onStoreFailure } });
      const { id } = await cognify.start();
      const end = () => awaitRun(cognify.messenger, id, CALL);
      if (onStoreFailure === 'retry') {
        expect(((await end().catch((error: unknown) => error)) as Error).message).to.include('goes on later');
        expect((await runOf(world, id))?.status).to.equal('DATASET_PROCESSING_STARTED');
        expect((await end()).status).to.equal('DATASET_PROCESSING_COMPLETED');
      } else expect((await end()).status).to.equal('DATASET_PROCESSING_ERRORED');
      expect(await history(world)).to.have.length(2);
    }
  });

  it('commits no item of a run that another worker has taken over', async () => {
    const world = await createWorld();
    const item = await world.addText('one', 'Ada met Grace.');
    const { extractor, entered, letGo } = heldExtractor();
    await using cognify = await startCognify(world, { extractor, runs: { leaseMs: 60_000 } });
    const { id } = await cognify.start();
    await entered;
    const { items: jobs } = await world.store.find(SYSTEM_SCOPE, jobsCollection, { where: {}, limit: 2 });
    const [job] = jobs;
    await world.store.commit(SYSTEM_SCOPE, [update(jobsCollection, job?.id ?? '', { increment: { fencingToken: 1 } })]);
    letGo();
    await until('the lease is lost', () => cognify.log.some(({ event }) => event === 'run.lease.lost'));
    const entry = (await world.ledger.entries(scopeOf(world.dataset), [item.id])).get(item.id);
    expect(entry).to.include({ generation: 0, pending: false });
    expect(await world.indexes.text.count(scopeOf(world.dataset), {})).to.equal(0);
    expect(await runOf(world, id)).to.include({ status: 'DATASET_PROCESSING_STARTED', progress: null });
  });

  it('commits concurrent items together, and the others when one of them fails', async () => {
    const world = await createWorld();
    const texts = Array.from({ length: 8 }, (_, index) => world.addText(`text ${index}`, `Ada met number ${index}.`));
    const items = await Promise.all(texts);
    const reset = items[3]?.id as (typeof items)[number]['id'];
    const sizes: number[] = [];
    const commit: typeof world.store.commit = async (scope, writes) => {
      const ledgerWrites = writes.filter(({ kind, collection }) => kind === 'update' && collection.name === 'ledger');
      if (writes.length > ledgerWrites.length && ledgerWrites.length > 0) sizes.push(ledgerWrites.length);
      await sleep(20);
      return world.store.commit(scope, writes);
    };
    const { extractor, waiting, letGo } = heldExtractor();
    const store = { ...world.store, commit };
    await using cognify = await startCognify({ ...world, store }, { extractor });
    const { id } = await cognify.start();
    await until('all wait', () => waiting() === items.length);
    await world.ledger.reset(scopeOf(world.dataset), [reset], new Date().toISOString());
    letGo();
    await awaitRun(cognify.messenger, id, CALL);
    const ids = items.map((item) => item.id);
    const entries = await world.ledger.entries(scopeOf(world.dataset), ids);
    expect(ids.filter((item) => entries.get(item)?.generation !== 1)).to.deep.equal([reset]);
    expect(Math.max(...sizes), `${sizes}`).to.be.greaterThan(4);
  });

  it('shows progress during a run and none after its end', async () => {
    const world = await createWorld();
    await world.addText('fast', 'Ada met Grace.');
    await world.addText('slow', 'Alan waits.');
    const { extractor, entered, letGo } = heldExtractor();
    const slow: Extractor = {
      version: 'slow/1',
      extract: (input, context) =>
        (input.text.includes('waits') ? extractor : capitalsExtractor).extract(input, context),
    };
    await using cognify = await startCognify(world, { extractor: slow });
    const { id } = await cognify.start();
    await entered;
    await until('it shows progress', async () => (await runOf(world, id))?.progress !== null);
    expect((await runOf(world, id))?.progress).to.deep.equal({
      completedItems: 1,
      totalItems: 2,
      currentStage: 'add_data_points',
    });
    letGo();
    expect((await awaitRun(cognify.messenger, id, CALL)).progress).to.equal(null);
  });

  it('shows built chunks of large items during a run and none after its end', async () => {
    const world = await createWorld();
    const sentences = Array.from({ length: 60 }, (_, index) => `Ada met Grace for the ${index}th time in Oslo.`);
    await world.addText('long', sentences.join('\n\n'));
    const { extractor, entered, letGo } = heldExtractor();
    await using cognify = await startCognify(world, { extractor });
    const { id } = await cognify.start({ chunkSize: 20 });
    await entered;
    const chunks = async () => (await createRuns(world.store).get(scopeOf(world.dataset), id))?.chunks;
    expect(await chunks()).to.have.property('completed', 0);
    expect((await chunks())?.total).to.be.greaterThan(16);
    letGo();
    await awaitRun(cognify.messenger, id, CALL);
    expect(await chunks()).to.equal(null);
  });

  it('runs the runs of a dataset one at a time, in order of their requests', async () => {
    const world = await createWorld();
    await world.addText('one', 'Ada met Grace.');
    const { extractor, entered, letGo } = heldExtractor();
    await using cognify = await startCognify(world, { extractor });
    const first = await cognify.start();
    const second = await cognify.start();
    await entered;
    await sleep(60);
    expect((await runOf(world, second.id))?.status).to.equal('DATASET_PROCESSING_STARTED');
    letGo();
    const ended = await awaitRun(cognify.messenger, second.id, CALL);
    expect(ended.items.map(({ status }) => status)).to.deep.equal(['already_completed']);
    expect((await awaitRun(cognify.messenger, first.id, CALL)).items[0]?.status).to.equal('completed');
  });

  it('ends a run as cancelled when the process stops, and removes uncommitted rows', async () => {
    const world = await createWorld();
    await world.addText('one', 'Ada met Grace.');
    const { extractor, entered } = heldExtractor();
    const cognify = await startCognify(world, { extractor });
    const { id } = await cognify.start();
    const events: RunEvent[] = [];
    await cognify.messenger.subscribe('runs', id, (event) => {
      events.push(event);
    });
    await entered;
    await cognify.service.stop();
    expect(await runOf(world, id)).to.include({
      status: 'DATASET_PROCESSING_ERRORED',
      errorClass: 'CancelledError',
      errorMessage: 'The server is shutting down.',
    });
    expect(events.at(-1)?.kind).to.equal('errored');
    expect((await world.indexes.graph.count(scopeOf(world.dataset))).nodeRows).to.equal(0);
    const [row] = await createRunRecords(world.store).newest(scopeOf(world.dataset), {
      datasets: [world.dataset.id],
      limit: 1,
      offset: 0,
    });
    expect(row?.record).to.include({ outcome: 'failed', errorClass: 'CancelledError' });
  });

  it('hands a run over with onStop hand-over, however often, and the next process ends it under the same id', async () => {
    const world = await createWorld();
    const item = await world.addText('one', 'Ada met Grace.');
    const runs = { onStop: 'hand-over', maxStalledClaims: 2 } as const;
    const { id } = await (async () => {
      await using idle = await startCognify(world, { runs: { ...runs, maxConcurrentRuns: 0 } });
      return idle.start();
    })();
    for (let stops = 0; stops < 3; stops += 1) {
      const { extractor, entered } = heldExtractor();
      const stopping = await startCognify(world, { extractor, runs });
      await entered;
      await stopping[Symbol.asyncDispose]();
      expect((await runOf(world, id))?.status).to.equal('DATASET_PROCESSING_STARTED');
    }
    await using next = await startCognify(world, { runs });
    const run = await awaitRun(next.messenger, id, CALL);
    expect(run.items).to.deep.equal([{ item: item.id, status: 'completed' }]);
    expect(await history(world)).to.deep.equal(['DATASET_PROCESSING_STARTED', 'DATASET_PROCESSING_COMPLETED']);
  });

  it('takes over the run of a worker whose lease has expired', async () => {
    const world = await createWorld();
    await world.addText('one', 'Ada met Grace.');
    const { extractor, entered, letGo } = heldExtractor();
    // Alive, but after its first claim neither heartbeats nor claims get through.
    const world2 = { ...world, store: withoutHeartbeats(world) };
    const lost = await startCognify(world2, { extractor, runs: { leaseMs: 80 } });
    const { id } = await lost.start();
    await entered;
    await using other = await startCognify(world, { runs: { leaseMs: 5000 } });
    const run = await awaitRun(other.messenger, id, CALL);
    expect(run.status).to.equal('DATASET_PROCESSING_COMPLETED');
    letGo();
    await lost[Symbol.asyncDispose]();
    expect(await history(world)).to.deep.equal(['DATASET_PROCESSING_STARTED', 'DATASET_PROCESSING_COMPLETED']);
    expect(await world.indexes.text.count(scopeOf(world.dataset), { kind: 'chunk' })).to.equal(1);
  });

  it('ends a run that kills every worker, after the allowed attempts', async () => {
    const world = await createWorld();
    await world.addText('one', 'Ada met Grace.');
    {
      await using idle = await startCognify(world, { runs: { maxConcurrentRuns: 0 } });
      await idle.start();
    }
    const [run] = await createRuns(world.store).unfinished(scopeOf(world.dataset), { limit: 1 });
    const id = run?.state.id as RunId;
    await world.store.commit(scopeOf(world.dataset), [update(runsCollection, id, { set: { stalledClaims: 3 } })]);
    await using cognify = await startCognify(world, { runs: { maxStalledClaims: 3 } });
    const ended = await awaitRun(cognify.messenger, id, CALL);
    expect(ended).to.include({ status: 'DATASET_PROCESSING_ERRORED', errorClass: 'AbandonedPipelineRunError' });
  });

  it('counts a claim as stalled until an item is committed', async () => {
    const world = await createWorld();
    await world.addText('one', 'Ada met Grace.');
    const { extractor, entered, letGo } = heldExtractor();
    await using cognify = await startCognify(world, { extractor });
    const { id } = await cognify.start();
    await entered;
    const stalled = async () => (await createRuns(world.store).get(scopeOf(world.dataset), id))?.stalledClaims;
    expect(await stalled()).to.equal(1);
    letGo();
    await awaitRun(cognify.messenger, id, CALL);
    expect(await stalled()).to.equal(0);
  });

  it('ends a run whose user has lost write permission', async () => {
    const world = await createWorld();
    await world.addText('one', 'Ada met Grace.');
    {
      await using idle = await startCognify(world, { runs: { maxConcurrentRuns: 0 } });
      await idle.start();
    }
    world.permitted.clear();
    const [run] = await createRuns(world.store).unfinished(scopeOf(world.dataset), { limit: 1 });
    await using cognify = await startCognify(world);
    const ended = await awaitRun(cognify.messenger, run?.state.id as RunId, CALL);
    expect(ended).to.include({ errorClass: 'PermissionDeniedError', errorStatus: 403 });
    expect(await world.indexes.text.count(scopeOf(world.dataset), {})).to.equal(0);
  });

  it('closes unfinished records of an earlier process at the start with ownsRecords', async () => {
    const world = await createWorld();
    const { principal, dataset } = world;
    const runId = randomUUID();
    const record = { dataset, pipeline: 'add_pipeline', runId, status: 'DATASET_PROCESSING_STARTED' } as const;
    {
      await using former = await startCognify(world);
      await former.messenger.call('cognify.RecordRun', record, { ...CALL, principal });
    }
    await sleep(5);
    await using next = await startCognify(world, { runs: { ownsRecords: true } });
    const closed = await awaitRun(next.messenger, asId(runId), CALL);
    expect(closed).to.include({ errorClass: 'AbandonedPipelineRunError', status: 'DATASET_PROCESSING_ERRORED' });
  });

  it('closes old unfinished records, and neither young nor queued ones', async () => {
    const world = await createWorld();
    const { principal, dataset } = world;
    const runId = randomUUID();
    const record = { dataset, pipeline: 'add_pipeline', runId, status: 'DATASET_PROCESSING_STARTED' } as const;
    {
      await using idle = await startCognify(world, { runs: { maxConcurrentRuns: 0 } });
      await idle.messenger.call('cognify.RecordRun', record, { ...CALL, principal });
      await idle.start();
    }
    {
      await using young = await startCognify(world, { runs: { maxConcurrentRuns: 0 } });
      await sleep(20);
      expect((await young.messenger.call('cognify.GetRun', { runId }, CALL)).run?.status).to.equal(
        'DATASET_PROCESSING_STARTED',
      );
    }
    await using old = await startCognify(world, { runs: { maxConcurrentRuns: 0, abandonedAfterMs: 1 } });
    const closed = await awaitRun(old.messenger, asId(runId), CALL);
    expect(closed).to.include({ errorClass: 'AbandonedPipelineRunError', status: 'DATASET_PROCESSING_ERRORED' });
    const [open] = await createRuns(world.store).unfinished(scopeOf(dataset), { limit: 5 });
    expect(open?.state.pipeline).to.equal('cognify_pipeline');
  });
});

/** A store whose extensions of leases are lost. */
function withoutHeartbeats({ store }: TestWorld): TestWorld['store'] {
  let claims = 0;
  return new Proxy(store, {
    get(target, name, receiver) {
      if (name !== 'commit') return Reflect.get(target, name, receiver) as unknown;
      const commit: typeof store.commit = (scope, writes) => {
        const [write] = writes;
        const set = writes.length === 1 && write?.kind === 'update' ? write.set : {};
        if (set['state'] === 'running') claims += 1;
        const isHeartbeat = Object.keys(set).join() === 'dueAtMs';
        return isHeartbeat || claims > 1 ? Promise.reject(new Error('network')) : target.commit(scope, writes);
      };
      return commit;
    },
  });
}
