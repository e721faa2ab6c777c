import { expect } from 'chai';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { RequestOf } from '../../common/platform/messaging/messages.ts';
import type { Messenger } from '../../common/platform/messaging/messenger.ts';
import { createSessionWriter, createTurnSpending, type NewTurn } from './turn-recorder.ts';

describe('the session writer', () => {
  const entry = { question: 'Who?', context: '', answer: 'Ann', feedbackText: null, feedbackScore: null };
  const turn: NewTurn = {
    session: 's',
    dataset: { id: 'd1' } as DatasetRef,
    spending: null,
    entry: { ...entry, usedGraphElements: null, usedContextIds: null },
  };
  let asked: [session: string, qaId: string, dataset: string | null][];
  const writerTo = (takes: (session: string) => boolean) => {
    const messenger = {
      async call(_method: unknown, { session, qaId, datasetId }: RequestOf<'ingest.AppendSession'>) {
        asked.push([session, qaId, datasetId]);
        return { stored: takes(session) };
      },
    } as unknown as Messenger;
    return createSessionWriter(messenger, { uuid: () => 'q1', ordered: () => 'q1' });
  };
  beforeEach(() => {
    asked = [];
  });

  it('appends to the default session of the dataset when the session was bound to another one meanwhile', async () => {
    await writerTo((session) => session !== 's').append(turn, { requestId: 'r' });
    expect(asked).to.deep.equal([
      ['s', 'q1', 'd1'],
      ['default_session_d1', 'q1', 'd1'],
    ]);
  });

  it('appends once otherwise, and not again without another session', async () => {
    await writerTo(() => true).append(turn, { requestId: 'r' });
    await writerTo(() => false).append({ ...turn, session: 'default_session_d1' }, { requestId: 'r' });
    await writerTo(() => false).append({ ...turn, dataset: null }, { requestId: 'r' });
    expect(asked.map(([session]) => session)).to.deep.equal(['s', 'default_session_d1', 's']);
  });
});

describe('token usage of a turn', () => {
  it('is null when no provider reported usage', () => {
    expect(createTurnSpending('openai/small', 'hashing').total()).to.equal(null);
  });

  it('names the embedder only when its provider reported tokens', () => {
    const asked = createTurnSpending('openai/small', 'openai/embedder');
    asked.onUsage({ inputTokens: 7, outputTokens: 3 }, 'language');
    expect(asked.total()).to.include({ model: 'openai/small', embeddingModel: null, tokensIn: 7, tokensOut: 3 });
    asked.onUsage({ inputTokens: 5, outputTokens: 0 }, 'embedding');
    expect(asked.total()).to.include({ embeddingModel: 'openai/embedder', embeddingTokens: 5, tokensIn: 7 });
  });
});
