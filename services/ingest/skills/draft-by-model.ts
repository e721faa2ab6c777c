import type { SkillRun } from '../../common/domain/skill.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { LanguageModel, ModelCallContext } from '../../common/ports/models.ts';
import { FENCE_RULE, fenced } from '../../common/text/fenced.ts';
import { type Draft, type DraftMaterial, withHeading } from './draft-procedure.ts';

const SYSTEM = `You revise the procedure of a skill that agents follow. Keep what works and its wording; change the steps that led to the failures shown, and say what to do when such a failure occurs again. Do not invent tools. Answer with the whole procedure in Markdown, a rationale of at most three sentences, and your confidence from 0 to 1 that it prevents these failures. ${FENCE_RULE}`;

const SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    proposed_procedure: { type: 'string' },
    rationale: { type: 'string' },
    confidence: { type: 'number' },
  },
  required: ['proposed_procedure', 'rationale', 'confidence'],
  additionalProperties: false,
};

/** A run in a prompt: enough to see what went wrong. */
const MAX_TEXT_LENGTH = 1500;
const MAX_TRACE_LENGTH = 30;
const MAX_PROCEDURE_LENGTH = 40_000;
const MAX_RATIONALE_LENGTH = 4000;

/** One call; its errors are final. Null when the answer holds no procedure, or the skill is too long to be shown. */
export async function draftByModel(
  model: LanguageModel,
  { skill, runs, recordedRuns, threshold }: DraftMaterial,
  context: ModelCallContext,
): Promise<Draft | null> {
  if (skill.procedure.length > MAX_PROCEDURE_LENGTH) return null;
  const prompt = [
    `The skill: ${fenced('name', skill.name)}`,
    `Its procedure:\n${fenced('procedure', skill.procedure)}`,
    `${runs.length} of its ${recordedRuns} runs had an error or scored below ${threshold}, newest first:`,
    ...runs.map((run) => fenced('run', JSON.stringify(shownRun(run)))),
  ].join('\n\n');
  const { value } = await model.structured(
    { system: SYSTEM, prompt, schema: SCHEMA, schemaName: 'SkillRevision' },
    context,
  );
  const { proposed_procedure: procedure, rationale, confidence } = value as Readonly<Record<string, unknown>>;
  if (typeof procedure !== 'string' || procedure.trim() === '' || typeof confidence !== 'number') return null;
  return {
    procedure: withHeading(skill.name, procedure),
    rationale: typeof rationale === 'string' ? rationale.slice(0, MAX_RATIONALE_LENGTH) : '',
    confidence: Math.min(1, Math.max(0, confidence)),
  };
}

function shownRun(run: SkillRun) {
  return {
    task: cut(run.taskText),
    result: cut(run.resultSummary),
    score: run.successScore,
    feedback: run.feedback,
    error_type: cut(run.errorType),
    error_message: cut(run.errorMessage),
    tools: run.toolTrace.slice(-MAX_TRACE_LENGTH).map(({ toolName, toolInput, toolOutput, success }) => ({
      tool: cut(toolName),
      success,
      input: cut(JSON.stringify(toolInput)),
      output: cut(toolOutput ?? ''),
    })),
  };
}

function cut(text: string): string {
  return text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH)}…`;
}
