import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import type { DatasetId, TenantId, UserId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import { createSessionEntries, sessionEntriesCollection } from './session-entries.ts';
import { createSessions, sessionsCollection } from './sessions.ts';
import { createVisibleSessions, type SessionPageQuery, type VisibleSessions } from './visible-sessions.ts';

const SCOPE = { tenant: asId<TenantId>('t1') };
const [ADA, BOT, GRACE] = ['a', 'b', 'c'].map((name) => asId<UserId>(name)) as [UserId, UserId, UserId];
const SHARED = asId<DatasetId>('shared');
const EVERYTHING = { from: null, before: null };
const FIRST: SessionPageQuery = { ...EVERYTHING, order: 'lastActivityAt', descending: true, limit: 50, offset: 0 };

describe('sessions that a caller may see', () => {
  let visible: VisibleSessions;
  const viewer = { users: [ADA, BOT], datasets: [SHARED] };

  before(async () => {
    const store = createMemoryDocumentStore();
    await store.prepare([sessionsCollection, sessionEntriesCollection]);
    const sessions = createSessions(store);
    const entries = createSessionEntries(store, sessions);
    const entry = { question: '', context: '', answer: 'x', feedbackText: null, feedbackScore: null };
    const open = (user: UserId, session: string, minute: number, dataset: DatasetId | null) =>
      entries.appendQa(
        SCOPE,
        { user, session },
        randomUUID(),
        { ...entry, usedGraphElements: null, usedContextIds: null },
        { dataset, lastActivityAt: `2026-01-02T03:${String(minute).padStart(2, '0')}:00.000Z` },
      );
    for (let minute = 0; minute < 10; minute += 1)
      await open(ADA, `ada${minute}`, minute, minute === 3 ? SHARED : null);
    await open(BOT, 'bot', 20, null);
    await open(GRACE, 'shared', 30, SHARED);
    await open(GRACE, 'ada1', 31, SHARED);
    await open(GRACE, 'secret', 32, null);
    visible = createVisibleSessions(store, sessions);
  });

  const names = async (query: Partial<SessionPageQuery>, seenBy = viewer) => {
    const { sessions, total } = await visible.page(SCOPE, seenBy, { ...FIRST, ...query });
    return { names: sessions.map(({ session }) => session), total };
  };

  it('are their own, their agents’ and those of datasets they may read, each once, in order, by page', async () => {
    const all = ['ada1', 'shared', 'bot', ...[9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((minute) => `ada${minute}`)];
    expect(await names({})).to.deep.equal({ names: all, total: 13 });
    expect(await names({ limit: 4, offset: 2 })).to.deep.equal({ names: all.slice(2, 6), total: 13 });
    expect(await names({ descending: false, limit: 2, offset: 9 })).to.deep.equal({
      names: ['ada9', 'bot'],
      total: 13,
    });
    expect(await names({ offset: 50 })).to.deep.equal({ names: [], total: 13 });
  });

  it('are found by the times of their last activity', async () => {
    const range = { from: '2026-01-02T03:08:00.000Z', before: '2026-01-02T03:30:00.000Z' };
    expect(await names(range)).to.deep.equal({ names: ['bot', 'ada9', 'ada8'], total: 3 });
  });

  it('are only their own without anything shared', async () => {
    const own = await names({ limit: 3 }, { users: [GRACE], datasets: [] });
    expect(own).to.deep.equal({ names: ['secret', 'ada1', 'shared'], total: 3 });
    expect(await names({ order: 'startedAt', limit: 1 }, { users: [ADA], datasets: [SHARED] })).to.deep.equal({
      names: ['ada1'],
      total: 12,
    });
    expect(await names({}, { users: [], datasets: [] })).to.deep.equal({ names: [], total: 0 });
  });

  it('of one name are the viewer’s before those of others', async () => {
    const owners = async (name: string) => (await visible.named(SCOPE, viewer, name)).map(({ user }) => user);
    expect(await owners('ada1')).to.deep.equal([ADA, GRACE]);
    expect(await owners('shared')).to.deep.equal([GRACE]);
    expect(await owners('secret')).to.deep.equal([]);
  });

  it('come all of them, each once, in pages', async () => {
    const seen: string[] = [];
    for await (const page of visible.pages(SCOPE, viewer, EVERYTHING))
      seen.push(...page.map(({ user, session }) => `${user}/${session}`));
    expect(new Set(seen).size).to.equal(13);
    expect(seen).to.have.length(13);
  });
});
