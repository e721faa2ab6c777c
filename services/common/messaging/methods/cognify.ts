import type { DatasetRef } from '../../domain/dataset.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Principal } from '../../domain/principal.ts';
import type { RunEvent, RunState, RunStatus } from '../../domain/run.ts';
import { defineMethod, defineTopic } from '../method.ts';

/** Options of a cognify run; null or absent means the default. */
export interface CognifyOptions {
  readonly graphModel?: JsonObject | null;
  readonly customPrompt?: string;
  readonly chunkSize?: number | null;
  readonly chunksPerBatch?: number | null;
  readonly dataPerBatch?: number;
  readonly ontologyKeys?: readonly string[];
}

/** Records the run as STARTED and queues it; answers at once. Follow it with `runEvents` and `getRun`. */
export const startRun = defineMethod<
  {
    readonly principal: Principal;
    readonly dataset: DatasetRef;
    readonly options: CognifyOptions;
    readonly background: boolean;
  },
  { readonly run: RunState }
>('cognify', 'StartRun');

/** Ingest records its own pipelines here (`add_pipeline`): cognify owns the run history. */
export const recordRun = defineMethod<
  {
    readonly principal: Principal;
    readonly dataset: DatasetRef;
    readonly pipeline: string;
    readonly runId: string;
    readonly status: RunStatus;
    readonly items?: readonly string[];
    readonly error?: { readonly name: string; readonly message: string };
  },
  Record<string, never>
>('cognify', 'RecordRun');

export const getRun = defineMethod<
  { readonly runId: string },
  { readonly run: RunState | null; readonly tenant: string | null }
>('cognify', 'GetRun');

/** Newest state per dataset and pipeline; pairs that never ran are absent. */
export const runStatuses = defineMethod<
  { readonly datasets: readonly DatasetRef[]; readonly pipelines: readonly string[] },
  { readonly runs: readonly RunState[] }
>('cognify', 'RunStatuses');

/** Which items have a committed generation of their present content. */
export const itemsBuilt = defineMethod<
  { readonly dataset: DatasetRef; readonly items: readonly string[] },
  { readonly built: readonly string[] }
>('cognify', 'ItemsBuilt');

/** Makes items (all when absent) invisible at once, removes what was built from them, answers how much is left. */
export const eraseBuilt = defineMethod<
  { readonly dataset: DatasetRef; readonly items?: readonly string[]; readonly memoryOnly: boolean },
  { readonly removed: JsonObject; readonly residue: number; readonly itemsReset: number }
>('cognify', 'Erase', 120_000);

/** Run events, keyed by run id; published after the state they tell of is durable. */
export const runEvents = defineTopic<RunEvent>('runs');
