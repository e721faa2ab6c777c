import type { Payer } from '../domain/budget.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Scope } from '../kernel/scope.ts';
import type { VectorSpace } from '../storage/ports/vector-index.ts';

/** Purpose and payer of a call. `runId` groups the calls of a run. */
export interface ModelCallContext {
  readonly scope: Scope;
  readonly purpose: 'extraction' | 'summarisation' | 'query';
  readonly runId?: string;
  /** Payer; absent for calls of the service itself. */
  readonly payer?: Payer;
  readonly signal?: AbortSignal;
  /** Called with the usage of each billed answer, so that a run knows its own usage. */
  readonly onUsage?: (usage: TokenUsage, kind: ModelKind) => void;
  /** Sampling of this call; overrides the server's settings. */
  readonly sampling?: Sampling;
}

export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly seed?: number;
  readonly maxOutputTokens?: number;
}

export type ModelKind = 'language' | 'embedding';

export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/**
 * A text model. Transient failures are retried inside; what comes out is final: `LLMPaymentRequiredError` (402: budget or
 * provider payment), `TooManyRequestsError` (429 that outlived the retries), `LLMQuotaExceededError`,
 * `ServiceUnavailableError`. Each failure that the provider bills is metered too.
 */
export interface LanguageModel {
  /** Provider and model, for example `openai/gpt-5-mini`. */
  readonly name: string;
  text(
    call: { readonly system: string; readonly prompt: string; readonly maxOutputTokens?: number },
    context: ModelCallContext,
  ): Promise<{ readonly text: string; readonly usage: TokenUsage }>;
  /** An instance of the JSON schema, checked. Falls back json_schema → tool → JSON in text, and repairs with the error text. */
  structured(
    call: {
      readonly system: string;
      readonly prompt: string;
      readonly schema: JsonObject;
      readonly schemaName: string;
    },
    context: ModelCallContext,
  ): Promise<{ readonly value: unknown; readonly usage: TokenUsage }>;
  stream(call: { readonly system: string; readonly prompt: string }, context: ModelCallContext): AsyncIterable<string>;
}

export interface Embedder {
  readonly space: VectorSpace;
  /** Greatest number of tokens of one text; longer ones are cut. */
  readonly maxInputTokens: number;
  /** One unit-length vector per text, in order. An empty text gives a zero vector. */
  embed(texts: readonly string[], context: ModelCallContext): Promise<readonly Float32Array[]>;
}
