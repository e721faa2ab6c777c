import { expect } from 'chai';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { createEventLog } from '../../services/common/platform/events/event-log.ts';
import { jobsCollection } from '../../services/common/platform/jobs/job-document.ts';
import type { Extractor } from '../../services/common/ports/extractor.ts';
import { weightVotesCollection } from '../../services/common/records/improve/element-weights.ts';
import { improveClaimsCollection } from '../../services/common/records/improve/improve-claims.ts';
import { capitalsExtractor } from '../support/cognify-service.ts';
import { improveSession, stagesOf } from '../support/improve-session.ts';
import { type Replica, startTwoReplicas, type TwoReplicas } from '../support/two-replicas.ts';
import { until } from '../support/until.ts';
import type { Answer } from '../support/wire.ts';

const NO_RUNS = { maxConcurrentRuns: 0 };

/** Extraction waits until it is let go on. */
function gate() {
  const entered = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const extractor: Extractor = {
    version: 'gate/1',
    async extract(input, context) {
      entered.resolve();
      await opened.promise;
      return capitalsExtractor.extract(input, context);
    },
  };
  return { extractor, entered: entered.promise, open: opened.resolve };
}

async function endedRuns({ store }: TwoReplicas): Promise<number> {
  const log = createEventLog({ store, clock: { now: () => new Date() }, ids: { ordered: () => '' } });
  const events = await log.read(SYSTEM_SCOPE, { after: 0, limit: 1000 });
  return events.filter(({ type, data }) => type === 'run.completed' && data['pipeline'] === 'cognify_pipeline').length;
}

function reasonsOf({ json }: Answer): readonly (string | null)[] {
  return Object.values(stagesOf(json.stages)).map(({ reason }) => reason);
}

const notesOf = ({ wire }: Replica) => improveSession(wire, 'notes');

function document(session: string, ...turns: readonly string[]): string {
  const texts = turns.map((turn) => `Question: ${turn}\n\nAnswer: ${turn}.\n\n`);
  return `Session ID: ${session}\n\n${texts.join('')}`;
}

describe('improve at two replicas', () => {
  it('runs at one replica; the other one requests another pass of the session', async () => {
    const slow = gate();
    await using world = await startTwoReplicas({ extractors: [slow.extractor, slow.extractor] });
    const [one, two] = [notesOf(world.one), notesOf(world.two)];
    await one.ask('s1', 'Ada', 'Ada.');
    const improving = one.improve(['s1']);
    await slow.entered;
    await two.ask('s1', 'Byron', 'Byron.');
    const lost = await two.improve(['s1']);
    expect(lost.json).to.include({ status: 'skipped', rerun_requested: true, finished: true });
    expect(reasonsOf(lost)).to.deep.equal(Array(9).fill('lock_held'));
    const other = await two.improve(['s2']);
    expect(other.json, 'another session of the dataset').to.include({ status: 'skipped', rerun_requested: true });
    const elsewhere = await world.two.wire.post('/improve', { datasetName: 'others', sessionIds: ['s1'] });
    expect(elsewhere.json, 'the session in another dataset').to.include({ rerun_requested: true });
    slow.open();
    const { json } = await improving;
    expect(json.status).to.equal('completed');
    expect(json.rerun_passes).to.have.length(1);
    expect(stagesOf(json.rerun_passes[0])['persist_session_qa']?.status).to.equal('completed');
    expect(await two.persisted()).to.deep.equal([document('s1', 'Ada'), document('s1', 'Byron')]);
    expect((await two.improve(['s1'])).json.status, 'it is free again').to.equal('completed');
  });

  it('is queued while another session of the dataset is improved, and runs afterwards', async () => {
    const slow = gate();
    await using world = await startTwoReplicas({ extractors: [slow.extractor, slow.extractor] });
    const [one, two] = [notesOf(world.one), notesOf(world.two)];
    await one.ask('s1', 'Ada', 'Ada.');
    await two.ask('s2', 'Byron', 'Byron.');
    const improving = one.improve(['s1']);
    await slow.entered;
    for (const more of [{}, { runInBackground: true }, {}]) {
      const lost = await two.improve(['s2'], more);
      expect(lost.json).to.include({ status: 'skipped', rerun_requested: true, finished: true });
    }
    expect(await two.persisted()).to.deep.equal([document('s1', 'Ada')]);
    slow.open();
    expect((await improving).json).to.include({ status: 'completed' });
    const nodesAbout = async (name: string): Promise<readonly unknown[]> => {
      const [{ id }] = (await world.one.wire.get('/datasets')).json;
      const { nodes } = (await world.one.wire.get(`/datasets/${id}/graph`)).json;
      return nodes.filter(({ label }: { label: string }) => label.toLowerCase() === name);
    };
    await until('the graph has a node about Byron', async () => (await nodesAbout('byron')).length === 1);
    expect(await two.persisted(), 'once, however often it was asked for').to.deep.equal([
      document('s1', 'Ada'),
      document('s2', 'Byron'),
    ]);
  });

  it('repeats the window of a worker that stalled between run and watermark, without duplicates', async () => {
    const slow = gate();
    await using world = await startTwoReplicas({
      runs: [NO_RUNS, {}],
      extractors: [capitalsExtractor, slow.extractor],
    });
    const [one, two] = [notesOf(world.one), notesOf(world.two)];
    await one.ask('s1', 'Ada', 'Ada.');
    await one.steps('s1', 2);
    const stalled = one.improve(['s1']);
    await slow.entered;
    world.one.store.pause();
    world.messages.letAnswer(1);
    slow.open();
    await until('a run has ended', async () => (await endedRuns(world)) === 1);
    await two.ask('s1', 'Byron', 'Byron.');
    let improved = await two.improve(['s1']);
    expect(improved.json.status, 'the lease of the other one is not over').to.equal('skipped');
    await until('the lease of the other replica is over', async () => {
      improved = await two.improve(['s1']);
      return improved.json.status !== 'skipped';
    });
    expect(improved.json.status).to.equal('completed');
    const texts = await two.persisted();
    expect(texts.slice(0, 2)).to.deep.equal([document('s1', 'Ada'), document('s1', 'Byron')]);
    expect(texts).to.have.length(3);
    world.one.store.resume();
    world.messages.letAnswer(null);
    expect((await stalled).status, 'who was late hears of it').to.equal(503);
    expect((await two.improve(['s1'])).json.status).to.equal('completed');
    expect(await two.persisted()).to.deep.equal(texts);
  });

  it('continues in the background at the other replica when its worker stalls', async () => {
    const slow = gate();
    await using world = await startTwoReplicas({ extractors: [slow.extractor, slow.extractor] });
    await notesOf(world.one).ask('s1', 'Ada', 'Ada.');
    expect((await notesOf(world.one).improve(['s1'], { runInBackground: true })).json.status).to.equal('running');
    await slow.entered;
    const driver = world.one.logged().includes('improve.claimed') ? 0 : 1;
    const [stalled, other] = driver === 0 ? [world.one, world.two] : [world.two, world.one];
    stalled.store.pause();
    world.messages.letAnswer(1 - driver);
    slow.open();
    await until('the improve has ended', () => other.logged().includes('improve.ended'));
    stalled.store.resume();
    world.messages.letAnswer(null);
    expect(await notesOf(other).persisted()).to.deep.equal([document('s1', 'Ada')]);
    const rows = (await other.wire.get('/activity/pipeline-runs?pipeline_name=improve')).json;
    expect(rows.map(({ status }: { status: string }) => status)).to.deep.equal([
      ...['DATASET_PROCESSING_COMPLETED', 'DATASET_PROCESSING_STARTED'],
    ]);
  });

  it('is stopped when its dataset is forgotten at the other replica, without leftovers', async () => {
    const slow = gate();
    await using world = await startTwoReplicas({ extractors: [slow.extractor, slow.extractor] });
    const { one, two } = world;
    const id = await notesOf(one).ask('s1', 'Ada', 'Ada.', { used_graph_element_ids: { node_ids: ['n1'] } });
    await notesOf(one).rate('s1', id, 5);
    const improving = notesOf(one).improve(['s1']);
    await slow.entered;
    const votes = () => world.store.count(SYSTEM_SCOPE, weightVotesCollection, {});
    expect(await votes(), 'it had begun to learn').to.equal(1);
    const forgetting = two.wire.post('/forget', { dataset: 'notes' });
    const jobs = () => world.store.find(SYSTEM_SCOPE, jobsCollection, { limit: 9 });
    await until('a job is cancelled', async () => (await jobs()).items.some(({ value }) => value.cancelRequested));
    slow.open();
    expect((await forgetting).status).to.equal(200);
    expect((await improving).status).to.be.oneOf([403, 409, 503]);
    expect(await votes()).to.equal(0);
    expect((await two.wire.get('/datasets')).json).to.deep.equal([]);
    expect(await world.store.count(SYSTEM_SCOPE, improveClaimsCollection, {}), 'nothing is held').to.equal(0);
  });

  it('persists each entry once under concurrent requests to both replicas', async () => {
    await using world = await startTwoReplicas();
    const [one, two] = [notesOf(world.one), notesOf(world.two)];
    const turns = ['Ada', 'Byron', 'Clara', 'Dora', 'Emil', 'Frida'];
    const asked: string[] = [];
    for (const [index, turn] of turns.entries()) {
      const notes = index % 2 === 0 ? one : two;
      await notes.ask('s1', turn, `${turn}.`);
      asked.push(turn);
      await Promise.all([one.improve(['s1']), two.improve(['s1']), two.improve(['s1', 's2'])]);
    }
    await one.improve(['s1']);
    const texts = (await one.persisted()).join('').matchAll(/Question: (\w+)/g);
    expect([...texts].map(([, turn]) => turn)).to.deep.equal(asked);
  });
});
