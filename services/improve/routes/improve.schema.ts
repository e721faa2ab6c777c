import { z } from 'zod';
import { STAGE_NAMES } from '../../common/domain/improve-stages.ts';
import {
  lenientBoolean,
  lenientNumber,
  optional,
  optionalOrBlank,
  stringList,
  uuid,
} from '../../common/platform/http/schema.ts';

/** ImprovePayloadDTO (cognify-improve.md §3.1); `reviewConflicts` is taken and has no effect. */
export const improveBody = z
  .object({
    extractionTasks: optional(stringList()),
    enrichmentTasks: optional(stringList()),
    data: optional(z.string()),
    datasetName: optional(z.string()),
    datasetId: optionalOrBlank(uuid()),
    nodeName: optional(stringList()),
    runInBackground: optional(lenientBoolean()),
    buildGlobalContextIndex: optional(lenientBoolean()),
    buildTruthSubspace: optional(lenientBoolean()),
    reviewConflicts: lenientBoolean().optional(),
    feedbackAlpha: optional(lenientNumber({ above: 0, max: 1 })),
    sessionIds: optional(stringList()),
  })
  .meta({ id: 'ImprovePayloadDTO' });

export type ImproveBody = z.output<typeof improveBody>;

const stageResult = z
  .object({
    stage: z.enum(STAGE_NAMES),
    status: z.enum(['completed', 'already_completed', 'skipped', 'errored']),
    reason: z.string().nullable().describe('Set when skipped'),
    error: z.string().nullable(),
    counts: z.record(z.string(), z.int()),
    duration_ms: z.int(),
    run: z.unknown().describe('PipelineRunInfo of a stage that is a pipeline, or null'),
  })
  .meta({ id: 'StageResult' });

export const improveAnswer = z
  .object({
    dataset_id: z.uuid().nullable(),
    dataset_name: z.string().nullable(),
    session_ids: z.array(z.string()),
    stages: z.array(stageResult).describe('One per stage, in stage order'),
    background: z.boolean(),
    finished: z.boolean(),
    error: z.string().nullable(),
    rerun_requested: z.boolean(),
    rerun_passes: z.array(z.array(stageResult)),
    memify_run: z.unknown(),
    status: z.enum(['completed', 'errored', 'skipped', 'running']),
  })
  .meta({ id: 'ImproveResult' });

/** MemifyPayloadDTO (cognify-improve.md §4). */
export const memifyBody = improveBody
  .pick({
    extractionTasks: true,
    enrichmentTasks: true,
    data: true,
    datasetName: true,
    datasetId: true,
    nodeName: true,
    runInBackground: true,
  })
  .meta({ id: 'MemifyPayloadDTO' });

export const memifyAnswer = z.record(z.string(), z.unknown()).describe('PipelineRunInfo by dataset id');
