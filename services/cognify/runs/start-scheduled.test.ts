import { expect } from 'chai';
import { CALL } from '../../../test/support/call-route.ts';
import { createWorld, startCognify, type TestWorld } from '../../../test/support/cognify-service.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { createRunRecords } from '../../common/records/cognify/run-records.ts';
import type { DocumentStore, Write } from '../../common/storage/ports/document-store.ts';

const DUE = '2026-08-01T03:00:00Z';
const IDLE = { runs: { maxConcurrentRuns: 0 } };

describe('scheduled starts of cognify', () => {
  let world: TestWorld;
  beforeEach(async () => {
    world = await createWorld();
  });

  const begin = async ({ messenger }: Awaited<ReturnType<typeof startCognify>>, dueAt = DUE) => {
    const { dataset, principal } = world;
    const request = { dataset, options: {}, background: true, dueAt };
    const { run } = await messenger.call('cognify.StartRun', request, { ...CALL, principal });
    return run.id;
  };
  const started = async () => {
    const query = { datasets: [world.dataset.id], limit: 50, offset: 0 };
    const rows = await createRunRecords(world.store).newest(scopeOf(world.dataset), query);
    return new Set(rows.map(({ record }) => record.runId)).size;
  };
  it('start one run per due time, also in another process and after its end', async () => {
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

  it('start one run for concurrent requests', async () => {
    await using cognify = await startCognify(world, IDLE);
    const ids = await Promise.all(Array.from({ length: 5 }, () => begin(cognify)));
    expect([new Set(ids).size, await started()]).to.deep.equal([1, 1]);
  });

  /** As if the process was killed right before the n-th commit, counted from 0. */
  const killedBefore = (count: number): DocumentStore => {
    let left = count;
    return {
      ...world.store,
      async commit(scope, writes: readonly Write[]) {
        if (left === 0) throw new Error('killed');
        left -= 1;
        return world.store.commit(scope, writes);
      },
    };
  };

  it('start one run, whichever commit the service is killed before', async () => {
    for (let count = 0, isKilled = true; isKilled; count += 1) {
      const dueAt = `2026-08-01T03:${String(count).padStart(2, '0')}:00Z`;
      {
        await using cognify = await startCognify({ ...world, store: killedBefore(count) }, IDLE);
        isKilled = await begin(cognify, dueAt).then(
          () => false,
          () => true,
        );
      }
      await using cognify = await startCognify(world, IDLE);
      await begin(cognify, dueAt);
      expect(await started()).to.equal(count + 1);
    }
  });
});
