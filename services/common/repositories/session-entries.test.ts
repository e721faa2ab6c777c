import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createMemoryDocumentStore } from '../adapters/memory/document-store.ts';
import type { DatasetId, TenantId, UserId } from '../domain/brand.ts';
import { asId } from '../domain/ids.ts';
import type { NewQa, NewTrace } from '../domain/session.ts';
import { createSessionEntries, type SessionEntries, sessionEntriesCollection } from './session-entries.ts';
import { createSessions, type Sessions, sessionsCollection } from './sessions.ts';

const SCOPE = { tenant: asId<TenantId>('t1') };
const ADA = { user: asId<UserId>('00000000-0000-4000-8000-00000000000a'), session: 's1' };
const GRACE = { ...ADA, user: asId<UserId>('00000000-0000-4000-8000-00000000000b') };
const DATASET = asId<DatasetId>('00000000-0000-4000-8000-0000000000d1');

const qa = (question: string): NewQa => ({
  ...{ question, context: '', answer: 'An engineer', feedbackText: null, feedbackScore: null },
  ...{ usedGraphElements: { nodeIds: ['n1'] }, usedContextIds: null },
});
const trace = (originFunction: string): NewTrace => ({
  ...{ originFunction, status: 'error', memoryQuery: '', memoryContext: '', methodParams: { b: 1, a: [null] } },
  ...{ methodReturnValue: null, errorMessage: 'no', sessionFeedback: `${originFunction} failed. Reason: no.` },
});
const at = (second: number) => ({ lastActivityAt: `2026-01-02T03:04:${String(second).padStart(2, '0')}.000Z` });

describe('sessions', () => {
  let sessions: Sessions;
  let entries: SessionEntries;
  beforeEach(async () => {
    const store = createMemoryDocumentStore();
    await store.prepare([sessionsCollection, sessionEntriesCollection]);
    sessions = createSessions(store);
    entries = createSessionEntries(store, sessions);
  });

  it('open with their first entry and give entries back as they were put in', async () => {
    const first = await entries.appendQa(SCOPE, ADA, randomUUID(), qa('Who is Ann?'), at(5));
    expect(first).to.include({ number: 1, time: at(5).lastActivityAt, memifyMetadata: null });
    const step = await entries.appendTrace(SCOPE, ADA, randomUUID(), trace('fetch'), { ...at(6), errors: 1 });
    expect(await entries.lastQas(SCOPE, ADA, 20)).to.deep.equal([first]);
    expect(await entries.lastTraces(SCOPE, ADA, 20)).to.deep.equal([step]);
    expect(await sessions.get(SCOPE, ADA)).to.deep.include({
      ...{ startedAt: at(5).lastActivityAt, lastActivityAt: at(6).lastActivityAt },
      ...{ qaCount: 1, traceCount: 1, errorCount: 1, dataset: null },
    });
  });

  it('number entries that come at once one after the other, and lose none', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `q${index}`);
    await Promise.all(names.map((name) => entries.appendQa(SCOPE, ADA, randomUUID(), qa(name), at(1))));
    const all = await entries.qasAfter(SCOPE, ADA, 0, 100);
    expect(all.map(({ number }) => number)).to.deep.equal(names.map((_, index) => index + 1));
    expect(all.map(({ question }) => question)).to.have.members(names);
    expect((await entries.qasAfter(SCOPE, ADA, 10, 5)).map(({ number }) => number)).to.deep.equal([11, 12, 13, 14, 15]);
    expect((await entries.lastQas(SCOPE, ADA, 2)).map(({ number }) => number)).to.deep.equal([29, 30]);
  });

  it('refuse an id that an entry has, without counting it', async () => {
    const id = randomUUID();
    await entries.appendQa(SCOPE, ADA, id, qa('once'), at(1));
    const error = await entries.appendQa(SCOPE, ADA, id, qa('twice'), at(2)).catch((reason: Error) => reason.name);
    expect(error).to.equal('DuplicateKeyError');
    expect((await sessions.get(SCOPE, ADA))?.qaCount).to.equal(1);
  });

  it('are bound once to dataset, agent and node sets', async () => {
    await entries.appendQa(SCOPE, ADA, randomUUID(), qa('one'), at(1));
    const bound = { dataset: DATASET, agent: 'a1', nodeSets: ['x'] };
    await entries.appendQa(SCOPE, ADA, randomUUID(), qa('two'), { ...at(2), ...bound });
    const other = { dataset: asId<DatasetId>('00000000-0000-4000-8000-0000000000d2'), agent: 'a2', nodeSets: ['y'] };
    await entries.appendQa(SCOPE, ADA, randomUUID(), qa('three'), { ...at(3), ...other });
    expect(await sessions.get(SCOPE, ADA)).to.deep.include(bound);
  });

  it('of two users with one name, or of two tenants, are apart', async () => {
    const { id } = await entries.appendQa(SCOPE, ADA, randomUUID(), qa('mine'), at(1));
    await entries.appendQa(SCOPE, GRACE, randomUUID(), qa('hers'), at(1));
    const elsewhere = { tenant: asId<TenantId>('t2') };
    expect(await entries.qa(SCOPE, GRACE, id)).to.equal(null);
    expect(await entries.qa(elsewhere, ADA, id)).to.equal(null);
    expect(await sessions.get(elsewhere, ADA)).to.equal(null);
    expect((await sessions.named(SCOPE, 's1')).map(({ user }) => user)).to.have.members([ADA.user, GRACE.user]);
    const seen = await sessions.ofUsersOrDatasets(SCOPE, [ADA.user], [], null);
    expect(seen.map(({ user }) => user)).to.deep.equal([ADA.user]);
  });

  it('keep every change of an entry that several make at once', async () => {
    const { id } = await entries.appendQa(SCOPE, ADA, randomUUID(), qa('rated'), at(1));
    const note = (key: string) =>
      entries.changeQa(SCOPE, ADA, id, ({ memifyMetadata }) => ({
        memifyMetadata: { ...memifyMetadata, [key]: true },
      }));
    await Promise.all(['a', 'b', 'c', 'd'].map(note));
    expect((await entries.qa(SCOPE, ADA, id))?.memifyMetadata).to.deep.equal({ a: true, b: true, c: true, d: true });
    expect(await entries.changeQa(SCOPE, GRACE, id, () => ({ answer: 'stolen' }))).to.equal(null);
  });
});
