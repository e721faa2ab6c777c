import { expect } from 'chai';
import { createPassReads, type ImprovePass, type Stage } from '../model.ts';
import { createPersistAgentTraces } from './persist-agent-traces.ts';
import { createPersistSessionQa } from './persist-session-qa.ts';

const SESSION = {
  user: 'ada',
  session: 's1',
  startedAt: '2026-01-01T00:00:00.000Z',
  qaCount: 1,
  traceCount: 1,
  expired: { qas: 0, traces: 0 },
  nodeSets: null,
};
const QA = { number: 1, time: SESSION.startedAt, question: 'Who?', answer: 'Ada.', usedGraphElements: null };
const STEP = { number: 1, time: SESSION.startedAt, sessionFeedback: 'It went well.', methodReturnValue: null };

/** The lasting effects of a stage in their order; the stage may be killed after any of them. */
function recordedStage(kind: 'qas' | 'traces', turns: readonly object[] = [QA]) {
  const done: string[] = [];
  const texts: string[] = [];
  const watermark = { done: 0, window: null };
  const deps = {
    sessions: { getMany: async () => [{ ...SESSION, qaCount: turns.length }] },
    entries: { qasAfter: async () => turns, tracesAfter: async () => [STEP] },
    watermarks: {
      ofMany: async () => () => watermark,
      moveWrite: (_: unknown, move: { readonly done?: number }) => (move.done === undefined ? 'planned' : 'done'),
      moved: (before: object, move: object) => ({ ...before, ...move }),
    },
    store: { commit: async (_: unknown, writes: readonly string[]) => done.push(...writes) },
    messenger: {
      async call(path: string, request: { readonly documents?: readonly { text: string }[] }) {
        done.push(path);
        texts.push(...(request.documents ?? []).map(({ text }) => text));
        return { itemIds: ['item'], run: { status: 'DATASET_PROCESSING_COMPLETED', items: [] } };
      },
    },
    settings: { traceWindowSteps: 30, traceWindowsPerRun: 10 },
  } as unknown as Parameters<typeof createPersistAgentTraces>[0];
  const stage: Stage = kind === 'qas' ? createPersistSessionQa(deps) : createPersistAgentTraces(deps);
  return { stage, done, texts };
}

const PASS = {
  dataset: { id: 'notes' },
  sessions: [{ user: 'ada', session: 's1' }],
  principal: { tenant: 'acme' },
  context: {},
  signal: new AbortController().signal,
  get reads() {
    return createPassReads();
  },
} as unknown as ImprovePass;

describe('persisting entries of sessions', () => {
  for (const kind of ['qas', 'traces'] as const) {
    it(`plans a window, keeps it, and reports it to ingest before the watermark moves: ${kind}`, async () => {
      const { stage, done } = recordedStage(kind);
      expect(await stage.run(PASS)).to.include({ status: 'completed' });
      expect(done).to.deep.equal([
        ...['planned', 'ingest.KeepDocuments', 'cognify.StartRun', 'ingest.NoteOnSession', 'done'],
      ]);
    });
  }

  it('keeps statements of the user, and no acknowledgements', async () => {
    const turns = [
      { question: 'I moved to room 12.', answer: 'Noted, I will remember that you moved to room 12.' },
      { question: 'Ann leads Kestrel.', answer: 'Wonderful to hear about her!', isAcknowledgement: true },
      { question: 'The lift is broken.', answer: 'Thanks! Carla repairs it on 4 June.' },
      { question: 'Can you remember that my flight is at 9?', answer: 'Noted, your flight is at 9.' },
    ].map((turn, at) => ({ ...QA, ...turn, number: at + 1 }));
    const { stage, texts } = recordedStage('qas', turns);
    await stage.run(PASS);
    expect(texts).to.deep.equal([
      [
        'Session ID: s1',
        'Question: I moved to room 12.',
        'Question: Ann leads Kestrel.',
        ...['Question: The lift is broken.', 'Answer: Carla repairs it on 4 June.'],
        ...['Question: Can you remember that my flight is at 9?', 'Answer: Noted, your flight is at 9.', ''],
      ].join('\n\n'),
    ]);
  });
});
