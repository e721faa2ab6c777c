import { payerOf } from '../../common/domain/budget.ts';
import { compareRuns, isFailing, type Skill, type SkillProposal, type SkillRun } from '../../common/domain/skill.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { closedObject } from '../../common/kernel/json.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { LanguageModel, ModelCallContext } from '../../common/ports/models.ts';
import { FENCE_RULE, fenced } from '../../common/text/fenced.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { type Draft, type DraftMaterial, draftProcedure, withHeading } from './draft-procedure.ts';
import type { Improvement } from './improvement-options.ts';

const RULES = 'engram/rules';

interface DraftRequest {
  readonly principal: Principal;
  readonly dataset: DatasetRef;
  readonly skill: Skill;
  /** The run about to be recorded; of this skill or another one. */
  readonly run: SkillRun;
  readonly options: Extract<Improvement, { kind: 'draft' }>;
  readonly context: CallContext;
}

/**
 * A proposal from the newest failing runs, not stored yet; null when none failed, or when they teach nothing new. With a
 * model one call, which may cost: its refusals for money or patience keep their status, every other failure is the contract's
 * 409.
 */
export async function draftProposal(
  dependencies: IngestDependencies,
  request: DraftRequest,
): Promise<SkillProposal | null> {
  const { models, clock, ids } = dependencies;
  const { skill } = request;
  const material = await materialOf(dependencies, request);
  if (material === null) return null;
  const { languageModel } = await models.current(request.principal.tenant);
  const byModel = languageModel === null ? null : await askModel(dependencies, languageModel, material, request);
  const { procedure, rationale, confidence } = byModel ?? draftProcedure(material);
  if (procedure === skill.procedure) return null;
  return {
    id: ids.uuid(),
    skill: skill.id,
    skillName: skill.name,
    status: 'proposed',
    confidence,
    rationale,
    modelName: byModel === null ? RULES : (languageModel?.name ?? RULES),
    oldProcedure: skill.procedure,
    proposedProcedure: procedure,
    runsUsed: material.runs.map(({ runId }) => runId),
    createdAt: clock.now().toISOString(),
    appliedAt: null,
    appliedBy: null,
  };
}

async function materialOf({ skillRuns }: IngestDependencies, { dataset, skill, run, options }: DraftRequest) {
  const { threshold, maxRuns: limit } = options;
  const [stored, count] = await Promise.all([
    skillRuns.failing(scopeOf(dataset), skill.id, { threshold, limit }),
    skillRuns.count(scopeOf(dataset), skill.id),
  ]);
  const isOwn = run.skill === skill.id;
  const others = stored.filter(({ runId }) => !(isOwn && runId === run.runId));
  const failing = isOwn && isFailing(run, threshold) ? [run, ...others] : others;
  if (failing.length === 0) return null;
  const runs = failing.toSorted(compareRuns).slice(0, limit);
  // The new run may be a stored one sent again; then it counts twice here, which changes a sentence only.
  return { skill, runs, recordedRuns: Math.max(runs.length, count + (isOwn ? 1 : 0)), threshold };
}

/** Errors that are not about the request: the caller can pay or wait. */
const KEPT_STATUSES = new Set([402, 429]);

async function askModel(
  { logger }: IngestDependencies,
  model: LanguageModel,
  material: DraftMaterial,
  { principal, context }: DraftRequest,
) {
  const { signal } = context;
  try {
    return await draftByModel(model, material, {
      scope: { tenant: principal.tenant },
      purpose: 'summarisation',
      payer: payerOf(principal),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (isEngramError(error) && KEPT_STATUSES.has(error.status)) throw error;
    logger.warn('ingest.skill.undrafted', { reason: isEngramError(error) ? error.wireName : 'unknown' });
    throw new HttpError(409, { error: 'An error occurred during remember.' }, { cause: error });
  }
}

const SYSTEM = `You revise the procedure of a skill that agents follow. Keep what works and its wording; change the steps that led to the failures shown, and say what to do when such a failure occurs again. Do not invent tools. Answer with the whole procedure in Markdown, a rationale of at most three sentences, and your confidence from 0 to 1 that it prevents these failures. ${FENCE_RULE}`;

const SCHEMA = closedObject({
  proposed_procedure: { type: 'string' },
  rationale: { type: 'string' },
  confidence: { type: 'number' },
});

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
