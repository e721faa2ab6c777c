import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import { PLAIN_QA } from '../../../../test/support/session-entries.ts';
import type { NewQa, NewTrace } from '../../domain/session.ts';
import type { DatasetId, TenantId, UserId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { DocumentStore } from '../../storage/ports/document-store.ts';
import { createImproveRequests, improveRequestsCollection } from '../improve/improve-requests.ts';
import { createSessionEntries, type SessionEntries, sessionEntriesCollection } from './session-entries.ts';
import { createSessions, type Sessions, sessionsCollection } from './sessions.ts';

const SCOPE = { tenant: asId<TenantId>('t1') };
const ADA = { user: asId<UserId>('00000000-0000-4000-8000-00000000000a'), session: 's1' };
const GRACE = { ...ADA, user: asId<UserId>('00000000-0000-4000-8000-00000000000b') };
const DATASET = asId<DatasetId>('00000000-0000-4000-8000-0000000000d1');

const qa = (question: string): NewQa => ({
  ...PLAIN_QA,
  question,
  answer: 'An engineer',
  usedGraphElements: { nodeIds: ['n1'] },
});
const trace = (originFunction: string): NewTrace => ({
  originFunction,
  status: 'error',
  memoryQuery: '',
  memoryContext: '',
  methodParams: { b: 1, a: [null] },
  methodReturnValue: null,
  errorMessage: 'no',
  sessionFeedback: `${originFunction} failed. Reason: no.`,
});
const at = (second: number) => ({ lastActivityAt: `2026-01-02T03:04:${String(second).padStart(2, '0')}.000Z` });

describe('sessions', () => {
  let store: DocumentStore;
  let sessions: Sessions;
  let entries: SessionEntries;
  beforeEach(async () => {
    store = createMemoryDocumentStore();
    await store.prepare([sessionsCollection, sessionEntriesCollection, improveRequestsCollection]);
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
      startedAt: at(5).lastActivityAt,
      lastActivityAt: at(6).lastActivityAt,
      qaCount: 1,
      traceCount: 1,
      errorCount: 1,
      dataset: null,
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
  });

  it('keep every note on an answer that several make at once', async () => {
    const { id } = await entries.appendQa(SCOPE, ADA, randomUUID(), qa('rated'), at(1));
    const note = (key: string) => entries.note(SCOPE, ADA, [{ id, memifyMetadata: { [key]: true }, ofFeedback: null }]);
    await Promise.all(['a', 'b', 'c', 'd'].map(note));
    expect((await entries.qa(SCOPE, ADA, id))?.memifyMetadata).to.deep.equal({ a: true, b: true, c: true, d: true });
    expect(await entries.note(SCOPE, GRACE, [{ id, memifyMetadata: { stolen: true }, ofFeedback: null }])).to.equal(0);
  });

  it('give answers in the order of their feedback, and take no note about feedback that is outdated', async () => {
    const [first, second] = await Promise.all(
      ['one', 'two'].map((text) => entries.appendQa(SCOPE, ADA, randomUUID(), qa(text), at(1))),
    );
    if (first === undefined || second === undefined) throw new Error('nothing appended');
    const rate = (id: string, score: number) =>
      entries.giveFeedback(SCOPE, ADA, id, { text: null, score, at: at(2).lastActivityAt });
    expect(first.feedbackNumber).to.equal(null);
    await rate(second.id, 5);
    const rated = await rate(first.id, 4);
    expect(rated).to.deep.include({ feedbackScore: 4, memifyMetadata: { feedback_weights_applied: false } });
    const numbers = async (after: number) =>
      (await entries.feedbackAfter(SCOPE, ADA, after, 10)).map(({ id, feedbackNumber }) => [id, feedbackNumber]);
    expect(await numbers(0)).to.deep.equal([
      [second.id, 1],
      [first.id, 2],
    ]);
    await rate(second.id, 1);
    expect(await numbers(1)).to.deep.equal([
      [first.id, 2],
      [second.id, 3],
    ]);
    const note = { id: second.id, memifyMetadata: { feedback_weights_applied: true }, ofFeedback: 1 };
    expect(await entries.note(SCOPE, ADA, [note])).to.equal(0);
    expect(await entries.note(SCOPE, ADA, [{ ...note, ofFeedback: 3 }])).to.equal(1);
    expect(
      await entries.giveFeedback(SCOPE, GRACE, second.id, { text: null, score: 1, at: at(2).lastActivityAt }),
    ).to.equal(null);
  });

  it('refuse what an append does not admit, and repeat it when the writes beside it conflict', async () => {
    const refused = await entries
      .appendQa(SCOPE, ADA, randomUUID(), qa('no'), at(1), {
        admit() {
          throw new Error('refused');
        },
      })
      .catch((error: Error) => error.message);
    expect(refused).to.equal('refused');
    expect(await sessions.get(SCOPE, ADA)).to.equal(null);
    const improveRequests = createImproveRequests(store);
    const request = { ...ADA, dataset: DATASET, keyId: null };
    const when = { at: new Date(), debounce: { entries: 1, ms: 0 } };
    await Promise.all(
      Array.from({ length: 10 }, () =>
        entries.appendQa(SCOPE, ADA, randomUUID(), qa('wished'), at(1), {
          also: () => improveRequests.requestWrites(SCOPE, request, when),
        }),
      ),
    );
    expect((await sessions.get(SCOPE, ADA))?.qaCount).to.equal(10);
    expect((await improveRequests.due(SYSTEM_SCOPE, new Date(), 10)).map(({ entries: count }) => count)).to.deep.equal([
      10,
    ]);
  });

  it('never go back in time with their last activity', async () => {
    await entries.appendQa(SCOPE, ADA, randomUUID(), qa('late'), at(50));
    await entries.appendQa(SCOPE, ADA, randomUUID(), qa('early'), at(10));
    expect((await sessions.get(SCOPE, ADA))?.lastActivityAt).to.equal(at(50).lastActivityAt);
    expect((await entries.lastQas(SCOPE, ADA, 2)).map(({ question }) => question)).to.deep.equal(['late', 'early']);
  });
});
