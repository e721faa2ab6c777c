import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import type { DatasetId, TenantId, UserId } from '../kernel/brand.ts';
import { asId } from '../kernel/ids.ts';
import { datasetScope, SYSTEM_SCOPE } from '../kernel/scope.ts';
import type { DocumentStore } from '../storage/ports/document-store.ts';
import { recordCollections } from './collections.ts';
import { createElementWeights } from './improve/element-weights.ts';
import { createImproveRequests } from './improve/improve-requests.ts';
import { createWatermarks } from './improve/watermarks.ts';
import { createSessionRemoval } from './session-removal.ts';
import { createSessionContexts } from './sessions/session-context.ts';
import { createSessionEntries, type SessionEntries } from './sessions/session-entries.ts';
import { createSessions } from './sessions/sessions.ts';

const [ACME, GLOBEX] = ['t1', 't2'].map((tenant) => ({ tenant: asId<TenantId>(tenant) })) as [
  { tenant: TenantId },
  { tenant: TenantId },
];
const [ADA, GRACE] = ['ada', 'grace'].map((name) => asId<UserId>(name)) as [UserId, UserId];
const [NOTES, OTHERS] = ['notes', 'others'].map((name) => asId<DatasetId>(name)) as [DatasetId, DatasetId];
const AT = '2026-01-02T03:04:05.000Z';

/** Collections whose documents are removed with a session. */
const NAMES = [
  'sessions',
  'session_entries',
  'improve_wishes',
  'session_context',
  'improve_watermarks',
  'weight_votes',
];

describe('removing sessions', () => {
  let store: DocumentStore;
  let entries: SessionEntries;

  beforeEach(async () => {
    store = createMemoryDocumentStore();
    await store.prepare(recordCollections);
    entries = createSessionEntries(store, createSessions(store));
  });

  /** A session with everything that belongs to one. */
  async function live(scope: { tenant: TenantId }, user: UserId, session: string, dataset: DatasetId): Promise<void> {
    const key = { user, session };
    const entry = { question: 'q', context: '', answer: 'a', feedbackText: null, feedbackScore: null };
    const improveRequests = createImproveRequests(store);
    const when = { at: new Date(AT), debounce: { entries: 1, ms: 0 } };
    const answer = await entries.appendQa(
      ...([scope, key, randomUUID(), { ...entry, usedGraphElements: null, usedContextIds: null }] as const),
      { dataset, lastActivityAt: AT },
      { also: () => improveRequests.requestWrites(scope, { ...key, dataset, keyId: null }, when) },
    );
    await createElementWeights(store).cast(datasetScope(scope.tenant, dataset), {
      session: key,
      answer,
      ids: ['n1'],
      move: (weight) => weight + 0.1,
      at: AT,
      vote: { score: 5, source: 'explicit', applied: ['n1'], attempts: 1, version: null },
    });
    const feedback = {
      id: randomUUID(),
      createdAt: AT,
      rawText: 'good',
      referencedQaIds: [],
      referencedQaRating: 5,
      influencingContextIds: [],
    };
    await createSessionContexts(store).addFeedback(scope, key, feedback);
    const watermarks = createWatermarks(store);
    const mark = await watermarks.get(scope, { ...key, startedAt: AT }, 'session_qa');
    await store.commit(scope, [watermarks.moveWrite(mark, { done: 1 })]);
  }
  const counts = (scope: { tenant: TenantId }) =>
    store.countEach(
      scope,
      NAMES.flatMap((name) => recordCollections.find((collection) => collection.name === name) ?? []),
    );

  it('takes everything of a dataset’s with it, of all users, and nothing else', async () => {
    await live(ACME, ADA, 'one', NOTES);
    await live(ACME, GRACE, 'one', NOTES);
    await live(ACME, ADA, 'two', OTHERS);
    await live(GLOBEX, ADA, 'one', NOTES);
    expect(await createSessionRemoval(store).ofDataset(ACME, NOTES)).to.equal(0);
    expect(await counts(ACME)).to.deep.equal([1, 1, 1, 1, 1, 1]);
    expect(await counts(GLOBEX)).to.deep.equal([1, 1, 1, 1, 1, 1]);
    expect(await entries.lastQas(ACME, { user: ADA, session: 'two' }, 5)).to.have.length(1);
  });

  it('removes notes on a session of the user that was removed before', async () => {
    const feedback = { id: 'f', createdAt: AT, rawText: 'a secret', referencedQaIds: [], referencedQaRating: 5 };
    const key = { user: ADA, session: 'gone' };
    for (const scope of [ACME, GLOBEX]) {
      await createSessionContexts(store).addFeedback(scope, key, { ...feedback, influencingContextIds: [] });
    }
    await createSessionRemoval(store).ofUser(ACME, ADA);
    expect(await counts(ACME)).to.deep.equal([0, 0, 0, 0, 0, 0]);
    expect(await counts(GLOBEX)).to.deep.equal([0, 0, 0, 1, 0, 0]);
    await createSessionRemoval(store).ofUser(SYSTEM_SCOPE, ADA);
    expect(await counts(GLOBEX)).to.deep.equal([0, 0, 0, 0, 0, 0]);
  });

  it('takes those of a user in one tenant, or in all of them', async () => {
    for (let index = 0; index < 120; index += 1) await live(ACME, ADA, `s${index}`, NOTES);
    await live(GLOBEX, ADA, 'elsewhere', NOTES);
    await live(ACME, GRACE, 's1', NOTES);
    const removal = createSessionRemoval(store);
    expect(await removal.ofUser(ACME, ADA)).to.equal(0);
    expect(await counts(ACME)).to.deep.equal([1, 1, 1, 1, 1, 1]);
    expect(await counts(GLOBEX)).to.deep.equal([1, 1, 1, 1, 1, 1]);
    expect(await removal.ofUser(SYSTEM_SCOPE, ADA)).to.equal(0);
    expect(await counts(GLOBEX)).to.deep.equal([0, 0, 0, 0, 0, 0]);
  });
});
