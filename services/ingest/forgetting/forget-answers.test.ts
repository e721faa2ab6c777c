import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import type { QaEntry } from '../../common/domain/session.ts';
import type { DataItemId, DatasetId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { asId } from '../../common/kernel/ids.ts';
import {
  createElementWeights,
  elementWeightsCollection,
  weightVotesCollection,
} from '../../common/records/improve/element-weights.ts';
import { createSessionEntries, sessionEntriesCollection } from '../../common/records/sessions/session-entries.ts';
import { createSessions, sessionsCollection } from '../../common/records/sessions/sessions.ts';
import { createVisibleSessions } from '../../common/records/sessions/visible-sessions.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { forgetAnswers } from './forget.ts';

const USER = asId<UserId>('ada');
const DATASET: DatasetRef = {
  id: asId<DatasetId>('notes'),
  name: 'notes',
  ownerId: USER,
  tenant: asId<TenantId>('t1'),
  createdAt: 'x',
  updatedAt: null,
};
const SCOPE = { tenant: DATASET.tenant };
const [LETTER, BOOK] = ['letter', 'book'].map((id) => asId<DataItemId>(id)) as [DataItemId, DataItemId];
/** Which items tell of which nodes. */
const NODES: Readonly<Record<string, readonly DataItemId[]>> = {
  'chunk of the letter': [LETTER],
  'chunk of the book': [BOOK],
  Ann: [LETTER, BOOK],
};

describe('answers made from items that are forgotten', () => {
  async function world() {
    const store = createMemoryDocumentStore();
    await store.prepare([
      sessionsCollection,
      sessionEntriesCollection,
      elementWeightsCollection,
      weightVotesCollection,
    ]);
    const sessions = createSessions(store);
    const sessionEntries = createSessionEntries(store, sessions);
    const deps = {
      sessionEntries,
      visibleSessions: createVisibleSessions(store, sessions),
      graph: {
        nodes: async (_: unknown, ids: readonly string[]) =>
          ids.flatMap((id) => (NODES[id] ?? []).map((item) => ({ id, item, generation: 1 }))),
      },
      ledger: {
        allCommitted: async () =>
          new Map([
            [LETTER, 1],
            [BOOK, 1],
          ]),
      },
    } as unknown as IngestDependencies;
    const say = (session: string, question: string, nodeIds: readonly string[] | null, dataset = DATASET.id) =>
      sessionEntries.appendQa(
        ...([SCOPE, { user: USER, session }, randomUUID()] as const),
        {
          question,
          context: 'c',
          answer: `answer to ${question}`,
          feedbackText: 'good',
          feedbackScore: 5,
          usedGraphElements: nodeIds === null ? null : { nodeIds },
          usedContextIds: null,
        },
        { dataset, lastActivityAt: '2026-01-02T03:04:05.000Z' },
      );
    const answers = async (session: string) =>
      (await sessionEntries.lastQas(SCOPE, { user: USER, session }, 100)).map(({ answer }) => answer);
    const rate = (answer: Pick<QaEntry, 'id' | 'number'>, session: string) =>
      createElementWeights(store).cast(scopeOf(DATASET), {
        session: { user: USER, session },
        answer,
        ids: [],
        move: (weight) => weight,
        at: 'x',
        vote: { score: 5, source: 'explicit', applied: ['Ann'], attempts: 1, version: null },
      });
    const votes = async () =>
      (await store.find(scopeOf(DATASET), weightVotesCollection, { limit: 10 })).items.map(({ id }) => id);
    return { deps, sessions, sessionEntries, say, answers, rate, votes };
  }

  it('lose what they say, in every session of the dataset; others keep it, and all keep their numbers', async () => {
    const { deps, sessions, sessionEntries, say, answers } = await world();
    await say('one', 'letter?', ['chunk of the letter', 'Ann']);
    await say('one', 'book?', ['chunk of the book', 'Ann']);
    await say('one', 'own?', null);
    await say('one', 'made up?', ['an id of a client']);
    await say('two', 'letter too?', ['chunk of the letter']);
    await say('elsewhere', 'letter?', ['chunk of the letter'], asId<DatasetId>('others'));
    expect(await forgetAnswers(deps, DATASET, [LETTER])).to.equal(2);
    expect(await answers('one')).to.deep.equal(['', 'answer to book?', 'answer to own?', 'answer to made up?']);
    expect(await answers('two')).to.deep.equal(['']);
    expect(await answers('elsewhere')).to.deep.equal(['answer to letter?']);
    const key = { user: USER, session: 'one' };
    const [first] = await sessionEntries.qasAfter(SCOPE, key, 0, 1);
    expect(first).to.deep.include({
      number: 1,
      question: '',
      context: '',
      usedGraphElements: null,
      feedbackText: null,
    });
    expect((await sessionEntries.feedbackAfter(SCOPE, key, 0, 10)).map(({ number }) => number)).to.deep.equal([
      2, 3, 4,
    ]);
    expect((await sessions.get(SCOPE, key))?.label).to.equal(null);
    expect(await forgetAnswers(deps, DATASET, [LETTER])).to.equal(0);
  });

  it('lose what their ratings moved, and no other answer does', async () => {
    const { deps, say, rate, votes } = await world();
    const letter = await say('one', 'letter?', ['chunk of the letter', 'Ann']);
    const book = await say('one', 'book?', ['chunk of the book', 'Ann']);
    for (const answer of [letter, book]) await rate(answer, 'one');
    await forgetAnswers(deps, DATASET, [LETTER]);
    expect(await votes()).to.deep.equal([book.id]);
  });

  it('are read a few at a time where they are large, and many at a time where they are small', async () => {
    const { deps, sessionEntries, say, answers } = await world();
    const lengths: number[] = [];
    const qasAfter: typeof sessionEntries.qasAfter = (scope, key, number, limit) => {
      lengths.push(limit);
      return sessionEntries.qasAfter(scope, key, number, limit);
    };
    for (let index = 0; index < 30; index += 1) await say('large', 'x'.repeat(2_000_000), ['chunk of the letter']);
    const counted = { ...deps, sessionEntries: { ...sessionEntries, qasAfter } };
    expect(await forgetAnswers(counted, DATASET, [LETTER])).to.equal(30);
    expect(lengths.slice(1).every((length) => length <= 4)).to.equal(true);
    expect(new Set(await answers('large'))).to.deep.equal(new Set(['']));
  });

  it('are found in long sessions', async () => {
    const { deps, say, answers } = await world();
    for (let index = 0; index < 620; index += 1)
      await say('long', `q${index}`, index === 610 ? ['chunk of the book'] : null);
    expect(await forgetAnswers(deps, DATASET, [BOOK])).to.equal(1);
    expect((await answers('long')).filter((answer) => answer === '')).to.have.length(1);
  });
});
