import type { ModelCallContext, TokenUsage } from '../../ports/models.ts';

/** Records everything that the provider bills, unusable answers too, and may refuse a call before it is made. */
export interface UsageMeter {
  /** Throws `LLMPaymentRequiredError` when a budget of the payer is spent. */
  admit(call: ExpectedCall, context: ModelCallContext): Promise<Admission>;
}

/** Facts about a call before it is made. */
export interface ExpectedCall {
  readonly prompts: readonly string[];
  /** Requested limit. Absent: the model's. */
  readonly maxOutputTokens?: number;
}

/** A call that may be made. It ends with one of the two. */
interface Admission {
  record(model: string, usage: TokenUsage): Promise<void>;
  /** No answer came. */
  release(): Promise<void>;
}

export const NO_METER: UsageMeter = {
  admit: async () => ({ record: async () => {}, release: async () => {} }),
};

/** Makes a call that was admitted; a failure without an answer gives back what was set aside for it. */
export async function admitted<Answer>(admission: Admission, call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    await admission.release();
    throw error;
  }
}
