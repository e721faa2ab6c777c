import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ADA } from '../../../test/support/ada.ts';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import { PLAIN_QA } from '../../../test/support/session-entries.ts';
import type { TurnNote } from '../../common/domain/session-context.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { createSessionContexts, sessionContextCollection } from '../../common/records/sessions/session-context.ts';
import { createSessionEntries, sessionEntriesCollection } from '../../common/records/sessions/session-entries.ts';
import { createSessions, sessionsCollection } from '../../common/records/sessions/sessions.ts';
import { keepTurnNote } from './keep-turn-note.ts';

const CONTEXT = { requestId: 'r', principal: ADA };
const SCOPE = { tenant: ADA.tenant };
const KEY = { user: ADA.id, session: 's1' };
const EMPTY: TurnNote = { feedback: null, contextRatings: {}, lessons: [], servedIds: [] };
const AT = '2026-01-02T03:04:05.000Z';

describe('notes on a turn', () => {
  let deps: Parameters<typeof keepTurnNote>[0];
  let qaId: string;
  beforeEach(async () => {
    const store = createMemoryDocumentStore();
    await store.prepare([sessionsCollection, sessionEntriesCollection, sessionContextCollection]);
    const sessions = createSessions(store);
    deps = {
      sessions,
      sessionEntries: createSessionEntries(store, sessions),
      sessionContexts: createSessionContexts(store),
      clock: { now: () => new Date(AT), monotonicMs: () => 0 },
      ids: { uuid: randomUUID },
      settings: { sessions: { enabled: true } },
    } as unknown as typeof deps;
    qaId = randomUUID();
    const qa = { ...PLAIN_QA, question: 'Who?', answer: 'Ann' };
    await deps.sessionEntries.appendQa(SCOPE, KEY, qaId, qa, { lastActivityAt: AT });
  });

  const keep = (note: Partial<TurnNote>, session = 's1') =>
    keepTurnNote(deps, { session, note: { ...EMPTY, ...note } }, CONTEXT);
  const feedback = (qa: string) => ({ id: randomUUID(), text: 'no', qaId: qa, rating: 1, contextIds: ['c'] });

  it('keep feedback on an answer that is there, once however often it comes', async () => {
    const said = feedback(qaId);
    await Promise.all([keep({ feedback: said }), keep({ feedback: said }), keep({ feedback: feedback('another') })]);
    expect(await deps.sessionContexts.feedback(SCOPE, KEY)).to.deep.equal([
      {
        id: said.id,
        createdAt: AT,
        rawText: 'no',
        referencedQaIds: [qaId],
        referencedQaRating: 1,
        influencingContextIds: ['c'],
      },
    ]);
  });

  it('keep what was learned with its source, rate it and tell that it was shown', async () => {
    const said = feedback(qaId);
    const lesson = { profile: 'qa' as const, section: 'rules' as const, content: 'Be brief.', confidence: 0.9 };
    await keep({ feedback: said, lessons: [lesson, { ...lesson, content: 'Unsure.', confidence: 0.1 }] });
    const [row, ...others] = await deps.sessionContexts.rows(SCOPE, KEY);
    expect(others).to.deep.equal([]);
    expect(row).to.deep.include({ content: 'Be brief.', feedbackIds: [said.id], lastServedAt: null });
    await keep({ contextRatings: { [row?.id ?? '']: 'helpful', unknown: 'harmful' }, servedIds: [row?.id ?? ''] });
    const [rated] = await deps.sessionContexts.rows(SCOPE, KEY);
    expect(rated).to.include({ helpfulCount: 1, harmfulCount: 0, lastServedAt: AT });
  });

  it('are not kept for a session that is gone, of somebody else, or when none is remembered', async () => {
    expect(await keep({ feedback: feedback(qaId) }, 'gone')).to.deep.equal({ noted: false });
    const bob = { ...CONTEXT, principal: { ...ADA, id: asId<UserId>('bob') } };
    const message = { session: 's1', note: { ...EMPTY, feedback: feedback(qaId) } };
    expect(await keepTurnNote(deps, message, bob)).to.deep.equal({ noted: false });
    const off = { ...deps, settings: { sessions: { enabled: false } } } as typeof deps;
    expect(await keepTurnNote(off, message, CONTEXT)).to.deep.equal({ noted: false });
    expect(await deps.sessionContexts.feedback(SCOPE, KEY)).to.deep.equal([]);
  });
});
