import type { Payer } from '../common/domain/budget.ts';
import type { ChunkProgress, RunItem, RunOrigin, RunOutcome, RunState } from '../common/domain/run.ts';
import type { DataItemId, RunId } from '../common/kernel/brand.ts';
import type { DatasetRef } from '../common/kernel/dataset.ts';
import type { JsonObject } from '../common/kernel/json.ts';
import type { Principal } from '../common/kernel/principal.ts';
import type { DatasetScope } from '../common/kernel/scope.ts';
import type { ModelKind, TokenUsage } from '../common/ports/models.ts';
import type { RunExtraction } from '../common/records/cognify/runs.ts';
import type { Write } from '../common/storage/ports/document-store.ts';

/** The work of one kind of run. After a crash a run is executed again; it must continue where it stopped. */
export interface RunExecutor {
  /** Kind of the job, for example `cognify`. */
  readonly kind: string;
  /** Executes the run, which is then COMPLETED; an error that it throws ends the run as ERRORED with that error. */
  execute(run: ActiveRun): Promise<RunReport>;
}

export interface ActiveRun {
  readonly id: RunId;
  readonly pipeline: string;
  readonly dataset: DatasetRef;
  readonly scope: DatasetScope;
  /** Authorised when the run was claimed. */
  readonly principal: Principal;
  /** The budgets that its model calls are charged to: those of the request that started it, including its API key. */
  readonly payer: Payer;
  readonly options: JsonObject;
  /** Aborted when the run is cancelled, the server stops, or another worker took the run over: roll back and end. */
  readonly signal: AbortSignal;
  /**
   * The run is postponed when it ends with a transient error: a store or a provider that does not answer. The last of its
   * claims without progress ends it.
   */
  readonly isResumable: boolean;
  /** Sets the items of the run, in the order of the result. Called once, before `itemEnded`. */
  plan(items: readonly DataItemId[]): void;
  /** Reports the progress of an item with many chunks; written about once a second. */
  chunksBuilt(item: DataItemId, chunks: ChunkProgress): Promise<void>;
  /** Counts an item, whatever its outcome, and notifies subscribers of the stage that it left; null: nothing was done. */
  itemEnded(outcome: RunItem, stage: StagePosition | null): Promise<void>;
  /** Leaves an item that no longer exists out of result and progress. */
  drop(item: DataItemId): void;
  /**
   * Commits an item, which counts as progress of the run. `LeaseLostError`, with nothing written, when another worker has the
   * run; `VersionConflictError` as the writes say.
   */
  commit(writes: readonly Write[]): Promise<void>;
  /** Adds the usage of a model call to the run; the `onUsage` of its calls. */
  meter(usage: TokenUsage, kind: ModelKind): void;
}

export interface StagePosition {
  /** Task name as the wire shows it. */
  readonly name: string;
  /** 1-based. */
  readonly index: number;
  readonly total: number;
}

export interface RunReport {
  /** Shown to clients; durations are added by the engine. */
  readonly counts: JsonObject;
  /** Default `succeeded`. */
  readonly outcome?: RunOutcome;
  /** Error of some of its items, for the history: the run is COMPLETED with errors. */
  readonly itemError?: { readonly errorClass: string; readonly message: string };
}

export interface RunRequest {
  readonly pipeline: string;
  readonly principal: Principal;
  readonly dataset: DatasetRef;
  readonly options: JsonObject;
  readonly background: boolean;
  /** Kept with the run after its job is removed. */
  readonly extraction?: RunExtraction;
  readonly origin?: RunOrigin;
  /** Further writes of the commit that records the run. */
  readonly also?: (run: RunId) => readonly Write[];
}

/**
 * Runs as durable jobs: one at a time per dataset, resumed under the same id when their worker is lost, always ended by a
 * terminal record.
 */
export interface RunEngine {
  start(): Promise<void>;
  /** Claims no new run, and ends or hands over those in flight. Never throws; idempotent. */
  stop(): Promise<void>;
  /**
   * Records and queues a run; durable when it resolves. `TooManyRequestsError` when the caller's budgets allow no further
   * concurrent run.
   */
  submit(request: RunRequest): Promise<RunState>;
  /** Ends the queued runs of the dataset, requests those in flight, in any process, to stop, and waits for at most `waitMs`. */
  cancelDataset(scope: DatasetScope, waitMs: number): Promise<void>;
}

/** Kind of the jobs that build a dataset. */
export const COGNIFY_JOB = 'cognify';
