import type { ModelCallContext, TokenUsage } from '../../ports/models.ts';

/** Is told of everything that the provider bills, answers that were of no use too, and may refuse a call before it is made. */
export interface UsageMeter {
  /** Throws `LLMPaymentRequiredError` when the budget of the scope is spent. */
  admit(context: ModelCallContext): Promise<void>;
  record(model: string, usage: TokenUsage, context: ModelCallContext): Promise<void>;
}

export const NO_METER: UsageMeter = { admit: async () => {}, record: async () => {} };
