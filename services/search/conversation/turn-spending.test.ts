import { expect } from 'chai';
import { createTurnSpending } from './turn-spending.ts';

describe('what a turn costs', () => {
  it('is nothing when no provider counted anything', () => {
    expect(createTurnSpending('openai/small', 'hashing').total()).to.equal(null);
  });

  it('names the embedder only when its provider counted tokens', () => {
    const asked = createTurnSpending('openai/small', 'openai/embedder');
    asked.onUsage({ inputTokens: 7, outputTokens: 3 }, 'language');
    expect(asked.total()).to.include({ model: 'openai/small', embeddingModel: null, tokensIn: 7, tokensOut: 3 });
    asked.onUsage({ inputTokens: 5, outputTokens: 0 }, 'embedding');
    expect(asked.total()).to.include({ embeddingModel: 'openai/embedder', embeddingTokens: 5, tokensIn: 7 });
  });
});
