import { expect } from 'chai';
import type { Session } from '../../common/domain/session.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { costByModel } from './session-statistics.ts';

const principal = { id: asId('ada'), tenant: PERSONAL_TENANT } as unknown as Principal;

function session(facts: Partial<Session['usage']> & Pick<Session, 'lastModel' | 'lastEmbeddingModel'>): Session {
  const { lastModel, lastEmbeddingModel, ...spent } = facts;
  const nothing = { tokensIn: 0, tokensOut: 0, embeddingTokens: 0 };
  return { lastModel, lastEmbeddingModel, usage: { ...nothing, ...spent } } as unknown as Session;
}

describe('what sessions cost by model', () => {
  it('are one row per session and model, with the embedder in it; an embedder has a row where no model was used', async () => {
    const sessions = [
      session({ lastModel: 'm', lastEmbeddingModel: 'e', tokensIn: 10, tokensOut: 2, embeddingTokens: 7 }),
      session({ lastModel: 'm', tokensIn: 1, tokensOut: 1 }),
      session({ lastModel: null, lastEmbeddingModel: 'e', embeddingTokens: 5 }),
      session({ lastModel: null }),
    ];
    const dependencies = {
      clock: { now: () => new Date(), monotonicMs: () => 0 },
      settings: { sessions: { abandonAfterMs: 1 } },
      users: { childAgents: async () => [] },
      messenger: { call: async () => ({ datasets: [] }) },
      visibleSessions: {
        async *pages() {
          yield sessions;
        },
      },
    } as unknown as IngestDependencies;
    expect(await costByModel(dependencies, principal, 'all', { requestId: 'r' })).to.deep.equal([
      { model: 'm', sessions: 2, tokensIn: 11, tokensOut: 3 },
      { model: 'e', sessions: 1, tokensIn: 5, tokensOut: 0 },
    ]);
  });
});
