import { z } from 'zod';
import type { SkillProposal, SkillRun, ToolCall } from '../../common/domain/skill.ts';
import type { Json, JsonObject } from '../../common/kernel/json.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { lenientInteger, lenientNumber, optional } from '../../common/platform/http/schema.ts';
import { readImprovement } from '../skills/improvement-options.ts';
import { type RunRequest, recordSkillRun } from '../skills/record-skill-run.ts';
import { checkSize, type EntryKind } from './entry-kind.ts';

const DEFAULT_SCORE = 0.5;
const MAX_RUN_ID_LENGTH = 1000;
const MAX_STEPS = 10_000;

export const skillRunSchema = z
  .object({
    type: z.literal('skill_run'),
    run_id: optional(z.string()),
    selected_skill_id: z.string(),
    task_text: z.string().default(''),
    result_summary: z.string().default(''),
    success_score: optional(lenientNumber({ min: 0, max: 1 })),
    feedback: lenientNumber({ min: -1, max: 1 }).default(0),
    error_type: z.string().default(''),
    error_message: z.string().default(''),
    started_at_ms: lenientInteger({ min: 0 }).default(0),
    latency_ms: lenientInteger({ min: 0 }).default(0),
    candidate_skill_ids: z.array(z.string()).default([]),
    task_pattern_id: z.string().default(''),
    router_version: z.string().default(''),
    tool_trace: z.array(z.record(z.string(), z.unknown())).default([]),
    node_set: z.string().default('skills'),
  })
  .meta({ id: 'SkillRunEntry' });
type SkillRunInput = z.output<typeof skillRunSchema>;

/** The schema takes any object for a step; a step that is none has its own answer (ingest.md §3.2). */
const stepSchema = z.object({
  tool_name: z.string().refine((name) => name.trim() !== ''),
  tool_input: z.record(z.string(), z.unknown()).nullish(),
  tool_output: z.string().nullish(),
  success: z.boolean().default(true),
  duration_ms: lenientInteger({ min: 0 }).default(0),
});

/** How a skill did. */
export const skillRunKind: EntryKind<SkillRunInput> = {
  needsSession: false,
  needsDataset: true,
  check(entry) {
    checkSize(entry);
    toolTrace(entry);
    if (entry.run_id !== undefined && !isRunId(entry.run_id)) throw invalid();
  },
  async store(dependencies, request) {
    const { entry, principal, dataset, target, context } = request;
    const { run, proposal } = await recordSkillRun(dependencies, {
      principal,
      dataset,
      context,
      selectedSkill: entry.selected_skill_id,
      run: newRun(entry, entry.run_id ?? context.operationId ?? dependencies.ids.uuid(), target?.key.session ?? null),
      improvement: readImprovement(request.skillImprovement),
    });
    const items = [presentRun(run), ...(proposal === null ? [] : [presentProposal(proposal)])];
    return { status: 'completed', entryId: run.runId, items };
  },
};

function newRun(entry: SkillRunInput, runId: string, session: string | null): RunRequest['run'] {
  return {
    runId,
    session,
    toolTrace: toolTrace(entry),
    taskText: entry.task_text,
    resultSummary: entry.result_summary,
    successScore: entry.success_score ?? DEFAULT_SCORE,
    feedback: entry.feedback,
    errorType: entry.error_type,
    errorMessage: entry.error_message,
    startedAtMs: entry.started_at_ms,
    latencyMs: entry.latency_ms,
    candidateSkillIds: entry.candidate_skill_ids,
    taskPatternId: entry.task_pattern_id,
    routerVersion: entry.router_version,
    nodeSet: entry.node_set,
  };
}

function toolTrace(entry: SkillRunInput): readonly ToolCall[] {
  if (entry.tool_trace.length > MAX_STEPS) throw invalid();
  return entry.tool_trace.map((step) => {
    const read = stepSchema.safeParse(step);
    if (!read.success) throw invalid();
    const { tool_name: toolName, tool_input: input, tool_output: output, success, duration_ms: durationMs } = read.data;
    return { toolName, toolInput: (input ?? null) as Json, toolOutput: output ?? null, success, durationMs };
  });
}

function isRunId(id: string): boolean {
  return id.trim() !== '' && id.length <= MAX_RUN_ID_LENGTH;
}

function presentRun(run: SkillRun): JsonObject {
  return {
    kind: 'skill_run',
    run_id: run.runId,
    selected_skill_id: run.skill,
    selected_skill_name: run.skillName,
    success_score: run.successScore,
  };
}

function presentProposal({ id, skillName, status }: SkillProposal): JsonObject {
  return { kind: 'skill_improvement_proposal', proposal_id: id, skill_name: skillName, status };
}

function invalid(): HttpError {
  return new HttpError(400, { error: 'Invalid remember request.' });
}
