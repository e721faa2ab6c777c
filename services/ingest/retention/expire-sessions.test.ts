import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import type { DatasetId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { datasetScope, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { createDatasets } from '../../common/records/auth/datasets.ts';
import { recordCollections } from '../../common/records/collections.ts';
import { createElementWeights, weightVotesCollection } from '../../common/records/improve/element-weights.ts';
import { createImproveRequests } from '../../common/records/improve/improve-requests.ts';
import { createWatermarks } from '../../common/records/improve/watermarks.ts';
import { createSessionContexts } from '../../common/records/sessions/session-context.ts';
import { createSessionEntries } from '../../common/records/sessions/session-entries.ts';
import { createSessions } from '../../common/records/sessions/sessions.ts';
import type { IngestDependencies, SessionSettings } from '../dependencies.ts';
import { createRetentions, tenantRetentionCollection } from '../repositories/retention.ts';
import { createSessionExpiry } from './expire-sessions.ts';

const SCOPE = { tenant: asId<TenantId>('t1') };
const USER = asId<UserId>('ada');
const NOTES = asId<DatasetId>('notes');
const START = Date.parse('2026-01-02T03:00:00Z');
const HOUR = 3_600_000;

async function world(settings: Partial<SessionSettings> = {}) {
  const store = createMemoryDocumentStore();
  await store.prepare([...recordCollections, tenantRetentionCollection]);
  const sessions = createSessions(store);
  const datasets = createDatasets(store);
  const dataset = { id: NOTES, name: 'notes', ownerId: USER, tenant: SCOPE.tenant, createdAt: 'x', updatedAt: null };
  await store.commit(SCOPE, [datasets.insertWrite(dataset)]);
  const retentions = createRetentions(store);
  let nowMs = START;
  const deps = {
    store,
    sessions,
    datasets,
    sessionEntries: createSessionEntries(store, sessions),
    sessionContexts: createSessionContexts(store),
    watermarks: createWatermarks(store),
    improveRequests: createImproveRequests(store),
    retentions,
    clock: { now: () => new Date(nowMs), monotonicMs: () => nowMs },
    settings: { sessions: { ttlMs: HOUR, tracesAreBridged: true, autoImprove: null, ...settings } },
  } as unknown as IngestDependencies;
  const entry = { question: 'q', context: '', answer: 'a', feedbackText: null, feedbackScore: null };
  return {
    deps,
    /** Retention that the resource of the tenant declares. */
    declare: (sessionsMs: number) =>
      store.commit(SCOPE, [retentions.ofTenants.putWrite({ sessionsMs, eventsMs: null }, null)]),
    expiry: createSessionExpiry(deps),
    pass: (ms: number) => {
      nowMs += ms;
    },
    say: (session: string, dataset: DatasetId | null = null) =>
      deps.sessionEntries.appendQa(
        ...([SCOPE, { user: USER, session }, randomUUID()] as const),
        { ...entry, usedGraphElements: null, usedContextIds: null },
        { dataset, lastActivityAt: new Date(nowMs).toISOString() },
      ),
    left: async (session: string) => (await deps.sessionEntries.lastQas(SCOPE, { user: USER, session }, 1000)).length,
    row: (session: string) => deps.sessions.get(SCOPE, { user: USER, session }),
    /** Improve has worked through so many answers. */
    async bridge(session: string, done: number) {
      const found = await deps.sessions.get(SCOPE, { user: USER, session });
      if (found === null) throw new Error('no such session');
      const watermarks = createWatermarks(store);
      const mark = await watermarks.get(SCOPE, found, 'session_qa');
      await store.commit(SCOPE, [watermarks.moveWrite(mark, { done })]);
    },
  };
}

describe('entries of sessions that nobody uses', () => {
  it('go after their time, which begins anew with each use; the row and its numbers stay', async () => {
    const { expiry, pass, say, left, row } = await world();
    await say('s');
    pass(0.9 * HOUR);
    await say('s');
    pass(0.9 * HOUR);
    expect(await expiry.pass()).to.equal(0);
    expect(await left('s')).to.equal(2);
    pass(0.2 * HOUR);
    expect(await expiry.pass()).to.equal(1);
    expect(await left('s')).to.equal(0);
    expect(await row('s')).to.deep.include({ qaCount: 2, label: null, expired: { qas: 2, traces: 0 } });
    expect(await expiry.pass()).to.equal(0);
    expect((await say('s')).number).to.equal(3);
    expect(await row('s')).to.deep.include({ qaCount: 3, label: 'q' });
  });

  it('wait until they are in the memory of their dataset, which they request once', async () => {
    const { deps, expiry, pass, say, left, bridge } = await world({ autoImprove: { entries: 5, ms: HOUR } });
    for (let index = 0; index < 3; index += 1) await say('bound', NOTES);
    pass(2 * HOUR);
    await expiry.pass();
    expect(await left('bound')).to.equal(3);
    for (let index = 0; index < 3; index += 1) await expiry.pass();
    const requested = await deps.improveRequests.due(SYSTEM_SCOPE, deps.clock.now(), 10);
    expect(requested.map(({ session, entries }) => [session, entries])).to.deep.equal([['bound', 1]]);
    await bridge('bound', 2);
    await expiry.pass();
    expect(await left('bound')).to.equal(1);
    await bridge('bound', 3);
    await expiry.pass();
    expect(await left('bound')).to.equal(0);
  });

  it('take with them what their ratings moved, and leave the votes of those that stay', async () => {
    const { deps, expiry, pass, say, bridge } = await world();
    const scope = datasetScope(SCOPE.tenant, NOTES);
    const answers = [await say('bound', NOTES), await say('bound', NOTES), await say('other', NOTES)];
    for (const [index, answer] of answers.entries()) {
      await createElementWeights(deps.store).cast(scope, {
        session: { user: USER, session: index < 2 ? 'bound' : 'other' },
        answer,
        ids: [],
        at: 'x',
        move: (weight) => weight,
        vote: { score: 5, source: 'explicit', applied: ['n1'], attempts: 1, version: null },
      });
    }
    await bridge('bound', 1);
    pass(2 * HOUR);
    await expiry.pass();
    const left = await deps.store.find(scope, weightVotesCollection, { limit: 10 });
    expect(left.items.map(({ id }) => id)).to.have.members(answers.slice(1).map(({ id }) => id));
  });

  it('stay for as long as the resource of their tenant declares, whatever the server says', async () => {
    const longer = await world();
    await longer.declare(10 * HOUR);
    await longer.say('s');
    longer.pass(9 * HOUR);
    await longer.expiry.pass();
    expect(await longer.left('s')).to.equal(1);
    longer.pass(2 * HOUR);
    await longer.expiry.pass();
    expect(await longer.left('s')).to.equal(0);
    const shorter = await world({ ttlMs: 0 });
    await shorter.declare(HOUR / 2);
    await shorter.say('s');
    shorter.pass(HOUR);
    await shorter.expiry.pass();
    expect(await shorter.left('s')).to.equal(0);
  });

  it('wait for nothing when their dataset is gone', async () => {
    const { expiry, pass, say, left } = await world();
    await say('orphan', asId<DatasetId>('gone'));
    pass(2 * HOUR);
    await expiry.pass();
    expect(await left('orphan')).to.equal(0);
  });

  it('are looked at in parts, and none is passed over for those that wait', async () => {
    const { expiry, pass, say, left } = await world();
    for (let index = 0; index < 250; index += 1) await say(`bound${index}`, NOTES);
    pass(1000);
    await say('free');
    pass(2 * HOUR);
    expect(await expiry.pass()).to.equal(0);
    expect(await expiry.pass()).to.equal(1);
    expect(await left('free')).to.equal(0);
  });

  it('stay for the next time when the process stops', async () => {
    const { expiry, pass, say, left } = await world();
    await say('s');
    pass(2 * HOUR);
    expect(await expiry.pass(AbortSignal.abort())).to.equal(0);
    expect(await left('s')).to.equal(1);
    expect(await expiry.pass()).to.equal(1);
  });

  it('stay for ever when that is wanted', async () => {
    const { expiry, pass, say, left } = await world({ ttlMs: 0 });
    await say('s');
    pass(1_000_000 * HOUR);
    expect(await expiry.pass()).to.equal(0);
    expect(await left('s')).to.equal(1);
  });
});
