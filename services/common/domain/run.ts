import type { DataItemId, DatasetId, RunId } from '../kernel/brand.ts';
import type { JsonObject } from '../kernel/json.ts';

/** States of a pipeline run as the wire spells them; history is one record per state (cognify-improve.md §2). */
export type RunStatus = 'DATASET_PROCESSING_STARTED' | 'DATASET_PROCESSING_COMPLETED' | 'DATASET_PROCESSING_ERRORED';
/** What the request that began a run came from, as far as it tells. */
export const RUN_ORIGINS = ['api', 'background', 'cli', 'mcp', 'sdk'] as const;
export type RunOrigin = (typeof RUN_ORIGINS)[number];

export type RunOutcome = 'succeeded' | 'failed' | 'noop';

interface RunProgress {
  readonly completedItems: number;
  readonly totalItems: number;
  readonly currentStage: string | null;
}

/** Of the items that are being built. */
export type ChunkProgress = {
  readonly completed: number;
  readonly total: number;
};

/** What one item of a run came to. */
export interface RunItem {
  readonly item: DataItemId;
  readonly status: 'completed' | 'already_completed' | 'errored';
  /** Of an errored one. Absent for the rest of very many. */
  readonly failure?: ItemFailure;
}

/** Why an item could not be built, for people: which one it is, and what was wrong. */
export type ItemFailure = {
  readonly name: string;
  readonly errorClass: string;
  /** Scrubbed. */
  readonly message: string;
  /** It is not tried again until somebody asks for it. */
  readonly isSetAside: boolean;
};

/** The newest state of a run. */
export interface RunState {
  readonly id: RunId;
  readonly pipeline: string;
  readonly dataset: DatasetId;
  readonly datasetName: string;
  readonly status: RunStatus;
  readonly progress: RunProgress | null;
  readonly items: readonly RunItem[];
  /** Of a finished run: documents, chunks, entities, relationships, duration_ms; `warnings`, texts, where there are any. */
  readonly counts: JsonObject | null;
  readonly errorClass: string | null;
  readonly errorMessage: string | null;
  /** HTTP status of the error's class, so that a blocking caller can answer with it. */
  readonly errorStatus: number | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

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
  /** Its end could not be recorded: the run stays STARTED and goes on by itself later. */
  | { readonly kind: 'interrupted'; readonly run: RunState; readonly reason: string };

export function isTerminal(status: RunStatus): boolean {
  return status !== 'DATASET_PROCESSING_STARTED';
}

/** What a finished run did not do as it was asked to. */
export function warningsOfRun({ counts }: Pick<RunState, 'counts'>): readonly string[] {
  const warnings = counts?.['warnings'];
  return Array.isArray(warnings) ? warnings.filter((text) => typeof text === 'string') : [];
}

/** The name of cognify's pipeline on the wire. */
export const COGNIFY_PIPELINE = 'cognify_pipeline';
