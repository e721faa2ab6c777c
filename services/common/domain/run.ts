import type { DataItemId, DatasetId, RunId } from '../kernel/brand.ts';
import type { JsonObject } from '../kernel/json.ts';

/** States of a pipeline run as the wire spells them; history is one record per state (cognify-improve.md §2). */
export type RunStatus = 'DATASET_PROCESSING_STARTED' | 'DATASET_PROCESSING_COMPLETED' | 'DATASET_PROCESSING_ERRORED';

/** What answers call the status of a run. */
export const RUN_STATUS_NAMES = {
  DATASET_PROCESSING_STARTED: 'PipelineRunStarted',
  DATASET_PROCESSING_COMPLETED: 'PipelineRunCompleted',
  DATASET_PROCESSING_ERRORED: 'PipelineRunErrored',
} as const satisfies Record<RunStatus, string>;
/** Origin of the request that started a run, as far as it is known. */
export const RUN_ORIGINS = ['api', 'background', 'cli', 'mcp', 'sdk'] as const;
export type RunOrigin = (typeof RUN_ORIGINS)[number];

export type RunOutcome = 'succeeded' | 'failed' | 'noop';

interface RunProgress {
  readonly completedItems: number;
  readonly totalItems: number;
  readonly currentStage: string | null;
}

/** Chunks of the items that are being built. */
export type ChunkProgress = {
  readonly completed: number;
  readonly total: number;
};

export interface RunItem {
  readonly item: DataItemId;
  readonly status: 'completed' | 'already_completed' | 'errored';
  /** Error of a failed item. Absent beyond a number of failures. */
  readonly failure?: ItemFailure;
}

/** Why an item could not be built, for people: which one it is, and what was wrong. */
export type ItemFailure = {
  readonly name: string;
  readonly errorClass: string;
  /** Scrubbed. */
  readonly message: string;
  /** It is not tried again until it is requested. */
  readonly isSetAside: boolean;
};

export interface RunState {
  readonly id: RunId;
  readonly pipeline: string;
  readonly dataset: DatasetId;
  readonly datasetName: string;
  readonly status: RunStatus;
  readonly progress: RunProgress | null;
  readonly items: readonly RunItem[];
  /** Counts of a finished run: documents, chunks, entities, relationships, duration_ms; `warnings`, texts, where there are any. */
  readonly counts: JsonObject | null;
  readonly errorClass: string | null;
  readonly errorMessage: string | null;
  /** HTTP status of the error's class, so that a blocking caller can answer with it. */
  readonly errorStatus: number | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

/** What a run has that has only begun, or that ended without an error and made nothing that is counted. */
export const NO_RESULT = {
  progress: null,
  items: [],
  counts: null,
  errorClass: null,
  errorMessage: null,
  errorStatus: null,
} as const;

/** Pushed on the bus subject of a run, after it was recorded. */
export type RunEvent =
  | { readonly kind: 'started' | 'completed' | 'errored'; readonly run: RunState }
  | {
      readonly kind: 'progress';
      readonly run: RunState;
      readonly stage: string;
      readonly stageIndex: number;
      readonly stageTotal: number;
    }
  /** Its end could not be recorded: the run stays STARTED and is resumed later. */
  | { readonly kind: 'interrupted'; readonly run: RunState; readonly reason: string };

export function isTerminal(status: RunStatus): boolean {
  return status !== 'DATASET_PROCESSING_STARTED';
}

/** Options that a finished run could not follow. */
export function warningsOfRun({ counts }: RunState): readonly string[] {
  const warnings = counts?.['warnings'];
  return Array.isArray(warnings) ? warnings.filter((text) => typeof text === 'string') : [];
}

/** The name of cognify's pipeline on the wire. */
export const COGNIFY_PIPELINE = 'cognify_pipeline';
