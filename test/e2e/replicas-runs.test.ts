import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import type { DataItemId, DatasetId, TenantId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import { type DatasetScope, datasetScope, PERSONAL_TENANT, SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { createEventLog } from '../../services/common/platform/events/event-log.ts';
import type { Extractor } from '../../services/common/ports/extractor.ts';
import { capitalsExtractor } from '../support/cognify-service.ts';
import { type Replica, startTwoReplicas, type TwoReplicas } from '../support/two-replicas.ts';
import { until } from '../support/until.ts';

const TEXT = 'Ada Lovelace met Charles Babbage.';
const NO_RUNS = { maxConcurrentRuns: 0 };

interface Gate {
  readonly extractor: Extractor;
  /** An extraction has begun. */
  readonly entered: Promise<void>;
  /** An extraction was told to stop. */
  readonly stopped: Promise<void>;
  /** Lets the extractions go on that wait, and all later ones. */
  open(): void;
}

/** Extraction waits until it is let go on or told to stop; `deaf`: it does not hear of that. */
function gate({ deaf = false } = {}): Gate {
  const entered = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  return {
    entered: entered.promise,
    stopped: stopped.promise,
    open: opened.resolve,
    extractor: {
      version: 'gate/1',
      async extract(input, context) {
        entered.resolve();
        const aborted = new Promise<never>((_, reject) => {
          context.signal?.addEventListener('abort', () => {
            stopped.resolve();
            if (!deaf) reject(context.signal?.reason);
          });
        });
        await Promise.race([opened.promise, aborted]);
        return capitalsExtractor.extract(input, context);
      },
    },
  };
}

async function add(replica: Replica, text: string): Promise<string> {
  const { status, json } = await replica.wire.post('/add', { data: text, datasetName: 'shared' });
  expect(status).to.equal(200);
  return json.data_ingestion_info[0].data_id;
}

async function cognify(replica: Replica, background: boolean) {
  const answer = await replica.wire.post('/cognify', { datasets: ['shared'], run_in_background: background });
  expect(answer.status).to.equal(200);
  const [run] = Object.values(answer.json) as { readonly pipeline_run_id: string; readonly status: string }[];
  return run as { readonly pipeline_run_id: string; readonly status: string };
}

async function scopeOf({ wire }: Replica): Promise<DatasetScope> {
  const { json } = await wire.get('/datasets');
  const found = json.find((dataset: { name: string }) => dataset.name === 'shared');
  return datasetScope(PERSONAL_TENANT as TenantId, asId<DatasetId>(found.id));
}

/** Types of the events of a run, in order. */
async function eventsOf({ store }: TwoReplicas, run: string): Promise<readonly string[]> {
  const log = createEventLog({ store, clock: { now: () => new Date() }, ids: { ordered: () => '' } });
  const events = await log.read(SYSTEM_SCOPE, { after: 0, limit: 1000 });
  return events.filter(({ subjectId }) => subjectId === run).map(({ type }) => type);
}

describe('runs of two replicas', () => {
  it('can be followed and awaited at the replica that does not run them', async () => {
    const slow = gate();
    await using world = await startTwoReplicas({
      runs: [NO_RUNS, {}],
      extractors: [capitalsExtractor, slow.extractor],
    });
    const { one } = world;
    await add(one, TEXT);
    const { pipeline_run_id: run } = await cognify(one, true);
    await slow.entered;
    const socket = new WebSocket(`${one.baseUrl.replace('http', 'ws')}/api/v1/cognify/subscribe/${run}`);
    const statuses: string[] = [];
    socket.on('message', (data) => statuses.push((JSON.parse(String(data)) as { status: string }).status));
    await new Promise((resolve) => socket.once('open', resolve));
    const waiting = cognify(one, false);
    await sleep(50);
    slow.open();
    const code = await new Promise((resolve) => socket.once('close', resolve));
    expect(code).to.equal(1000);
    expect(statuses).to.deep.equal(['PipelineRunProgress', 'PipelineRunCompleted']);
    expect((await waiting).status).to.equal('PipelineRunCompleted');
  });

  it('continue at the other replica under their id when their worker stalls, which can write nothing more', async () => {
    const gates = [gate({ deaf: true }), gate()] as const;
    await using world = await startTwoReplicas({ extractors: [gates[0].extractor, gates[1].extractor] });
    const item = await add(world.one, TEXT);
    const { pipeline_run_id: run } = await cognify(world.one, true);
    const late = await Promise.race(gates.map(({ entered }, index) => entered.then(() => index)));
    const [stalled, other] = late === 0 ? [world.one, world.two] : [world.two, world.one];
    stalled.store.pause();
    world.messages.letAnswer(1 - late);
    await gates[1 - late]?.entered;
    for (const { open } of gates) open();
    await until('the run is complete', async () => (await eventsOf(world, run)).includes('run.completed'));
    stalled.store.resume();
    world.messages.letAnswer(null);
    await until('the lease is lost', () => stalled.logged().includes('run.lease.lost'));
    expect(await eventsOf(world, run)).to.deep.equal(['run.started', 'run.completed']);
    expect(other.logged()).to.include('run.completed');
    expect(stalled.logged()).to.not.include('run.completed');
    const scope = await scopeOf(other);
    const entry = (await world.ledger.entries(scope, [asId<DataItemId>(item)])).get(asId(item));
    expect(entry).to.include({ generation: 2, lastGeneration: 2, pending: false, runId: run });
    expect(await world.indexes.text.count(scope, { kind: 'chunk' })).to.equal(1);
    const { json } = await other.wire.get('/activity/pipeline-runs?limit=50');
    const history = json.filter((row: { pipeline_run_id: string }) => row.pipeline_run_id === run);
    expect(history).to.have.length(2);
  });

  it('are handed over when their replica stops, without an effect for clients', async () => {
    const gates = [gate(), gate()] as const;
    await using world = await startTwoReplicas({ extractors: [gates[0].extractor, gates[1].extractor] });
    await add(world.one, TEXT);
    const { pipeline_run_id: run } = await cognify(world.one, true);
    const first = await Promise.race(gates.map(({ entered }, index) => entered.then(() => index)));
    const [leaving, staying] = first === 0 ? [world.one, world.two] : [world.two, world.one];
    const waiting = cognify(staying, false);
    await leaving.stop();
    expect(leaving.logged()).to.include('run.handed_over');
    await gates[1 - first]?.entered;
    gates[1 - first]?.open();
    expect((await waiting).status).to.equal('PipelineRunCompleted');
    expect(await eventsOf(world, run)).to.deep.equal(['run.started', 'run.completed']);
  });

  it('stop building an item at once that is forgotten at the other replica', async () => {
    const slow = gate();
    await using world = await startTwoReplicas({
      runs: [{}, NO_RUNS],
      extractors: [slow.extractor, capitalsExtractor],
    });
    const item = await add(world.one, TEXT);
    const { pipeline_run_id: run } = await cognify(world.one, true);
    await slow.entered;
    const scope = await scopeOf(world.one);
    world.messages.letAnswer(1);
    const forgotten = await world.two.wire.remove(`/datasets/${scope.dataset}/data/${item}`);
    expect(forgotten.status).to.equal(200);
    await slow.stopped;
    await until('the run is complete', async () => (await eventsOf(world, run)).includes('run.completed'));
    expect(await world.indexes.text.count(scope, {})).to.equal(0);
    expect((await world.ledger.entries(scope, [asId<DataItemId>(item)])).get(asId(item))?.pending).to.equal(false);
  });

  it('end, also when queued, when their dataset is deleted at the other replica, and nothing of it comes back', async () => {
    const slow = gate();
    await using world = await startTwoReplicas({
      // The heartbeat alone would tell the worker after 20 s.
      runs: [{ leaseMs: 60_000, maxConcurrentRuns: 1 }, NO_RUNS],
      extractors: [slow.extractor, capitalsExtractor],
    });
    await add(world.one, TEXT);
    const { pipeline_run_id: running } = await cognify(world.one, true);
    await slow.entered;
    const { pipeline_run_id: queued } = await cognify(world.one, true);
    const scope = await scopeOf(world.one);
    world.messages.letAnswer(1);
    const startedAt = performance.now();
    expect((await world.two.wire.remove(`/datasets/${scope.dataset}`)).status).to.equal(200);
    expect(performance.now() - startedAt).to.be.lessThan(15_000);
    world.messages.letAnswer(null);
    for (const run of [running, queued]) {
      expect(await eventsOf(world, run)).to.deep.equal(['run.started', 'run.errored']);
    }
    expect(await world.workQueue.depth(SYSTEM_SCOPE)).to.deep.equal({});
    expect((await world.indexes.graph.count(scope)).nodeRows).to.equal(0);
    expect(await world.blobs.list(scope, { limit: 1 })).to.deep.equal([]);
  });
});
