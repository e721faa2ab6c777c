import type { TripletPayload } from '../../common/domain/index-rows.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { NEUTRAL_WEIGHT } from '../../common/records/improve/element-weights.ts';
import { NOTHING_FITS } from '../../common/text/repetition/own-answers.ts';
import { agentAnswer } from '../agentic/agent-answer.ts';
import { recordUsedSkills } from '../agentic/record-used-skills.ts';
import { openToolbox, type Toolbox } from '../agentic/toolbox.ts';
import { graphContext, plainContext, sectionedContext } from '../answers/contexts.ts';
import { evidenceBlock } from '../answers/evidence-block.ts';
import { extractiveAnswer } from '../answers/extractive.ts';
import { type Knowledge, knowledgeAround } from '../answers/knowledge.ts';
import { type AnswerPrompt, modelAnswer } from '../answers/model-answer.ts';
import { packPassages } from '../answers/passage-context.ts';
import { DEFAULT_SYSTEM_PROMPT, type PromptKind, preferencesText, userPrompt } from '../answers/prompt.ts';
import { usedElements } from '../answers/used-elements.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { gatherForTurn, type TurnMaterial } from '../conversation/gather-for-turn.ts';
import { historyText, withHistory } from '../conversation/history.ts';
import { cypherSearch, modelNeeded } from '../cypher/cypher-search.ts';
import type { SearchDependencies } from '../dependencies.ts';
import { currentRows } from '../hygiene/current-rows.ts';
import { CURRENT, type TimeView } from '../hygiene/time-view.ts';
import type { InfluenceWish } from '../retrieval/learned-elements.ts';
import type { RankedPassage } from '../retrieval/retrieval.ts';
import { type AnsweredType, type CompletionType, isCompletion, isQuery } from '../search-types.ts';
import { offeredFor, skillsGuidance, withSkills } from '../skills/skill-gate.ts';
import type { FoundSkill } from '../skills/skill-index.ts';
import {
  gatherPassages,
  hybridRows,
  lexicalChunks,
  nearestChunks,
  type QueryVector,
  type ScoredRow,
  summaries,
} from './material.ts';
import type { ConversationTurn, SearchOutcome } from './search-outcome.ts';
import { MAX_TOP_K, type SearchRequest } from './search-request.ts';
import {
  globalContextFor,
  isWeighedByTruth,
  TRUTH_REACH,
  weighedByTruth,
  withGlobalContext,
} from './structure-influence.ts';

/** Results when the caller names no number (search-recall.md §1.6). */
const DEFAULT_TOP_K: Readonly<Record<AnsweredType, number>> = {
  CHUNKS: MAX_TOP_K,
  SUMMARIES: MAX_TOP_K,
  CHUNKS_LEXICAL: 500,
  RAG_COMPLETION: 1,
  CYPHER: MAX_TOP_K,
  NATURAL_LANGUAGE: MAX_TOP_K,
  SKILLS: 10,
  HYBRID_COMPLETION: 5,
  GRAPH_COMPLETION: 5,
  TRIPLET_COMPLETION: 5,
  AGENTIC_COMPLETION: 5,
};

const PROMPT_KIND: Readonly<Record<CompletionType, PromptKind>> = {
  RAG_COMPLETION: 'plain',
  TRIPLET_COMPLETION: 'plain',
  GRAPH_COMPLETION: 'graph',
  HYBRID_COMPLETION: 'sections',
  AGENTIC_COMPLETION: 'graph',
};

export interface SearchTarget {
  readonly dataset: DatasetRef;
  readonly type: AnsweredType;
  readonly vector: QueryVector;
  /** That the question is a turn of; completions alone know of it. */
  readonly conversation: Conversation | null;
  readonly influence: InfluenceWish;
}

/** One type of search over one dataset. An empty outcome says that nothing was found, not why. */
export async function runSearch(
  deps: SearchDependencies,
  request: SearchRequest,
  target: SearchTarget,
): Promise<SearchOutcome> {
  const { type, dataset, vector } = target;
  const limit = Math.min(request.topK ?? DEFAULT_TOP_K[type], MAX_TOP_K);
  switch (type) {
    case 'CHUNKS': {
      const { passages } = await gatherPassages(deps, request, { ...target, limit });
      const ranked = passages.map(asScoredRow);
      const rest = await nearestChunks(deps, request, {
        dataset,
        vector,
        limit,
        known: new Set(passages.map(({ id }) => id)),
      });
      const current = await currentRows(deps, request, dataset, rest);
      return rowsOutcome(deps, dataset, type, [...ranked, ...current]);
    }
    case 'CHUNKS_LEXICAL':
      return rowsOutcome(
        deps,
        dataset,
        type,
        await currentRows(deps, request, dataset, await lexicalChunks(deps, request, { dataset, limit })),
      );
    case 'SUMMARIES':
      return rowsOutcome(
        deps,
        dataset,
        type,
        await currentRows(deps, request, dataset, await summaries(deps, request, { dataset, vector, limit })),
      );
    case 'CYPHER':
    case 'NATURAL_LANGUAGE':
      return cypherSearch(deps, request, { dataset, type });
    case 'SKILLS': {
      const skills = await deps.skills.find(scopeOf(dataset), request.query);
      return { kind: 'skills', type, skills: skills.slice(0, limit) };
    }
    case 'AGENTIC_COMPLETION':
      return agenticCompletion(deps, request, { ...target, limit });
    case 'TRIPLET_COMPLETION':
      return tripletCompletion(deps, request, { ...target, limit });
    default:
      return completion(deps, request, { ...target, limit, type });
  }
}

function asScoredRow(passage: RankedPassage, index: number) {
  const distance = passage.similarity === null ? null : 1 - passage.similarity;
  return { row: passage.row, distance, rank: index + 1, passage };
}

async function rowsOutcome(
  { learned }: Pick<SearchDependencies, 'learned'>,
  dataset: DatasetRef,
  type: 'CHUNKS' | 'CHUNKS_LEXICAL' | 'SUMMARIES',
  rows: readonly (ScoredRow & { readonly passage?: RankedPassage })[],
): Promise<SearchOutcome> {
  const weights = await learned.feedbackWeights(
    scopeOf(dataset),
    rows.map(({ row }) => row.id),
  );
  const found = rows.map((scored) => ({
    ...scored,
    passage: scored.passage ?? null,
    feedbackWeight: weights.get(scored.row.id) ?? NEUTRAL_WEIGHT,
  }));
  return { kind: 'rows', type, rows: found };
}

interface CompletionTarget extends Omit<SearchTarget, 'type'> {
  readonly limit: number;
}

async function completion(
  deps: SearchDependencies,
  request: SearchRequest,
  target: CompletionTarget & { readonly type: CompletionType },
): Promise<SearchOutcome> {
  const material = await weighedMaterial(deps, request, target);
  const passages = packPassages(material.retrieval.passages);
  const view = request.view ?? CURRENT;
  const { context, knowledge } = await contextOf(deps, { ...target, passages, material, view });
  const globalContext = await globalContextFor(deps, request, target);
  const structure = globalContext.length === 0 ? {} : { globalContext };
  const shown = { context: withGlobalContext(context, globalContext), knowledge, structure };
  return answered(deps, request, { ...target, material, passages, ...shown });
}

/** What memory holds, with skills and tools to work with; without a model, quotes and the skills that were asked for. */
async function agenticCompletion(
  deps: SearchDependencies,
  request: SearchRequest,
  target: CompletionTarget,
): Promise<SearchOutcome> {
  const type = 'AGENTIC_COMPLETION';
  const material = await gatherForTurn(deps, request, target);
  const passages = packPassages(material.retrieval.passages);
  const view = request.view ?? CURRENT;
  const { context, knowledge } = await contextOf(deps, { ...target, type, passages, material, view });
  const toolbox = await openToolbox(deps, request, target);
  const shown = `Memory:\n${context === '' ? '(nothing fits)' : context}\n${toolbox.catalogue}`;
  const found = { material, passages, knowledge, structure: {}, toolbox };
  return answered(deps, request, { ...target, type, ...found, context: shown });
}

async function weighedMaterial(
  deps: SearchDependencies,
  request: SearchRequest,
  target: CompletionTarget & { readonly type: CompletionType },
): Promise<TurnMaterial> {
  if (!isWeighedByTruth(request, target)) return gatherForTurn(deps, request, target);
  const wider = { ...target, limit: Math.min(target.limit * TRUTH_REACH, MAX_TOP_K) };
  const material = await gatherForTurn(deps, request, wider);
  const passages = await weighedByTruth(deps, target, material.retrieval.passages);
  return { ...material, retrieval: { ...material.retrieval, passages } };
}

/** Facts shown in the sections; the wire caps lanes at ten. */
const MAX_ENTITIES = 10;
const FACTS_PER_ENTITY = 6;

async function contextOf(
  deps: SearchDependencies,
  target: CompletionTarget & {
    readonly type: CompletionType;
    readonly passages: readonly RankedPassage[];
    readonly material: TurnMaterial;
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

/** Answers from the triplets that improve has made, by words and vectors; without any it is GRAPH_COMPLETION. */
async function tripletCompletion(
  deps: SearchDependencies,
  request: SearchRequest,
  target: CompletionTarget,
): Promise<SearchOutcome> {
  const rows = await tripletRows(deps, request, target);
  if (rows.length === 0) return completion(deps, request, { ...target, type: 'GRAPH_COMPLETION' });
  const context = rows.map(({ row }) => (row.payload as TripletPayload).text).join('\n');
  const { retrieval } = await gatherPassages(deps, request, target);
  const stated = new Set(rows.map(({ row }) => (row.payload as TripletPayload).chunkId));
  const passages = retrieval.passages.filter((passage) => stated.has(passage.id));
  const supported = passages.length > 0 ? passages : packPassages(retrieval.passages);
  const material = { query: request.query, retrieval, found: [] };
  const conversation = target.conversation === null ? null : { ...target.conversation, lookup: null };
  const shown = { passages: supported, context, knowledge: null, structure: { triplets: rows } };
  return answered(deps, request, { ...target, type: 'TRIPLET_COMPLETION', ...shown, material, conversation });
}

async function tripletRows(
  deps: SearchDependencies,
  request: SearchRequest,
  target: CompletionTarget,
): Promise<readonly ScoredRow[]> {
  const { nodeSets } = request;
  const inSets = nodeSets === undefined ? {} : { nodeSets };
  const found = await hybridRows(deps, request, { ...target, kind: 'triplet', ...inSets });
  return currentRows(deps, request, target.dataset, found);
}

interface AnswerMaterial extends Pick<SearchTarget, 'dataset' | 'influence'> {
  readonly type: CompletionType;
  readonly passages: readonly RankedPassage[];
  readonly material: TurnMaterial;
  readonly context: string;
  readonly knowledge: Knowledge | null;
  readonly conversation: Conversation | null;
  /** What improve has built that the context is made from. */
  readonly structure: Pick<Extract<SearchOutcome, { kind: 'completion' }>, 'globalContext' | 'triplets'>;
  /** What an agent works with. */
  readonly toolbox?: Toolbox;
}

async function answered(
  deps: SearchDependencies,
  request: SearchRequest,
  shown: AnswerMaterial,
): Promise<SearchOutcome> {
  const { type, passages, material, context, knowledge, conversation } = shown;
  const turn = conversation === null ? {} : { turn: turnOf(conversation, material) };
  const base = { kind: 'completion' as const, type, context, passages, ...turn, ...shown.structure };
  if (context === '') return { ...base, answer: null, prompt: null };
  const question = userPrompt(PROMPT_KIND[type], request.query, context);
  const stated = await deps.learned.statedPreferences(scopeOf(shown.dataset), shown.influence);
  const { toolbox } = shown;
  // An agent's skills stand in its context.
  const offered = toolbox === undefined ? await offeredFor(deps, shown.dataset, request.query) : [];
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
  const { text, structured, quoted } = await answerOf(deps, request, { ...shown, prompt, offered });
  const read = withFound(passages, toolbox?.found() ?? []);
  const used = quoted?.length === 0 ? {} : { used: usedElements(read, knowledge, quoted) };
  const outcome = { ...base, ...used, passages: read, prompt };
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
  /** Skills for a question that asks for one. */
  readonly offered: readonly FoundSkill[];
}

/** `quoted`: ids of the passages that it quotes; null when a model wrote it. */
async function answerOf(
  deps: SearchDependencies,
  request: SearchRequest,
  { dataset, material, passages, prompt, offered, toolbox }: AnswerMaterial & AnswerCall,
) {
  const { languageModel, settings, clock } = deps;
  if (languageModel === null) {
    const { text, passageIds } = extractiveAnswer(material.query, material.retrieval, passages);
    return { text: withSkills(text, toolbox?.skills ?? offered), structured: null, quoted: passageIds };
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

function turnOf({ key, turns, guidance, lookup }: Conversation, { found }: TurnMaterial): ConversationTurn {
  const session = key.session;
  return { session, turns: turns.length, lookup: lookup?.query ?? null, found, contextIds: guidance?.ids ?? [] };
}

/** `top_k` below 1, a blank query for a type that needs one, an answer that needs a model which is not there: 422. */
export function checkRequest(deps: SearchDependencies, request: SearchRequest, type: AnsweredType): void {
  if (request.topK !== null && request.topK <= 0) {
    throw engramError('QueryValidationError', 'top_k must be a positive integer.');
  }
  const needsWords = type !== 'CHUNKS_LEXICAL' && type !== 'SKILLS' && !isQuery(type);
  if (needsWords && request.query.trim() === '') {
    throw engramError('QueryValidationError', 'The query must be a non-empty string.');
  }
  const mayAskModel = isCompletion(type) || type === 'NATURAL_LANGUAGE';
  if (request.onlyContext || !mayAskModel || deps.languageModel !== null) return;
  const { missingModelKey } = deps;
  if (missingModelKey !== null) throw engramError('LLMAPIKeyNotSetError', missingModelKey);
  if (type === 'NATURAL_LANGUAGE') throw modelNeeded();
  if (request.responseSchema !== null) {
    throw engramError('CogneeValidationError', 'response_schema needs a language model, and none is configured.');
  }
}
