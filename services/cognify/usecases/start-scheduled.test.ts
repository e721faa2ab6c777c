import { expect } from 'chai';
import { CALL, createWorld, startCognify, type TestWorld } from '../../../test/support/cognify-service.ts';
import { scopeOf } from '../../common/domain/dataset.ts';
import { startRun } from '../../common/messaging/methods/cognify.ts';
import { type DocumentStore, update, type Write } from '../../common/ports/document-store.ts';
import { createRunRecords } from '../../common/repositories/run-records.ts';
import { scheduledStartsCollection } from '../../common/repositories/scheduled-starts.ts';

const DUE = '2026-08-01T03:00:00Z';
const IDLE = { runs: { maxConcurrentRuns: 0 } };

describe('starts of cognify by a schedule', () => {
  let world: TestWorld;
  beforeEach(async () => {
    world = await createWorld();
  });

  const begin = async ({ messenger }: Awaited<ReturnType<typeof startCognify>>, dueAt = DUE) => {
    const { dataset, principal } = world;
    const request = { dataset, options: {}, background: true, dueAt };
    const { run } = await messenger.call(startRun, request, { ...CALL, principal });
    return run.id;
  };
  const started = async () => {
    const query = { datasets: [world.dataset.id], limit: 50, offset: 0 };
    const rows = await createRunRecords(world.store).newest(scopeOf(world.dataset), query);
    return new Set(rows.map(({ record }) => record.runId)).size;
  };
  const failure = (work: Promise<unknown>) =>
    work.then(() => null).catch((error: { wireName: string }) => error.wireName ?? String(error));

  it('are one for one time, also in another process and after the end of the run, and another for the next', async () => {
    const ids: string[] = [];
    for (const options of [IDLE, {}, IDLE]) {
      await using cognify = await startCognify(world, options);
      ids.push(await begin(cognify), await begin(cognify));
    }
    expect([new Set(ids).size, await started()]).to.deep.equal([1, 1]);
    await using cognify = await startCognify(world, IDLE);
    expect(await begin(cognify, '2026-08-02T03:00:00Z')).not.to.equal(ids[0]);
    expect(await started()).to.equal(2);
  });

  it('are one when many ask at the same time', async () => {
    await using cognify = await startCognify(world, IDLE);
    const answers = await Promise.all(Array.from({ length: 5 }, () => failure(begin(cognify))));
    expect(answers.filter((answer) => answer === null)).not.to.deep.equal([]);
    for (const answer of answers) expect(answer).to.be.oneOf([null, 'ServiceUnavailableError']);
    await begin(cognify);
    expect(await started()).to.equal(1);
  });

  /** As if the process was killed right before the n-th commit about starts. */
  const killedBefore = (count: number): DocumentStore => {
    let left = count;
    return {
      ...world.store,
      async commit(scope, writes: readonly Write[]) {
        if (writes.some(({ collection }) => collection === scheduledStartsCollection)) left -= 1;
        if (left <= 0) throw new Error('killed');
        return world.store.commit(scope, writes);
      },
    };
  };

  it('are one when the service was killed after the start and before it could say so', async () => {
    {
      await using cognify = await startCognify({ ...world, store: killedBefore(2) }, IDLE);
      await failure(begin(cognify));
    }
    expect(await started()).to.equal(1);
    await using cognify = await startCognify(world, IDLE);
    await begin(cognify);
    expect(await started()).to.equal(1);
  });

  it('are made up for when the service was killed before the start, once nobody can be at it any more', async () => {
    const claim = { dueAt: DUE, claimedAt: new Date().toISOString(), runId: null };
    await world.store.commit(scopeOf(world.dataset), [
      { kind: 'insert', collection: scheduledStartsCollection, id: 'cognify_pipeline', value: claim },
    ]);
    await using cognify = await startCognify(world, IDLE);
    expect(await failure(begin(cognify))).to.equal('ServiceUnavailableError');
    expect(await started()).to.equal(0);
    const claimedAt = new Date(Date.now() - 60_000).toISOString();
    await world.store.commit(scopeOf(world.dataset), [
      update(scheduledStartsCollection, 'cognify_pipeline', { set: { claimedAt } }),
    ]);
    await begin(cognify);
    expect(await started()).to.equal(1);
  });
});
