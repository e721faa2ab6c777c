import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createMemoryDocumentStore } from '../../../../test/support/memory/document-store.ts';
import type { NewContextRow } from '../../domain/session-context.ts';
import type { TenantId, UserId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import type { DocumentStore } from '../../storage/ports/document-store.ts';
import {
  createSessionContexts,
  MAX_ROWS_PER_SESSION,
  type SessionContexts,
  sessionContextCollection,
} from './session-context.ts';

const SCOPE = { tenant: asId<TenantId>('t1') };
const ADA = { user: asId<UserId>('00000000-0000-4000-8000-00000000000a'), session: 's1' };

const rule = (content: string, more: Partial<NewContextRow> = {}): NewContextRow => ({
  profile: 'qa',
  section: 'rules',
  content,
  confidence: 0.8,
  ...more,
});

describe('context rows of a session', () => {
  let store: DocumentStore;
  let contexts: SessionContexts;
  let second = 0;
  const noting = () => {
    second += 1;
    return { newId: () => randomUUID(), at: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString() };
  };
  beforeEach(async () => {
    store = createMemoryDocumentStore();
    await store.prepare([sessionContextCollection]);
    contexts = createSessionContexts(store);
  });

  it('keep one row for what says the same but for case and blanks, with the sources of both', async () => {
    const [first] = await contexts.learn(SCOPE, ADA, [rule('Answer in  metric.', { feedbackIds: ['f1'] })], noting());
    const again = rule('answer in metric.', { confidence: 0.95, feedbackIds: ['f2'] });
    const [second] = await contexts.learn(SCOPE, ADA, [again], noting());
    expect(second).to.equal(first);
    const rows = await contexts.rows(SCOPE, ADA);
    expect(rows).to.have.length(1);
    expect(rows[0]).to.deep.include({ content: 'Answer in metric.', confidence: 0.95, feedbackIds: ['f1', 'f2'] });
  });

  it('keep the same sentence apart in another section', async () => {
    const other = rule('Answer in metric.', { section: 'preferences' });
    await contexts.learn(SCOPE, ADA, [rule('Answer in metric.'), other], noting());
    expect(await contexts.rows(SCOPE, ADA)).to.have.length(2);
  });

  it('are not made of what is empty, uncertain or of no section of its profile', async () => {
    const refused = [
      rule('  \n '),
      rule('Maybe.', { confidence: 0.74 }),
      rule('Sure.', { confidence: Number.NaN }),
      rule('Wrong place.', { section: 'tool_rules' }),
    ];
    expect(await contexts.learn(SCOPE, ADA, refused, noting())).to.deep.equal([]);
    expect(await contexts.rows(SCOPE, ADA)).to.deep.equal([]);
  });

  it('are cut at 280 characters, a megabyte of text too', async () => {
    await contexts.learn(SCOPE, ADA, [rule(`${'word '.repeat(200_000)}`)], noting());
    const [row] = await contexts.rows(SCOPE, ADA);
    expect(row?.content.length).to.be.within(270, 280);
  });

  it('count what users found of them, each rating', async () => {
    const [id = ''] = await contexts.learn(SCOPE, ADA, [rule('Answer in metric.')], noting());
    await contexts.rate(SCOPE, ADA, new Map([[id, 'helpful'] as const]));
    await contexts.rate(SCOPE, ADA, new Map([[id, 'harmful'] as const, ['unknown', 'helpful'] as const]));
    expect((await contexts.rows(SCOPE, ADA))[0]).to.include({ helpfulCount: 1, harmfulCount: 1 });
    await contexts.rate(SCOPE, { ...ADA, session: 's2' }, new Map([[id, 'harmful'] as const]));
    expect((await contexts.rows(SCOPE, ADA))[0]).to.include({ harmfulCount: 1 });
  });

  it('lose nothing when several learn at the same time', async () => {
    const lessons = Array.from({ length: 12 }, (_, at) => rule(`Rule number ${at % 4}.`, { feedbackIds: [`f${at}`] }));
    await Promise.all(lessons.map((lesson) => contexts.learn(SCOPE, ADA, [lesson], noting())));
    const rows = await contexts.rows(SCOPE, ADA);
    expect(rows).to.have.length(4);
    expect(rows.flatMap(({ feedbackIds }) => feedbackIds)).to.have.length(12);
  });

  it('end at a number, the oldest first', async () => {
    const many = Array.from({ length: MAX_ROWS_PER_SESSION }, (_, at) => rule(`Rule ${at}.`));
    await contexts.learn(SCOPE, ADA, many, noting());
    await contexts.learn(SCOPE, ADA, [rule('The newest.')], noting());
    const rows = await contexts.rows(SCOPE, ADA);
    expect(rows).to.have.length(MAX_ROWS_PER_SESSION);
    expect(rows.at(-1)?.content).to.equal('The newest.');
  });

  it('go with their session and with their user, progress and feedback among them', async () => {
    const progress = { name: 'x', state: { done: 3 } };
    await contexts.learn(SCOPE, ADA, [rule('One.')], { ...noting(), progress });
    expect(await contexts.progress(SCOPE, ADA, 'x')).to.deep.equal({ done: 3 });
    const said = { id: 'f1', createdAt: '2026-01-01T00:00:00.000Z', rawText: 'No!', referencedQaIds: ['q1'] };
    await contexts.addFeedback(SCOPE, ADA, { ...said, referencedQaRating: 1, influencingContextIds: [] });
    await contexts.addFeedback(SCOPE, ADA, { ...said, referencedQaRating: 1, influencingContextIds: [] });
    expect(await contexts.feedback(SCOPE, ADA)).to.have.length(1);
    await contexts.learn(SCOPE, { ...ADA, session: 's2' }, [rule('Two.')], noting());
    await store.commit(SCOPE, [contexts.removeOfSessionWrite(ADA)]);
    expect(await store.count(SCOPE, sessionContextCollection, {})).to.equal(1);
    await store.commit(SCOPE, [contexts.removeOfUserWrite(ADA.user)]);
    expect(await store.count(SCOPE, sessionContextCollection, {})).to.equal(0);
  });
});
