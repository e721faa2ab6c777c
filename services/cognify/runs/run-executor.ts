import type { Payer } from '../../common/domain/budget.ts';
import type { ChunkProgress, RunItem, RunOutcome } from '../../common/domain/run.ts';
import type { DataItemId, RunId } from '../../common/kernel/brand.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { ModelKind, TokenUsage } from '../../common/ports/models.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';

/** The work of one kind of run. A run may be executed several times, after a crash: it must go on where it was. */
export interface RunExecutor {
  /** Kind of the job, for example `cognify`. */
  readonly kind: string;
  /** Ends the run as COMPLETED; what it throws ends it as ERRORED, with that error. */
  execute(run: ActiveRun): Promise<RunReport>;
}

export interface ActiveRun {
  readonly id: RunId;
  readonly pipeline: string;
  readonly dataset: DatasetRef;
  readonly scope: DatasetScope;
  /** Authorised when the run was claimed. */
  readonly principal: Principal;
  /** Whose budgets its model calls count for: those of the request that started it, its API key too. */
  readonly payer: Payer;
  readonly options: JsonObject;
  /** Aborted when the run is cancelled, the server stops, or another worker took the run over. Roll back and end. */
  readonly signal: AbortSignal;
  /**
   * The run is put off and goes on later when it ends with what passes by itself: a store or a provider that does not answer.
   * Not for ever: the last of its claims without progress ends it.
   */
  readonly goesOnLater: boolean;
  /** Tells which items the run has; their order is that of the result. Once, before `itemEnded`. */
  plan(items: readonly DataItemId[]): void;
  /** Tells how far an item of many chunks is, for those who look on; about once a second is written. */
  chunksBuilt(item: DataItemId, chunks: ChunkProgress): Promise<void>;
  /** Counts an item, whatever its outcome, and tells subscribers which stage it left; null: nothing was done for it. */
  itemEnded(outcome: RunItem, stage: StagePosition | null): Promise<void>;
  /** The item exists no longer: it is left out of result and progress. */
  drop(item: DataItemId): void;
  /**
   * Commits an item: the run is known to make progress. `LeaseLostError` once another worker has the run, with nothing
   * written; `VersionConflictError` as the writes say.
   */
  commit(writes: readonly Write[]): Promise<void>;
  /** Adds what a model used to the bill of the run: what the `onUsage` of the run's model calls gets. */
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
  /** What went wrong with some of its items, for the history: the run is COMPLETED with errors. */
  readonly itemError?: { readonly errorClass: string; readonly message: string };
}
