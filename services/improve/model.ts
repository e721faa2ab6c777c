import type { StageName } from '../common/domain/improve-stages.ts';
import type { RunState } from '../common/domain/run.ts';
import type { SessionKey } from '../common/domain/session.ts';
import type { DatasetRef } from '../common/kernel/dataset.ts';
import { isEngramError } from '../common/kernel/errors.ts';
import type { Principal } from '../common/kernel/principal.ts';
import type { CompletedRun } from '../common/platform/messaging/messages.ts';
import type { CallContext } from '../common/platform/messaging/messenger.ts';

export { STAGE_NAMES, type StageName } from '../common/domain/improve-stages.ts';

export interface ImproveOptions {
  readonly buildTruthSubspace: boolean;
  readonly buildGlobalContextIndex: boolean;
  /** (0, 1] */
  readonly feedbackAlpha: number;
  /** Restricts triplet enrichment to these node sets; empty: all. */
  readonly nodeNames: readonly string[];
  readonly custom: CustomEnrichment | null;
}

/** Returns the options of an improve without special requests. */
export function defaultOptions(feedbackAlpha: number): ImproveOptions {
  return { buildTruthSubspace: false, buildGlobalContextIndex: false, feedbackAlpha, nodeNames: [], custom: null };
}

/** Named tasks in place of the default enrichment. */
export interface CustomEnrichment {
  readonly extractionTasks: readonly string[];
  readonly enrichmentTasks: readonly string[];
  readonly data: string | null;
  /** Id of the run that records it, when a client was already told it. */
  readonly runId?: string;
}

/** One pass over the stages for one dataset. */
export interface ImprovePass {
  readonly dataset: DatasetRef;
  /** Sessions of the caller. */
  readonly sessions: readonly SessionKey[];
  readonly options: ImproveOptions;
  readonly principal: Principal;
  /** Carries the principal's proof for messages. */
  readonly context: CallContext;
  /** Token of the claim on the dataset: cognify checks it before it writes. */
  readonly leaseToken: string;
  /** Aborted when the improve has to stop. */
  readonly signal: AbortSignal;
  readonly reads: PassReads;
  /** Runs of the improve that changed nothing: recorded together with the next run, at the latest with the improve's end. */
  readonly idleRuns: CompletedRun[];
}

/** Why a stage is skipped; null when it runs. */
export type GateAnswer = { readonly status: 'skipped' | 'already_completed'; readonly reason: string } | null;

export interface StageOutcome {
  readonly status: 'completed' | 'already_completed' | 'errored';
  readonly reason?: string;
  /** With status `errored`: the message for clients. */
  readonly error?: string;
  readonly counts: Readonly<Record<string, number>>;
  /** The run of the stage, if it has one. */
  readonly run?: RunState;
  /** Nothing was written, so that `PassReads` stay valid for the next stage. */
  readonly isUnchanged?: boolean;
}

/**
 * One of the nine stages. A stage keeps its progress in its own repository and advances it in the commit that makes its work
 * durable, so that a repetition after a crash does not repeat its effects.
 */
export interface Stage {
  readonly name: StageName;
  /** Decides whether the stage runs, without model calls and writes. */
  gate(pass: ImprovePass): Promise<GateAnswer>;
  /** Runs the stage. An error that it throws is reported as the stage's error; `LLMPaymentRequiredError` ends the pass. */
  run(pass: ImprovePass): Promise<StageOutcome>;
}

/** Error of a stage that had done a part of its work before it failed with `cause`; the counts are reported with the error. */
export class PartlyDoneError extends Error {
  override readonly name = 'PartlyDoneError';
  readonly counts: Readonly<Record<string, number>>;

  constructor(cause: unknown, counts: Readonly<Record<string, number>>) {
    super('A stage failed after a part of its work.', { cause });
    this.counts = counts;
  }
}

/** Values that the stages of one pass share, each read once until a stage has changed something. */
export interface PassReads {
  /** Returns the value known under this name, or reads it. A failed read is repeated by the next call. */
  once<Value>(name: string, read: () => Promise<Value>): Promise<Value>;
  forget(): void;
}

export function createPassReads(): PassReads {
  const known = new Map<string, Promise<unknown>>();
  return {
    async once<Value>(name: string, read: () => Promise<Value>) {
      const value = known.get(name) ?? read();
      known.set(name, value);
      try {
        return (await value) as Value;
      } catch (error) {
        known.delete(name);
        throw error;
      }
    },
    forget: () => known.clear(),
  };
}

/** Whether a budget is used up, the provider's or one of ours: no further model call can succeed. */
export function isBudgetError(error: unknown): boolean {
  return isEngramError(error) && error.wireName === 'LLMPaymentRequiredError';
}
