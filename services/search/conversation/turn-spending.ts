import type { SessionSpending } from '../../common/platform/messaging/methods/ingest.ts';
import type { ModelCallContext } from '../../common/ports/models.ts';

/** Adds up what the calls of models for one turn took. `embedder`: the name of the model that embeds. */
export function createTurnSpending(model: string | null, embedder: string) {
  let [tokensIn, tokensOut, embeddingTokens] = [0, 0, 0];
  const onUsage: NonNullable<ModelCallContext['onUsage']> = ({ inputTokens, outputTokens }, kind) => {
    if (kind === 'embedding') {
      embeddingTokens += inputTokens;
      return;
    }
    tokensIn += inputTokens;
    tokensOut += outputTokens;
  };
  return {
    onUsage,
    /** Null when no model was asked. */
    total(): SessionSpending | null {
      if (tokensIn + tokensOut + embeddingTokens === 0) return null;
      const embeddingModel = embeddingTokens === 0 ? null : embedder;
      return { model, embeddingModel, tokensIn, tokensOut, embeddingTokens };
    },
  };
}
