import type { TripletPayload } from '../../../domain/index-rows.ts';
import type { RunEvent, RunOutcome, RunState, RunStatus } from '../../../domain/run.ts';
import type { DataItemId } from '../../../kernel/brand.ts';
import type { DatasetRef } from '../../../kernel/dataset.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Provenance } from '../../../storage/ports/index-entry.ts';
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
  /** The graph model and the prompt that this item was built with are used, unless others are given. */
  readonly likeItem?: DataItemId;
}

export interface StartRunRequest {
  readonly dataset: DatasetRef;
  readonly options: CognifyOptions;
  readonly background: boolean;
  /** ISO-8601, a time of the schedule of the dataset: one run is started for it, and answered whoever asks again. */
  readonly dueAt?: string;
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
  /** Of the same dataset; with the end of this one, in the same commit. */
  readonly completedBefore?: readonly CompletedRun[];
  /** Of a run that starts: the job of the caller that will end it, also after a restart. */
  readonly jobId?: string;
}

export interface CompletedRun {
  readonly pipeline: string;
  readonly runId: string;
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

/** An edge as a text of its own. */
export interface PatchedTriplet {
  readonly ordinal: number;
  readonly payload: TripletPayload;
  readonly nodeSets: readonly string[];
}

/** What is added to one generation of an item, and goes with it. */
export interface ItemPatch extends Provenance {
  readonly triplets: readonly PatchedTriplet[];
}

/** Of one patch: `triplets` of all of its items, and as many generations that are gone. */
export const MAX_PATCH_ROWS = 1000;

export interface ApplyGraphPatchRequest {
  readonly dataset: DatasetRef;
  /** Of the improve that sends it, which must hold the dataset. */
  readonly leaseToken: string;
  readonly items: readonly ItemPatch[];
  /** Generations that nobody sees any more, of which something may be left. */
  readonly gone: readonly Provenance[];
}

export interface ApplyGraphPatchResponse {
  /** Items whose generation is not the committed one any more: nothing of the patch is kept for them. */
  readonly lostItems: readonly DataItemId[];
}

/**
 * What improve adds to the graph and the indexes, and removes from them. Repeating it is harmless. `ConflictError` when the
 * improve does not hold the dataset any more: then nothing is written.
 */
export const applyGraphPatch = defineMethod<ApplyGraphPatchRequest, ApplyGraphPatchResponse>(
  'cognify.ApplyGraphPatch',
  () => codecs().then(({ ApplyGraphPatch }) => ApplyGraphPatch),
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
