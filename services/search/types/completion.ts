import type { TripletPayload } from '../../common/domain/index-rows.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { NOTHING_FITS } from '../../common/text/repetition/own-answers.ts';
import {
  globalContextFor,
  graphContext,
  packPassages,
  plainContext,
  sectionedContext,
  withGlobalContext,
} from '../answers/contexts.ts';
import { extractiveAnswer } from '../answers/extractive.ts';
import { type Knowledge, knowledgeAround } from '../answers/knowledge.ts';
import {
  type AnswerPrompt,
  DEFAULT_SYSTEM_PROMPT,
  modelAnswer,
  type PromptKind,
  preferencesText,
  userPrompt,
} from '../answers/model-answer.ts';
import { readTables } from '../answers/read-tables.ts';
import { evidenceBlock, usedElements } from '../answers/references.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { historyText, withHistory } from '../conversation/history.ts';
import { retrieveTurnPassages, type TurnPassages } from '../conversation/turn-passages.ts';
import {
  type ConversationTurn,
  CURRENT,
  type FoundSkill,
  MAX_TOP_K,
  type RankedPassage,
  type ScoredRow,
  type SearchOutcome,
  type SearchRequest,
  type TimeView,
} from '../model.ts';
import { retrievePassages } from '../retrieval/retrieve-passages.ts';
import { hybridRows } from '../retrieval/rows.ts';
import { currentRows } from '../retrieval/superseded-statements.ts';
import { TRUTH_OVERFETCH, usesTruthWeights, weightByTruth } from '../retrieval/truth-weighting.ts';
import type { CompletionType } from '../search-types.ts';
import { agentAnswer, recordUsedSkills } from './agent.ts';
import { type ResolvedPassages, resolveInner } from './inner-answer.ts';
import { skillsGuidance, suggestedSkills, withSkills } from './skills.ts';
import type { SearchTarget, TypeDependencies } from './target.ts';
import { openToolbox, type Toolbox } from './toolbox.ts';

const PROMPT_KIND: Readonly<Record<CompletionType, PromptKind>> = {
  RAG_COMPLETION: 'plain',
  TRIPLET_COMPLETION: 'plain',
  GRAPH_COMPLETION: 'graph',
  HYBRID_COMPLETION: 'sections',
  AGENTIC_COMPLETION: 'graph',
};

interface CompletionTarget extends Omit<SearchTarget, 'type'> {
  readonly limit: number;
}

export async function completion(
  deps: TypeDependencies,
  request: SearchRequest,
  target: CompletionTarget & { readonly type: CompletionType },
): Promise<SearchOutcome> {
  const material = await resolveInner(deps, request, target, await weighedMaterial(deps, request, target));
  const passages = packPassages(material.retrieval.passages);
  const view = request.view ?? CURRENT;
  const { context, knowledge } = await contextOf(deps, { ...target, passages, material, view });
  const globalContext = await globalContextFor(deps, request, target);
  const structure = globalContext.length === 0 ? {} : { globalContext };
  const shown = { context: withGlobalContext(context, globalContext), knowledge, structure };
  return answered(deps, request, { ...target, material, passages, ...shown });
}

/** Answers with a model that uses skills and tools; without a model, with quotes and the suggested skills. */
export async function agenticCompletion(
  deps: TypeDependencies,
  request: SearchRequest,
  target: CompletionTarget,
): Promise<SearchOutcome> {
  const type = 'AGENTIC_COMPLETION';
  const material = await retrieveTurnPassages(deps, request, target);
  const passages = packPassages(material.retrieval.passages);
  const view = request.view ?? CURRENT;
  const { context, knowledge } = await contextOf(deps, { ...target, type, passages, material, view });
  const toolbox = await openToolbox(deps, request, target);
  const shown = `Memory:\n${context === '' ? '(nothing fits)' : context}\n${toolbox.catalogue}`;
  const found = { material, passages, knowledge, structure: {}, toolbox };
  return answered(deps, request, { ...target, type, ...found, context: shown });
}

async function weighedMaterial(
  deps: TypeDependencies,
  request: SearchRequest,
  target: CompletionTarget & { readonly type: CompletionType },
): Promise<TurnPassages> {
  if (!usesTruthWeights(request, target)) return retrieveTurnPassages(deps, request, target);
  const wider = { ...target, limit: Math.min(target.limit * TRUTH_OVERFETCH, MAX_TOP_K) };
  const material = await retrieveTurnPassages(deps, request, wider);
  const passages = await weightByTruth(deps, target, material.retrieval.passages);
  return { ...material, retrieval: { ...material.retrieval, passages } };
}

/** Limits of entities and facts in a context (at most ten entities by the contract). */
const MAX_ENTITIES = 10;
const FACTS_PER_ENTITY = 6;

async function contextOf(
  deps: TypeDependencies,
  target: CompletionTarget & {
    readonly type: CompletionType;
    readonly passages: readonly RankedPassage[];
    readonly material: TurnPassages;
    readonly view: TimeView;
  },
): Promise<{ readonly context: string; readonly knowledge: Knowledge | null }> {
  const { type, dataset, passages, limit } = target;
  if (type === 'RAG_COMPLETION') return { context: plainContext(passages), knowledge: null };
  const entities = Math.min(limit, MAX_ENTITIES);
  const { retrieval, query } = target.material;
  const found = { passages, retrieval, query, view: target.view };
  const knowledge = await knowledgeAround(deps, dataset, found, { entities, facts: entities * FACTS_PER_ENTITY });
  const contextOfType = type === 'HYBRID_COMPLETION' ? sectionedContext : graphContext;
  return { context: contextOfType(passages, knowledge), knowledge };
}

/** Answers from the triplets of improve, found by words and vectors; without any like GRAPH_COMPLETION. */
export async function tripletCompletion(
  deps: TypeDependencies,
  request: SearchRequest,
  target: CompletionTarget,
): Promise<SearchOutcome> {
  const rows = await tripletRows(deps, request, target);
  if (rows.length === 0) return completion(deps, request, { ...target, type: 'GRAPH_COMPLETION' });
  const context = rows.map(({ row }) => (row.payload as TripletPayload).text).join('\n');
  const retrieval = await retrievePassages(deps, request, target);
  const stated = new Set(rows.map(({ row }) => (row.payload as TripletPayload).chunkId));
  const passages = retrieval.passages.filter((passage) => stated.has(passage.id));
  const supported = passages.length > 0 ? passages : packPassages(retrieval.passages);
  const material = { query: request.query, retrieval, found: [] };
  const conversation = target.conversation === null ? null : { ...target.conversation, lookup: null };
  const shown = { passages: supported, context, knowledge: null, structure: { triplets: rows } };
  return answered(deps, request, { ...target, type: 'TRIPLET_COMPLETION', ...shown, material, conversation });
}

async function tripletRows(
  deps: TypeDependencies,
  request: SearchRequest,
  target: CompletionTarget,
): Promise<readonly ScoredRow[]> {
  const { nodeSets } = request;
  const inSets = nodeSets === undefined ? {} : { nodeSets };
  const found = await hybridRows(deps, request, { ...target, kind: 'triplet', ...inSets });
  return currentRows(deps, request, target.dataset, found);
}

interface AnswerInput extends Pick<SearchTarget, 'dataset' | 'influence' | 'isOneOfSeveral'> {
  readonly type: CompletionType;
  readonly passages: readonly RankedPassage[];
  readonly material: TurnPassages & Partial<Pick<ResolvedPassages, 'inner'>>;
  readonly context: string;
  readonly knowledge: Knowledge | null;
  readonly conversation: Conversation | null;
  /** Structures of improve in the context. */
  readonly structure: Pick<Extract<SearchOutcome, { kind: 'completion' }>, 'globalContext' | 'triplets'>;
  /** Tools of an agent. */
  readonly toolbox?: Toolbox;
}

async function answered(deps: TypeDependencies, request: SearchRequest, shown: AnswerInput): Promise<SearchOutcome> {
  const { type, passages, material, context, knowledge, conversation } = shown;
  const turn = conversation === null ? {} : { turn: turnOf(conversation, material) };
  const base = { kind: 'completion' as const, type, context, passages, ...turn, ...shown.structure };
  if (context === '') return { ...base, answer: null, prompt: null };
  const question = userPrompt(PROMPT_KIND[type], request.query, context);
  const stated = await deps.learned.statedPreferences(scopeOf(shown.dataset), shown.influence);
  const { toolbox } = shown;
  // The context of an agent already lists its skills.
  const offered = toolbox === undefined ? await suggestedSkills(deps, shown.dataset, request.query) : [];
  const guidance = [preferencesText(stated), skillsGuidance(offered), conversation?.guidance?.text ?? ''].filter(
    (part) => part !== '',
  );
  const prompt = {
    user: withHistory(
      question,
      historyText(conversation?.turns ?? [], deps.settings.historyCharacters),
      guidance.join('\n\n'),
    ),
    system: request.systemPrompt || DEFAULT_SYSTEM_PROMPT,
  };
  if (request.onlyContext) return { ...base, answer: null, prompt };
  const { text, structured, quoted, certainty } = await generateAnswer(deps, request, { ...shown, prompt, offered });
  const read = withFound(passages, toolbox?.found() ?? []);
  const used = quoted?.length === 0 ? {} : { used: usedElements(read, knowledge, quoted) };
  const outcome = { ...base, ...used, passages: read, prompt, ...(certainty === undefined ? {} : { certainty }) };
  if (structured !== null || !request.includeReferences || text === NOTHING_FITS) {
    return { ...outcome, answer: text, structured };
  }
  const block = evidenceBlock(text, read, { snippets: PROMPT_KIND[type] !== 'graph' });
  return { ...outcome, answer: text + block };
}

function withFound(passages: readonly RankedPassage[], found: readonly RankedPassage[]): readonly RankedPassage[] {
  const known = new Set(passages.map(({ id }) => id));
  return [...passages, ...found.filter(({ id }) => !known.has(id))];
}

interface AnswerCall {
  readonly prompt: AnswerPrompt;
  /** Skills suggested for a question that asks for one. */
  readonly offered: readonly FoundSkill[];
}

/** Generates the answer text. `quoted`: ids of the quoted passages; null for an answer of a model. */
async function generateAnswer(
  deps: TypeDependencies,
  request: SearchRequest,
  { dataset, isOneOfSeveral, material, passages, knowledge, prompt, offered, toolbox }: AnswerInput & AnswerCall,
) {
  const { languageModel, settings, clock } = deps;
  if (languageModel === null) {
    const tables = await readTables(deps, dataset, material.query, passages);
    const { text, passageIds, certainty } = extractiveAnswer(material.query, material.retrieval, passages, {
      tables,
      inner: material.inner ?? null,
      facts: knowledge?.facts ?? [],
      dataset: isOneOfSeveral ? dataset.name : null,
    });
    return { text: withSkills(text, toolbox?.skills ?? offered), structured: null, quoted: passageIds, certainty };
  }
  const streaming = settings.answerStreaming ?? false;
  if (toolbox !== undefined) {
    const startedMs = clock.monotonicMs();
    const answer = await agentAnswer(languageModel, request, prompt, { toolbox, streaming });
    await recordUsedSkills(deps, request, { dataset, toolbox, startedMs });
    return { ...answer, quoted: null };
  }
  return { ...(await modelAnswer(languageModel, request, prompt, { streaming })), quoted: null };
}

function turnOf({ key, turns, guidance, lookup }: Conversation, { found }: TurnPassages): ConversationTurn {
  const session = key.session;
  return { session, turns: turns.length, lookup: lookup?.query ?? null, found, contextIds: guidance?.ids ?? [] };
}
