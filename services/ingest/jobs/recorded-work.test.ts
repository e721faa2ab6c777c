import { expect } from 'chai';
import { testClock } from '../../../test/support/auth-service.ts';
import { createTestJobs } from '../../../test/support/job-worker.ts';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import type { TenantId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { jobsCollection } from '../../common/platform/jobs/job-document.ts';
import type { ClaimedJob } from '../../common/ports/work-queue.ts';
import { type Collection, insert, remove, replace } from '../../common/storage/ports/document-store.ts';
import type { WorkState } from '../model.ts';
import { createRecordedWork, type WorkKey, type WorkRecord } from './recorded-work.ts';

type Stored = Pick<WorkState, keyof WorkState> & { readonly step: string };
type Thing = WorkRecord & Stored;

const things: Collection<Stored> = { name: 'things', level: 'tenant', indexes: [] };
const SCOPE = { tenant: asId<TenantId>('t1') };
const FRESH: Stored = { step: '', isComplete: false, failure: null, touchedAtMs: 0 };
const AWAY = engramError('ServiceUnavailableError', 'The index is away.');
const LEASE_MS = 15_000;

const keyOf = (onRequest: boolean): WorkKey => ({ scope: SCOPE, key: 'one', payload: {}, onRequest });

/** One piece of work whose attempts end as they are told. */
async function start(onRequest: boolean) {
  const store = createMemoryDocumentStore();
  await store.prepare([jobsCollection, things]);
  const clock = testClock();
  const { workQueue, jobs } = createTestJobs(store, clock);
  const read = async (): Promise<Thing | null> => {
    const stored = await store.get(SCOPE, things, 'one');
    return stored === null ? null : { ...stored.value, version: stored.version };
  };
  const inputs: (string | null)[] = [];
  let attempt: () => Promise<Partial<Thing>> = async () => ({ step: 'done' });
  const work = createRecordedWork<Thing, string>(
    { store, clock, workQueue, jobs },
    {
      kind: 'thing',
      answerAfterMs: 200,
      read,
      save: (_, { version, ...value }, writes) =>
        store.commit(SCOPE, [...writes, replace(things, 'one', value, version)]),
      async work(_, input, { update }) {
        inputs.push(input);
        await update({ step: 'begun' });
        return attempt();
      },
    },
  );
  const key = keyOf(onRequest);
  await store.commit(SCOPE, [insert(things, 'one', FRESH), ...(await work.jobWrites(key))]);
  const record = async (): Promise<Thing> => {
    const found = await read();
    if (found === null) throw new Error('no record');
    return found;
  };
  const job = async () => {
    const { items } = await store.find(SYSTEM_SCOPE, jobsCollection, { limit: 2 });
    expect(items.length).to.be.at.most(1);
    return items[0]?.value ?? null;
  };
  return {
    store,
    clock,
    workQueue,
    jobs,
    inputs,
    record,
    job,
    work,
    key,
    attempts(next: typeof attempt) {
      attempt = next;
    },
    ask: (input: string | null = 'input') => work.progress({ work: key, input, requestId: 'r', read: record }),
    /** As the worker's loop does when the job is due. */
    async takeDue(): Promise<boolean> {
      const due: ClaimedJob | null = await workQueue.claim(SYSTEM_SCOPE, ['thing'], 'loop', LEASE_MS);
      if (due === null) return false;
      await workQueue.release(due);
      return jobs.run(due.id, work.handler);
    },
  };
}

const failing = (error: Error) => async () => {
  throw error;
};

describe('work of a job that a record tells of', () => {
  it('ends with its record complete and without a job, and is not done again', async () => {
    const { ask, job, inputs } = await start(true);
    expect(await ask()).to.include({ isComplete: true, step: 'done', failure: null });
    expect(await job()).to.equal(null);
    await ask();
    expect(inputs).to.deep.equal(['input']);
  });

  it('on request answers each failure, is tried again with each request, and is a dead letter meanwhile', async () => {
    const { ask, job, attempts, takeDue, clock, inputs } = await start(true);
    attempts(failing(AWAY));
    for (let count = 1; count <= 6; count += 1) {
      expect((await ask()).failure).to.deep.equal({ name: 'ServiceUnavailableError', message: 'The index is away.' });
      expect(await job()).to.include({ attempts: count, state: count < 5 ? 'queued' : 'dead' });
    }
    attempts(async () => ({}));
    clock.advance(600_000);
    expect(await takeDue()).to.equal(false);
    expect(await ask('other')).to.include({ isComplete: true });
    expect(inputs.at(-1)).to.equal('other');
  });

  it('on request is not done without a request', async () => {
    const { takeDue, job, inputs, clock } = await start(true);
    expect(await takeDue()).to.equal(true);
    expect(await takeDue()).to.equal(false);
    expect(await job()).to.include({ state: 'queued', attempts: 0 });
    clock.advance(60_001);
    expect(await takeDue()).to.equal(true);
    expect(inputs).to.deep.equal([]);
  });

  it('is tried again without a request, and says of no failure before the last one', async () => {
    const { ask, takeDue, attempts, record, job, clock } = await start(false);
    attempts(failing(AWAY));
    expect(await ask()).to.include({ isComplete: false, failure: null });
    for (let count = 2; count <= 5; count += 1) {
      expect((await record()).failure).to.equal(null);
      clock.advance(600_000);
      expect(await takeDue()).to.equal(true);
    }
    expect((await record()).failure).to.include({ name: 'ServiceUnavailableError' });
    expect(await job()).to.include({ state: 'dead' });
    attempts(async () => ({}));
    expect(await ask()).to.include({ isComplete: true, failure: null });
  });

  it('ends when its request was refused, and can be asked for again', async () => {
    const { ask, attempts, job } = await start(false);
    attempts(failing(engramError('ConflictError', 'The name is taken.')));
    expect((await ask()).failure).to.deep.equal({ name: 'ConflictError', message: 'The name is taken.' });
    expect(await job()).to.equal(null);
    attempts(async () => ({}));
    expect(await ask()).to.include({ isComplete: true });
  });

  it('ends without a word when its record was removed', async () => {
    const { jobs, job, work, store, attempts, workQueue } = await start(false);
    attempts(async () => {
      await store.commit(SCOPE, [remove(things, 'one')]);
      return {};
    });
    const due = await workQueue.claim(SYSTEM_SCOPE, ['thing'], 'loop', LEASE_MS);
    await workQueue.release(due as ClaimedJob);
    await jobs.run(due?.id ?? '', work.handler);
    expect(await job()).to.equal(null);
  });

  it('is lost to another worker after the lease, and writes nothing then', async () => {
    const { ask, attempts, clock, workQueue, record, store } = await start(true);
    attempts(async () => {
      clock.advance(LEASE_MS + 1);
      const [stored] = (await store.find(SYSTEM_SCOPE, jobsCollection, { limit: 1 })).items;
      expect(await workQueue.claimJob(SYSTEM_SCOPE, stored?.id ?? '', 'other', LEASE_MS)).not.to.equal(null);
      return { step: 'late' };
    });
    expect(await ask()).to.include({ isComplete: false, failure: null, step: 'begun' });
    expect((await record()).step).to.equal('begun');
  });
});
