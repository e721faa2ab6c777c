import type { StageName } from '../common/domain/improve-stages.ts';
import type { RunState } from '../common/domain/run.ts';
import type { SessionKey } from '../common/domain/session.ts';
import type { DatasetRef } from '../common/kernel/dataset.ts';
import type { Principal } from '../common/kernel/principal.ts';
import type { CallContext } from '../common/platform/messaging/messenger.ts';
import type { CompletedRun } from '../common/platform/messaging/methods/cognify.ts';
import type { PassReads } from './engine/pass-reads.ts';

export { STAGE_NAMES, type StageName } from '../common/domain/improve-stages.ts';

/** What was asked for. */
export interface ImproveOptions {
  readonly buildTruthSubspace: boolean;
  readonly buildGlobalContextIndex: boolean;
  /** (0, 1] */
  readonly feedbackAlpha: number;
  /** Restricts triplet enrichment to these node sets; empty: all. */
  readonly nodeNames: readonly string[];
  readonly custom: CustomEnrichment | null;
}

/** Of an improve that nobody asked anything special of. */
export function defaultOptions(feedbackAlpha: number): ImproveOptions {
  return { buildTruthSubspace: false, buildGlobalContextIndex: false, feedbackAlpha, nodeNames: [], custom: null };
}

/** Tasks by name in place of the default enrichment. */
export interface CustomEnrichment {
  readonly extractionTasks: readonly string[];
  readonly enrichmentTasks: readonly string[];
  readonly data: string | null;
  /** Of the run that it makes, when somebody was told of it already. */
  readonly runId?: string;
}

/** One pass over the stages for one dataset. */
export interface ImprovePass {
  readonly dataset: DatasetRef;
  /** Of the caller. */
  readonly sessions: readonly SessionKey[];
  readonly options: ImproveOptions;
  readonly principal: Principal;
  /** Carries the principal's proof for messages. */
  readonly context: CallContext;
  /** By which the dataset is held: cognify asks for it before it writes. */
  readonly leaseToken: string;
  /** Aborted when improve has to stop. */
  readonly signal: AbortSignal;
  /** What stages read alike. */
  readonly reads: PassReads;
  /** Runs of the improve that changed nothing: recorded with the next one that is, at the latest with the improve's end. */
  readonly idleRuns: CompletedRun[];
}

/** Why a stage does not run; null when it does. */
export type GateAnswer = { readonly status: 'skipped' | 'already_completed'; readonly reason: string } | null;

export interface StageOutcome {
  readonly status: 'completed' | 'already_completed' | 'errored';
  readonly reason?: string;
  /** With status `errored`: what a caller may read. */
  readonly error?: string;
  readonly counts: Readonly<Record<string, number>>;
  /** The run that the stage made, if one did. */
  readonly run?: RunState;
  /** Nothing was written: what was read for it holds for the next stage. */
  readonly isUnchanged?: boolean;
}

/**
 * One of the nine. Stages keep what they know of their progress in their own repositories and advance it in the commit that
 * makes the work durable, so that one that died is repeated without repeating its effects.
 */
export interface Stage {
  readonly name: StageName;
  /** Skipped with `no_session_ids` without any. */
  readonly needsSessions: boolean;
  /** Asks no model and writes nothing. */
  gate(pass: ImprovePass): Promise<GateAnswer>;
  /** What it throws is reported as the stage's error; `LLMPaymentRequiredError` ends the pass. */
  run(pass: ImprovePass): Promise<StageOutcome>;
}

/** What a stage throws that had done something before it failed with `cause`: the counts are reported with the error. */
export class PartlyDoneError extends Error {
  override readonly name = 'PartlyDoneError';
  readonly counts: Readonly<Record<string, number>>;

  constructor(cause: unknown, counts: Readonly<Record<string, number>>) {
    super('A stage failed after a part of its work.', { cause });
    this.counts = counts;
  }
}
