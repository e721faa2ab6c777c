import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { CALL } from '../../../test/support/call-route.ts';
import { createWorld, startCognify } from '../../../test/support/cognify-service.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { asId } from '../../common/kernel/ids.ts';
import { eventsCollection } from '../../common/platform/events/event-log.ts';
import { createRunRecords } from '../../common/records/cognify/run-records.ts';
import { createRuns } from '../../common/records/cognify/runs.ts';

describe('recording the runs of other services', () => {
  const STARTED = 'DATASET_PROCESSING_STARTED';
  const COMPLETED = 'DATASET_PROCESSING_COMPLETED';
  const ERRORED = 'DATASET_PROCESSING_ERRORED';

  const recorded = async (statuses: readonly (typeof STARTED | typeof COMPLETED | typeof ERRORED)[]) => {
    const world = await createWorld();
    await using cognify = await startCognify(world, { runs: { maxConcurrentRuns: 0 } });
    const { principal, dataset } = world;
    const runId = randomUUID();
    for (const status of statuses) {
      const request = { dataset, pipeline: 'add_pipeline', runId, status, items: ['a'] };
      await cognify.messenger.call('cognify.RecordRun', request, { ...CALL, principal });
    }
    const scope = scopeOf(dataset);
    const runs = createRuns(world.store);
    const run = await runs.get(scope, asId(runId));
    const rows = await createRunRecords(world.store).newest(scope, { datasets: [dataset.id], limit: 9, offset: 0 });
    const { items: events } = await world.store.find(scope, eventsCollection, {
      sort: [{ field: 'sequence' }],
      limit: 9,
    });
    return {
      status: run?.state.status,
      items: run === null ? null : await runs.items(run),
      isNewest: (await runs.newest([dataset], ['add_pipeline'])).map(({ state }) => state.id === runId),
      rows: rows.map(({ record }) => record.status).toReversed(),
      events: events.map(({ value }) => value.type),
    };
  };

  it('records a run that is reported with its end only', async () => {
    const whole = await recorded([COMPLETED]);
    expect(whole).to.deep.equal({
      status: COMPLETED,
      items: [{ item: 'a', status: 'completed' }],
      isNewest: [true],
      rows: [STARTED, COMPLETED],
      events: ['run.started', 'run.completed'],
    });
    expect(await recorded([STARTED, COMPLETED])).to.deep.equal(whole);
  });

  it('records a run once when reports are concurrent or repeated', async () => {
    const world = await createWorld();
    await using cognify = await startCognify(world, { runs: { maxConcurrentRuns: 0 } });
    const { principal, dataset } = world;
    for (let round = 0; round < 5; round += 1) {
      const runId = randomUUID();
      const statuses = [STARTED, COMPLETED, COMPLETED, STARTED, COMPLETED] as const;
      await Promise.all(
        statuses.map((status) => {
          const request = { dataset, pipeline: 'add_pipeline', runId, status, items: ['a'] };
          return cognify.messenger.call('cognify.RecordRun', request, { ...CALL, principal });
        }),
      );
      const query = { datasets: [dataset.id], limit: 99, offset: 0 };
      const rows = await createRunRecords(world.store).newest(scopeOf(dataset), query);
      const ofRun = rows.filter(({ record }) => record.runId === runId).map(({ record }) => record.status);
      expect(ofRun.toSorted()).to.deep.equal([COMPLETED, STARTED]);
    }
  });

  it("records earlier completed runs once, in the commit of a run's end", async () => {
    for (const statuses of [[COMPLETED], [STARTED, COMPLETED], [ERRORED, ERRORED]] as const) {
      const world = await createWorld();
      await using cognify = await startCognify(world, { runs: { maxConcurrentRuns: 0 } });
      const { principal, dataset } = world;
      const ids = [randomUUID(), randomUUID()];
      const completedBefore = ids.map((runId) => ({ pipeline: 'memify_pipeline', runId }));
      const runId = randomUUID();
      for (const status of statuses) {
        const request = { dataset, pipeline: 'improve', runId, status };
        const ended = status === STARTED ? request : { ...request, completedBefore };
        await cognify.messenger.call('cognify.RecordRun', ended, { ...CALL, principal });
      }
      const scope = scopeOf(dataset);
      const query = { datasets: [dataset.id], limit: 9, offset: 0 };
      const rows = (await createRunRecords(world.store).newest(scope, query)).map(({ record }) => record);
      for (const id of ids) {
        const own = rows.filter((row) => row.runId === id).map(({ status }) => status);
        expect(own.toReversed(), 'both rows, not twice').to.deep.equal([STARTED, COMPLETED]);
      }
      expect(rows.filter((row) => row.runId === runId)).to.have.length(2);
      const runs = createRuns(world.store);
      const newest = (await runs.newest([dataset], ['memify_pipeline', 'improve'])).map(({ state }) => state);
      expect(newest.map(({ id }) => id)).to.deep.equal([ids[1], runId]);
      const end = statuses.at(-1);
      expect(newest.map(({ status }) => status)).to.deep.equal([COMPLETED, end]);
    }
  });

  it('does not change an ended run', async () => {
    expect(await recorded([ERRORED, COMPLETED, STARTED])).to.deep.include({
      status: ERRORED,
      rows: [STARTED, ERRORED],
      events: ['run.started', 'run.errored'],
    });
  });
});
