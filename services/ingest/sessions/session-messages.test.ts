import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ADA } from '../../../test/support/ada.ts';
import { createMemoryDocumentStore } from '../../../test/support/memory/document-store.ts';
import { PLAIN_QA } from '../../../test/support/session-entries.ts';
import type { DatasetId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { RequestOf } from '../../common/platform/messaging/messages.ts';
import type { Messenger } from '../../common/platform/messaging/messenger.ts';
import { createAgentConnections } from '../../common/records/auth/agent-connections.ts';
import { recordCollections } from '../../common/records/collections.ts';
import { createSessionRemoval } from '../../common/records/session-removal.ts';
import { createSessionEntries } from '../../common/records/sessions/session-entries.ts';
import { createSessions } from '../../common/records/sessions/sessions.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { appendTurn, noteOnSession } from './session-messages.ts';

const CONTEXT = { requestId: 'r', principal: ADA };
const SCOPE = { tenant: ADA.tenant };
const KEY = { user: ADA.id, session: 's1' };
const READABLE = asId<DatasetId>('readable');
const OTHER = asId<DatasetId>('other');

describe('turns of search and notes of improve', () => {
  let deps: IngestDependencies;
  /** The datasets were forgotten after they were resolved. */
  let isGone: boolean;
  beforeEach(async () => {
    isGone = false;
    const store = createMemoryDocumentStore();
    await store.prepare(recordCollections);
    const sessions = createSessions(store);
    const messenger = {
      async call(_method: unknown, { ids }: { ids: readonly string[] }) {
        if (ids[0] !== READABLE && ids[0] !== OTHER) throw engramError('PermissionDeniedError', 'not readable');
        return { datasets: [{ id: ids[0] }] };
      },
    } as unknown as Messenger;
    deps = {
      store,
      sessions,
      sessionEntries: createSessionEntries(store, sessions),
      messenger,
      connections: createAgentConnections(store),
      datasets: { get: async () => (isGone ? null : {}) },
      workQueue: { exists: async () => false },
      sessionRemoval: createSessionRemoval(store),
      clock: { now: () => new Date('2026-01-02T03:04:05Z'), monotonicMs: () => 0 },
      settings: { sessions: { enabled: true } },
    } as unknown as IngestDependencies;
  });

  const turn = (more: Partial<RequestOf<'ingest.AppendSession'>> = {}): RequestOf<'ingest.AppendSession'> => ({
    session: 's1',
    qaId: randomUUID(),
    datasetId: READABLE,
    spending: null,
    entry: {
      ...PLAIN_QA,
      question: 'Who?',
      answer: 'Ann',
      usedGraphElements: { nodeIds: ['n'] },
      usedContextIds: ['c'],
    },
    ...more,
  });
  const read = () => deps.sessions.get(SCOPE, KEY);

  it('are appended once, however often the message comes, and bind the session', async () => {
    const message = turn();
    await Promise.all([appendTurn(deps, message, CONTEXT), appendTurn(deps, message, CONTEXT)]);
    await appendTurn(deps, turn({ datasetId: null }), CONTEXT);
    expect(await read()).to.deep.include({ dataset: READABLE, qaCount: 2, label: 'Who?' });
    const [first] = await deps.sessionEntries.qasAfter(SCOPE, KEY, 0, 10);
    expect(first).to.deep.include({ id: message.qaId, usedContextIds: ['c'], usedGraphElements: { nodeIds: ['n'] } });
  });

  it('are counted with what they cost', async () => {
    const spent = { tokensIn: 10, tokensOut: 2, embeddingTokens: 3 };
    const models = { model: 'openai/small', embeddingModel: 'openai/embedder' };
    await appendTurn(deps, turn({ spending: { ...spent, ...models } }), CONTEXT);
    await appendTurn(deps, turn({ spending: { ...spent, model: null, embeddingModel: null } }), CONTEXT);
    expect(await read()).to.deep.include({
      lastModel: 'openai/small',
      lastEmbeddingModel: 'openai/embedder',
      usage: { tokensIn: 20, tokensOut: 4, embeddingTokens: 6 },
    });
  });

  it('are refused for a dataset that the principal may not read, and not stored without session memory', async () => {
    const refused = await appendTurn(deps, turn({ datasetId: 'secret' }), CONTEXT).catch((error: Error) => error.name);
    expect(refused).to.equal('PermissionDeniedError');
    const without = { ...deps, settings: { sessions: { enabled: false } } } as unknown as IngestDependencies;
    expect(await appendTurn(without, turn(), CONTEXT)).to.deep.equal({ stored: false });
    expect(await read()).to.equal(null);
  });

  it('of two datasets that open one session at the same time are not both stored in it', async () => {
    const messages = [turn(), turn({ datasetId: OTHER })];
    const answers = await Promise.all(messages.map((message) => appendTurn(deps, message, CONTEXT)));
    expect(answers).to.have.deep.members([{ stored: true }, { stored: false }]);
    const bound = await read();
    const kept = messages.filter(({ datasetId }) => datasetId === bound?.dataset);
    const entries = await deps.sessionEntries.qasAfter(SCOPE, KEY, 0, 10);
    expect(entries.map(({ id }) => id)).to.deep.equal(kept.map(({ qaId }) => qaId));
    for (const again of kept) expect(await appendTurn(deps, again, CONTEXT)).to.deep.equal({ stored: true });
  });

  it('leave no session behind of a dataset that was forgotten while they were on their way', async () => {
    await appendTurn(deps, turn(), CONTEXT);
    isGone = true;
    const refused = await appendTurn(deps, turn(), CONTEXT).catch((error: Error) => error.name);
    expect(refused).to.equal('PermissionDeniedError');
    expect(await read()).to.equal(null);
    expect(await deps.sessionEntries.lastQas(SCOPE, KEY, 10)).to.deep.equal([]);
  });

  it('are noted on, but for those that are gone', async () => {
    const messages = Array.from({ length: 3 }, () => turn());
    for (const message of messages) await appendTurn(deps, message, CONTEXT);
    const notes = [...messages.map(({ qaId }) => qaId), 'gone'].map((qaId) => ({
      qaId,
      memifyMetadata: { feedback_weights_applied: true },
      ofFeedback: null,
    }));
    expect(await noteOnSession(deps, { session: 's1', notes }, CONTEXT)).to.deep.equal({ noted: 3 });
    expect(await noteOnSession(deps, { session: 'none', notes }, CONTEXT)).to.deep.equal({ noted: 0 });
  });
});
