import { expect } from 'chai';
import { engramError } from '../../services/common/kernel/errors.ts';
import { createDatasetWorld, type DatasetWorld } from '../../test/support/kube/dataset-world.ts';
import { unavailable } from '../../test/support/kube/fake-services.ts';

/** The clock of the world begins at 2026-08-01, midnight UTC, a Saturday. */
describe('schedules of datasets', () => {
  let world: DatasetWorld;
  beforeEach(async () => {
    world = await createDatasetWorld();
  });
  afterEach(() => world.close());

  const started = () => world.services.started.map(({ pipeline }) => pipeline);
  const schedules = () => world.read()?.status?.schedules;
  const begin = async (pipeline: object, tenant = {}) => {
    world.putTenant(tenant);
    world.put({ pipeline });
    return world.reconcile();
  };
  const hour = 3_600_000;
  const at = (text: string) => ({ trigger: 'Schedule', schedule: text });
  const only = () => {
    const [held] = [...world.services.datasets.values()];
    if (held === undefined) throw new Error('There is no dataset.');
    return held;
  };

  it('starts a run once at the scheduled time, and shows the next time', async () => {
    const { requeueAfterMs } = await begin({ cognify: at('0 3 * * *'), improve: at('0 4 * * 0') });
    expect(requeueAfterMs).to.equal(600_000);
    expect(schedules()).to.deep.equal([
      { pipeline: 'cognify', nextStartAt: '2026-08-01T03:00:00Z' },
      { pipeline: 'improve', nextStartAt: '2026-08-02T04:00:00Z' },
    ]);
    await world.clock.advance(3 * hour - 1_000);
    expect((await world.reconcile()).requeueAfterMs).to.be.at.most(1_100);
    expect(started()).to.deep.equal([]);
    await world.clock.advance(1_000);
    for (let round = 0; round < 3; round += 1) await world.reconcile();
    expect(started()).to.deep.equal(['cognify']);
    expect(world.services.started[0]).to.include({ datasetId: world.read()?.status?.datasetId, name: 'tickets' });
    expect(schedules()?.[0]).to.deep.equal({
      pipeline: 'cognify',
      lastStartedAt: '2026-08-01T03:00:00Z',
      nextStartAt: '2026-08-02T03:00:00Z',
    });
  });

  it('starts one run for several missed times', async () => {
    await begin({ improve: at('0 * * * *') });
    await world.clock.advance(50 * hour);
    world.restart();
    for (let round = 0; round < 3; round += 1) await world.reconcile();
    expect(started()).to.deep.equal(['improve']);
    expect(schedules()?.[0]?.nextStartAt).to.equal('2026-08-03T03:00:00Z');
  });

  it('starts a run once when the status could not be written', async () => {
    await begin({ cognify: at('0 * * * *') });
    await world.clock.advance(hour);
    world.kube.fail({ method: 'PATCH', path: /status/, fault: { status: 500 } });
    expect(await world.reconcile().catch(() => 'thrown')).to.equal('thrown');
    await world.reconcile();
    expect(started()).to.deep.equal(['cognify']);
    expect(schedules()?.[0]?.lastStartedAt).to.equal('2026-08-01T01:00:00Z');
  });

  for (const pipeline of ['cognify', 'improve'] as const) {
    it(`starts ${pipeline} once when the operator was killed after the start`, async () => {
      await begin({ [pipeline]: at('0 * * * *') });
      await world.clock.advance(hour);
      world.kube.fail({ method: 'PATCH', path: /status/, fault: { status: 500 } });
      expect(await world.reconcile().catch(() => 'thrown')).to.equal('thrown');
      world.restart();
      await world.clock.advance(15_000);
      await world.reconcile();
      expect(world.services.started.map(({ dueAt }) => dueAt)).to.deep.equal(['2026-08-01T01:00:00Z']);
      expect(schedules()?.[0]?.nextStartAt).to.equal('2026-08-01T02:00:00Z');
      await world.clock.advance(hour);
      await world.reconcile();
      expect(started()).to.deep.equal([pipeline, pipeline]);
    });
  }

  it('computes the next time again when the schedule is changed', async () => {
    await begin({ cognify: at('0 3 * * *') });
    world.change({ spec: { pipeline: { cognify: { schedule: '30 1 * * *' } } } });
    await world.reconcile();
    expect(schedules()?.[0]?.nextStartAt).to.equal('2026-08-01T01:30:00Z');
    world.change({ spec: { pipeline: { cognify: { trigger: 'Manual', schedule: null } } } });
    await world.reconcile();
    expect(schedules()).to.equal(undefined);
    await world.clock.advance(48 * hour);
    await world.reconcile();
    expect(started()).to.deep.equal([]);
  });

  it('uses a changed schedule although a service did not answer meanwhile', async () => {
    await begin({ cognify: at('0 3 1 1 *') });
    world.change({ spec: { pipeline: { cognify: { schedule: '30 * * * *' } } } });
    world.services.fail('ensureDataset', unavailable());
    expect(await world.reconcile()).to.include({ retry: true });
    await world.reconcile();
    expect(schedules()?.[0]?.nextStartAt).to.equal('2026-08-01T00:30:00Z');
    await world.clock.advance(hour);
    world.change({ spec: { pipeline: { cognify: { schedule: '0 3 * * *' } } } });
    world.services.fail('ensureDataset', unavailable());
    await world.reconcile();
    // What is due by now was due by a schedule that is no more.
    await world.reconcile();
    expect([schedules()?.[0]?.nextStartAt, started()]).to.deep.equal(['2026-08-01T03:00:00Z', []]);
  });

  it('is Stalled by an invalid schedule, with the reason', async () => {
    await begin({ cognify: at('0 25 * * *') });
    expect(world.conditions()['Stalled']).to.equal('True InvalidSpec');
    expect(world.condition('Stalled')?.message).to.equal(
      'spec.pipeline.cognify.schedule is invalid: "25" is not a valid hour',
    );
  });

  it('starts cognify when data was added, at most once a minute and not during a run', async () => {
    const { requeueAfterMs } = await begin({ cognify: { trigger: 'OnAdd' } });
    expect(requeueAfterMs).to.equal(63_000);
    const look = async (more: object) => {
      only().statistics = { ...only().statistics, ...more };
      await world.clock.advance(60_000);
      await world.reconcile();
      return started().length;
    };
    expect(await look({})).to.equal(0);
    expect(await look({ pending: 1 })).to.equal(1);
    await world.reconcile();
    expect(started()).to.have.length(1);
    const activeRun = { id: 'r', pipeline: 'cognify', startedAt: '2026-08-01T00:00:00Z' };
    expect(await look({ pending: 1, activeRun })).to.equal(1);
    expect(await look({ pending: 1, activeRun: null })).to.equal(2);
    expect(await look({ pending: 0 })).to.equal(2);
  });

  it('records a refused start, stays ready, and retries a minute later', async () => {
    await begin({ cognify: at('0 * * * *') });
    await world.clock.advance(hour);
    world.services.fail('startRun', engramError('TooManyRequestsError', 'concurrent runs: 4 of 4'));
    const { requeueAfterMs } = await world.reconcile();
    expect(requeueAfterMs).to.be.at.most(66_000);
    expect(world.conditions()['Ready']).to.equal('True Available');
    expect(world.notes.at(-1)).to.deep.include({ type: 'Warning', reason: 'RunNotStarted' });
    await world.clock.advance(60_000);
    await world.reconcile();
    expect(started()).to.deep.equal(['cognify']);
  });

  it('starts no run for a hibernated tenant, and none late when it wakes', async () => {
    await begin({ cognify: at('0 * * * *') });
    world.changeTenant({ spec: { state: 'Hibernated' } });
    await world.clock.advance(hour);
    await world.reconcile();
    expect(started()).to.deep.equal([]);
    expect(schedules()?.[0]).to.deep.equal({ pipeline: 'cognify', nextStartAt: '2026-08-01T02:00:00Z' });
  });

  it('skips a scheduled run while one of the pipeline is under way', async () => {
    await begin({ cognify: at('0 * * * *'), improve: at('0 * * * *') });
    await world.clock.advance(hour);
    const activeRun = { id: 'r', pipeline: 'cognify_pipeline', startedAt: '2026-08-01T00:59:00Z' };
    only().statistics = { ...only().statistics, activeRun };
    await world.reconcile();
    expect(started()).to.deep.equal(['improve']);
    expect(schedules()?.[0]).to.deep.equal({ pipeline: 'cognify', nextStartAt: '2026-08-01T02:00:00Z' });
  });

  it('starts no run while suspended', async () => {
    await begin({ cognify: at('0 * * * *') });
    world.change({ spec: { suspend: true } });
    await world.clock.advance(2 * hour);
    await world.reconcile();
    expect(started()).to.deep.equal([]);
  });

  it('starts a run once after services did not answer', async () => {
    await begin({ cognify: at('0 * * * *') });
    await world.clock.advance(hour);
    world.services.fail('datasetStatistics', unavailable(), 2);
    await world.reconcile();
    await world.reconcile();
    expect(started()).to.deep.equal([]);
    await world.reconcile();
    expect(started()).to.deep.equal(['cognify']);
  });
});
