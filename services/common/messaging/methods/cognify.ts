import type { DatasetRef } from '../../domain/dataset.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { RunEvent, RunOutcome, RunState, RunStatus } from '../../domain/run.ts';
import { defineMethod, defineTopic } from '../method.ts';

const codecs = () => import('../codecs/cognify.ts');

/** Options of a cognify run; null or absent means the default. */
export interface CognifyOptions {
  readonly graphModel?: JsonObject | null;
  readonly customPrompt?: string;
  readonly chunkSize?: number | null;
  readonly chunksPerBatch?: number | null;
  readonly dataPerBatch?: number;
  readonly ontologyKeys?: readonly string[];
}

export interface StartRunRequest {
  readonly dataset: DatasetRef;
  readonly options: CognifyOptions;
  readonly background: boolean;
}

export interface StartRunResponse {
  readonly run: RunState;
}

/** Records the run as STARTED and queues it; answers at once. Follow it with `runEvents` and `getRun`. */
export const startRun = defineMethod<StartRunRequest, StartRunResponse>('cognify.StartRun', () =>
  codecs().then(({ StartRun }) => StartRun),
);

export interface RecordRunRequest {
  readonly dataset: DatasetRef;
  readonly pipeline: string;
  readonly runId: string;
  readonly status: RunStatus;
  readonly items?: readonly string[];
  readonly error?: { readonly name: string; readonly message: string };
  /** Of a run that ended. Default: as the status says. */
  readonly outcome?: RunOutcome;
  readonly background?: boolean;
  /** The one session that it was about. */
  readonly session?: string;
}

/** Ingest and improve record their own pipelines here (`add_pipeline`, `improve`): cognify owns the run history. */
export const recordRun = defineMethod<RecordRunRequest, Record<string, never>>('cognify.RecordRun', () =>
  codecs().then(({ RecordRun }) => RecordRun),
);

export interface GetRunRequest {
  readonly runId: string;
}

export interface GetRunResponse {
  readonly run: RunState | null;
  readonly tenant: string | null;
}

export const getRun = defineMethod<GetRunRequest, GetRunResponse>('cognify.GetRun', () =>
  codecs().then(({ GetRun }) => GetRun),
);

export interface RunStatusesRequest {
  readonly datasets: readonly DatasetRef[];
  readonly pipelines: readonly string[];
}

export interface RunStatusesResponse {
  readonly runs: readonly RunState[];
}

/** Newest state per dataset and pipeline; pairs that never ran are absent. */
export const runStatuses = defineMethod<RunStatusesRequest, RunStatusesResponse>('cognify.RunStatuses', () =>
  codecs().then(({ RunStatuses }) => RunStatuses),
);

export interface EraseBuiltRequest {
  readonly dataset: DatasetRef;
  readonly items?: readonly string[];
  readonly memoryOnly: boolean;
}

export interface EraseBuiltResponse {
  readonly removed: JsonObject;
  readonly residue: number;
  readonly itemsReset: number;
}

/** Makes items (all when absent) invisible at once, removes what was built from them, answers how much is left. */
export const eraseBuilt = defineMethod<EraseBuiltRequest, EraseBuiltResponse>('cognify.Erase', () =>
  codecs().then(({ Erase }) => Erase),
);

/** Run events, keyed by run id; published after the state they tell of is durable, without the run's items. */
export const runEvents = defineTopic<RunEvent>('runs', () =>
  import('../codecs/run-events.ts').then(({ runEventCodec }) => runEventCodec),
);
