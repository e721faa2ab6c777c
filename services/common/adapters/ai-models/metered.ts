import { isEngramError } from '../../domain/errors.ts';
import type { LanguageModel, ModelCallContext, TokenUsage } from '../../ports/models.ts';

/** Is told of every call that the provider bills, failed ones too, and may refuse one before it is made. */
export interface UsageMeter {
  /** Throws `LLMPaymentRequiredError` when the budget of the scope is spent. */
  admit(context: ModelCallContext): Promise<void>;
  record(model: string, usage: TokenUsage, context: ModelCallContext): Promise<void>;
}

export function createMeteredLanguageModel(model: LanguageModel, meter: UsageMeter): LanguageModel {
  const metered = async <Answer extends { readonly usage: TokenUsage }>(
    context: ModelCallContext,
    call: () => Promise<Answer>,
  ): Promise<Answer> => {
    await meter.admit(context);
    try {
      const answer = await call();
      await meter.record(model.name, answer.usage, context);
      return answer;
    } catch (error) {
      const billed = isEngramError(error) ? (error.extra['usage'] as TokenUsage | undefined) : undefined;
      if (billed !== undefined) await meter.record(model.name, billed, context);
      throw error;
    }
  };
  return {
    name: model.name,
    text: (call, context) => metered(context, () => model.text(call, context)),
    structured: (call, context) => metered(context, () => model.structured(call, context)),
    async *stream(call, context) {
      await meter.admit(context);
      let length = 0;
      try {
        for await (const piece of model.stream(call, context)) {
          length += piece.length;
          yield piece;
        }
      } finally {
        // Streams of compatible servers often carry no usage: four characters a token is the usual estimate.
        const inputTokens = Math.ceil((call.system.length + call.prompt.length) / 4);
        await meter.record(model.name, { inputTokens, outputTokens: Math.ceil(length / 4) }, context);
      }
    },
  };
}
