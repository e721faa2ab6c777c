import type { TripletPayload } from '../../common/domain/index-rows.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { NOTHING_FITS } from '../../common/text/repetition/own-answers.ts';
import {
  globalContextFor,
  graphContext,
  packPassages,
  plainContext,
  sectionedContext,
  withGlobalContext,
} from '../answers/contexts.ts';
import { asksForTime, datedQuotes, knownBy, rankByTime } from '../answers/dated-answer.ts';
import type { Knowledge } from '../answers/knowledge.ts';
import {
  type AnswerPrompt,
  DEFAULT_SYSTEM_PROMPT,
  modelAnswer,
  type PromptKind,
  preferencesText,
  userPrompt,
} from '../answers/model-answer.ts';
import { plainQuestion } from '../answers/plain-question.ts';
import { questionParts } from '../answers/question-parts.ts';
import { evidenceBlock, usedElements } from '../answers/references.ts';
import { soughtWith } from '../answers/sought-words.ts';
import { withSurroundings } from '../answers/surroundings.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { historyText, withHistory } from '../conversation/history.ts';
import { retrieveTurnPassages, type TurnPassages } from '../conversation/turn-passages.ts';
import {
  type ConversationTurn,
  CURRENT,
  type FoundSkill,
  MAX_TOP_K,
  type RankedPassage,
  type Reasoning,
  type ScoredRow,
  type SearchOutcome,
  type SearchRequest,
  type TimeView,
} from '../model.ts';
import type { KnowledgeLimits, QuoteOptions } from '../retrieval/retrieval.ts';
import { embedQuery, retrievePassages } from '../retrieval/retrieve-passages.ts';
import { hybridRows } from '../retrieval/rows.ts';
import { currentRows } from '../retrieval/superseded-statements.ts';
import { TRUTH_OVERFETCH, usesTruthWeights, weightByTruth } from '../retrieval/truth-weighting.ts';
import type { CompletionType } from '../search-types.ts';
import { agentAnswer, recordUsedSkills } from './agent.ts';
import { readCodeAnswer } from './code/code-question.ts';
import { type ResolvedPassages, resolveInner } from './inner-answer.ts';
import { draftAnswer, extendContext, type Gathered, partsByModel, summarised, thinkAhead } from './reasoning.ts';
import { skillsGuidance, suggestedSkills, withSkills } from './skills.ts';
import type { SearchTarget, TypeDependencies } from './target.ts';
import { temporalPassages } from './temporal.ts';
import { openToolbox, type Toolbox } from './toolbox.ts';

const PROMPT_KIND: Readonly<Record<CompletionType, PromptKind>> = {
  RAG_COMPLETION: 'plain',
  TRIPLET_COMPLETION: 'plain',
  BROAD: 'plain',
  GRAPH_COMPLETION: 'graph',
  GRAPH_COMPLETION_COT: 'graph',
  GRAPH_COMPLETION_CONTEXT_EXTENSION: 'graph',
  GRAPH_COMPLETION_DECOMPOSITION: 'graph',
  GRAPH_SUMMARY_COMPLETION: 'graph',
  AGENTIC_COMPLETION: 'graph',
  HYBRID_COMPLETION: 'sections',
  TEMPORAL: 'sections',
};

interface CompletionTarget extends Omit<SearchTarget, 'type'> {
  readonly limit: number;
}

type TypedTarget = CompletionTarget & { readonly type: CompletionType };

export async function completion(
  deps: TypeDependencies,
  asked: SearchRequest,
  target: TypedTarget,
): Promise<Completion> {
  const request = deps.languageModel === null ? { ...asked, query: plainQuestion(asked.query) } : asked;
  const sought = target.type === 'RAG_COMPLETION' ? target : { ...target, knowledge: knowledgeLimits(target) };
  const isQuoted = deps.languageModel === null && !request.onlyContext && !usesTruthWeights(request, target);
  const quoted = isQuoted ? { ...sought, quotes: quoteOptions(target) } : sought;
  const material = await resolveInner(deps, request, sought, await weighedMaterial(deps, request, quoted));
  const code = await readCodeAnswer(deps, request, target.dataset);
  if (code === null) return answerFrom(deps, request, target, { material, steps: [] });
  const shown = await shownOf(deps, request, target, material);
  const context = [code.text, shown.context].filter((part) => part !== '').join('\n\n');
  const naming = shown.passages.filter(({ payload }) => payload.text.includes(code.name));
  const ready = { text: code.text, quoted: naming.map(({ id }) => id), certainty: 1 };
  const isToldAsIs = deps.languageModel === null && (request.responseSchema ?? null) === null;
  return answered(deps, request, { ...target, ...shown, context, material, ...(isToldAsIs ? { ready } : {}) });
}

/** Answers from passages gathered in several steps: the types that look further than their first passages. */
export async function gatheredCompletion(
  deps: TypeDependencies,
  request: SearchRequest,
  target: TypedTarget,
): Promise<Completion> {
  if (target.type === 'TEMPORAL') {
    return answerFrom(deps, request, target, await temporalPassages(deps, request, target));
  }
  const { languageModel } = deps;
  const material = await retrieveTurnPassages(deps, request, target);
  const draft =
    languageModel === null
      ? null
      : async (read: TurnPassages) => {
          const { context } = await shownOf(deps, request, target, read);
          return draftAnswer(languageModel, request, await promptFor(deps, request, { ...target, context }));
        };
  const gather = target.type === 'GRAPH_COMPLETION_COT' ? thinkAhead : extendContext;
  return answerFrom(deps, request, target, await gather(deps, request, target, material, draft));
}

/** Answers from a context that a model has summarised; without one with more of its sentences (search-recall.md §3.6). */
export async function summaryCompletion(
  deps: TypeDependencies,
  request: SearchRequest,
  target: CompletionTarget,
): Promise<Completion> {
  const typed = { ...target, type: 'GRAPH_SUMMARY_COMPLETION' as const };
  const { languageModel } = deps;
  if (languageModel === null) {
    const outcome = await completion(deps, { ...request, query: topicOf(request.query) }, typed);
    const found = outcome.passages.map(({ id }) => id);
    const step = { kind: 'summary' as const, query: request.query, found, answer: null };
    return { ...outcome, reasoning: { by: 'rules', steps: [step] } };
  }
  const material = await retrieveTurnPassages(deps, request, target);
  const shown = await shownOf(deps, request, typed, material);
  if (shown.context === '') return answered(deps, request, { ...typed, ...shown, material });
  const context = await summarised(languageModel, request, shown.context);
  const found = shown.passages.map(({ id }) => id);
  const steps = [{ kind: 'summary' as const, query: request.query, found, answer: context }];
  return answered(deps, request, { ...typed, ...shown, context, material, reasoning: { by: 'model', steps } });
}

/** The question without the request for a summary, which no sentence of memory needs to have. */
function topicOf(query: string): string {
  const topic = SUMMARY_REQUEST.exec(query)?.[1];
  return topic === undefined ? query : `What do I know about ${topic.replace(/[?.!\s]+$/u, '')}?`;
}

const SUMMARY_REQUEST =
  /^\s*(?:please )?(?:(?:can|could) you )?(?:summari[sz]e|sum up|give (?:me )?(?:an? )?(?:short )?(?:summary|overview) of|(?:an? )?(?:summary|overview) of|tell me about)\s+(?:what (?:I|we|memory) (?:know|say)s? (?:about|of)\s+)?(.+)$/iu;

/** Answers the parts of a question one by one, then the whole from them; without a model names each part before its answer. */
export async function decomposedCompletion(
  deps: TypeDependencies,
  request: SearchRequest,
  target: CompletionTarget,
): Promise<Completion> {
  const type = 'GRAPH_COMPLETION_DECOMPOSITION';
  const { languageModel } = deps;
  const material = await retrieveTurnPassages(deps, request, target);
  const { passages } = material.retrieval;
  const isOneName = (phrase: string) => passages.some(({ payload }) => payload.text.includes(phrase));
  const questions =
    languageModel === null || passages.length === 0
      ? questionParts(material.query, isOneName)
      : await partsByModel(languageModel, request);
  if (passages.length === 0 || questions.length < 2) {
    const whole = await resolveInner(deps, request, target, material);
    return answerFrom(deps, request, { ...target, type }, { material: whole, steps: [] });
  }
  const by = languageModel === null ? 'rules' : 'model';
  const parts: Part[] = [];
  for (const question of questions) {
    request.context.signal?.throwIfAborted();
    const query = by === 'rules' ? withoutPronoun(question, parts.at(-1)) : question;
    const { listener: _, ...rest } = request;
    const asked = { ...rest, query, responseSchema: null, includeReferences: false };
    const vector = await embedQuery(deps, asked).of(target.dataset);
    const conversation = target.conversation === null ? null : { ...target.conversation, lookup: null };
    const typed = { ...target, type: 'GRAPH_COMPLETION' as const, vector, conversation };
    parts.push({ question, outcome: await completion(deps, asked, typed) });
  }
  const shown = joinedParts(parts);
  const steps = parts.map(({ question, outcome }) => {
    const found = outcome.passages.map(({ id }) => id);
    return { kind: 'part' as const, query: question, found, answer: outcome.answer };
  });
  const input = {
    ...target,
    type,
    ...shown,
    knowledge: null,
    material,
    structure: {},
    reasoning: { by, steps },
  } as const;
  if (by === 'model') return answered(deps, request, input);
  const { context } = shown;
  const certainties = parts.map(({ outcome }) => outcome.certainty ?? 1);
  const quoted = new Set(parts.flatMap(({ outcome }) => outcome.used?.nodeIds ?? []));
  const ready = {
    text: parts.map(({ question, outcome }) => `${question}\n${outcome.answer ?? NOTHING_FITS}`).join('\n\n'),
    quoted: shown.passages.map(({ id }) => id).filter((id) => quoted.has(id)),
    certainty: Math.max(...certainties),
  };
  const isUnanswered = parts.every(({ outcome }) => (outcome.answer ?? NOTHING_FITS) === NOTHING_FITS);
  return answered(deps, request, { ...input, context, ready: isUnanswered ? { ...ready, text: NOTHING_FITS } : ready });
}

interface Part {
  readonly question: string;
  readonly outcome: Completion;
}

function joinedParts(parts: readonly Part[]) {
  const passages = new Map(parts.flatMap(({ outcome }) => outcome.passages).map((passage) => [passage.id, passage]));
  const contexts = parts.map(({ question, outcome: { answer, context } }) => `Part: ${question}\n${answer ?? context}`);
  const isEmpty = parts.every(({ outcome }) => outcome.context === '');
  return { passages: [...passages.values()], context: isEmpty ? '' : contexts.join('\n\n') };
}

/** `When did we adopt Luna?` for `her`, once the part before it has found the name. */
function withoutPronoun(question: string, before: Part | undefined): string {
  const name = before?.outcome.short ?? null;
  if (name === null || !/^\p{Lu}/u.test(name)) return question;
  return question.replace(/ (?:he|she|him|her|it|they|them)(?=[ ?]|$)/iu, ` ${name}`);
}

/** Answers with a model that uses skills and tools; without a model, with quotes and the suggested skills. */
export async function agenticCompletion(
  deps: TypeDependencies,
  request: SearchRequest,
  target: CompletionTarget,
): Promise<Completion> {
  const type = 'AGENTIC_COMPLETION';
  const material = await retrieveTurnPassages(deps, request, target);
  const { context, ...found } = await shownOf(deps, request, { ...target, type }, material);
  const toolbox = await openToolbox(deps, request, target);
  const shown = `Memory:\n${context === '' ? '(nothing fits)' : context}\n${toolbox.catalogue}`;
  return answered(deps, request, { ...target, ...found, type, material, structure: {}, toolbox, context: shown });
}

function answerFrom(
  deps: TypeDependencies,
  request: SearchRequest,
  target: TypedTarget,
  { material, steps }: Gathered,
): Promise<Completion> {
  const reasoning = SEVERAL_STEPS.has(target.type)
    ? {
        reasoning: {
          by: deps.languageModel === null || target.type === 'TEMPORAL' ? 'rules' : 'model',
          steps,
        } as const,
      }
    : {};
  return shownOf(deps, request, target, material).then((shown) =>
    answered(deps, request, { ...target, ...shown, material, ...reasoning }),
  );
}

/** Types that look more than once, or choose among what they found. */
const SEVERAL_STEPS: ReadonlySet<CompletionType> = new Set([
  'GRAPH_COMPLETION_COT',
  'GRAPH_COMPLETION_CONTEXT_EXTENSION',
  'GRAPH_COMPLETION_DECOMPOSITION',
  'TEMPORAL',
]);

/** The passages that fit a context, the context, and the knowledge and summaries in it. */
async function shownOf(deps: TypeDependencies, request: SearchRequest, target: TypedTarget, material: TurnPassages) {
  const passages = packPassages(material.retrieval.passages);
  const view = request.view ?? CURRENT;
  const { context, knowledge } = await contextOf(deps, { ...target, passages, material, view });
  const globalContext = target.type === 'AGENTIC_COMPLETION' ? [] : await globalContextFor(deps, request, target);
  const structure = globalContext.length === 0 ? {} : { globalContext };
  return { passages, context: withGlobalContext(context, globalContext), knowledge, structure };
}

async function weighedMaterial(
  deps: TypeDependencies,
  request: SearchRequest,
  target: TypedTarget & { readonly knowledge?: KnowledgeLimits; readonly quotes?: QuoteOptions },
): Promise<TurnPassages> {
  const isAlone = deps.languageModel === null && (target.conversation?.lookup ?? null) === null;
  if (!usesTruthWeights(request, target)) {
    if (!isAlone) return retrieveTurnPassages(deps, request, target);
    const sought = { ...request, query: soughtWith(request.query) };
    return { ...(await retrieveTurnPassages(deps, sought, target)), query: request.query };
  }
  const wider = { ...target, limit: Math.min(target.limit * TRUTH_OVERFETCH, MAX_TOP_K) };
  const material = await retrieveTurnPassages(deps, request, wider);
  const passages = await weightByTruth(deps, target, material.retrieval.passages);
  return { ...material, retrieval: { ...material.retrieval, passages } };
}

/** Limits of entities and facts in a context (at most ten entities by the contract). */
const MAX_ENTITIES = 10;
const FACTS_PER_ENTITY = 6;

function knowledgeLimits({ limit }: CompletionTarget): KnowledgeLimits {
  const entities = Math.min(limit, MAX_ENTITIES);
  return { entities, facts: entities * FACTS_PER_ENTITY };
}

async function contextOf(
  deps: TypeDependencies,
  target: TypedTarget & {
    readonly passages: readonly RankedPassage[];
    readonly material: TurnPassages;
    readonly view: TimeView;
  },
): Promise<{ readonly context: string; readonly knowledge: Knowledge | null }> {
  const { type, dataset, passages } = target;
  if (type === 'RAG_COMPLETION') return { context: plainContext(passages), knowledge: null };
  const { retrieval, query } = target.material;
  const found = { passages, retrieval, query, view: target.view };
  const knowledge = await deps.knowledge(dataset, found, knowledgeLimits(target));
  const contextOfType = PROMPT_KIND[type] === 'sections' ? sectionedContext : graphContext;
  return { context: contextOfType(passages, knowledge), knowledge };
}

/** Answers from the triplets of improve, found by words and vectors; without any like GRAPH_COMPLETION. */
export async function tripletCompletion(
  deps: TypeDependencies,
  request: SearchRequest,
  target: CompletionTarget,
): Promise<Completion> {
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
  const outcome = await answered(deps, request, {
    ...target,
    type: 'TRIPLET_COMPLETION',
    ...shown,
    material,
    conversation,
  });
  // Triplets hold less than the passages that they are made from.
  if (outcome.answer !== NOTHING_FITS) return outcome;
  return completion(deps, request, { ...target, type: 'GRAPH_COMPLETION' });
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

export type Completion = Extract<SearchOutcome, { kind: 'completion' }> & { readonly short?: string | null };

interface AnswerInput extends Pick<SearchTarget, 'dataset' | 'influence' | 'isOneOfSeveral'> {
  readonly type: CompletionType;
  readonly passages: readonly RankedPassage[];
  readonly material: TurnPassages & Partial<Pick<ResolvedPassages, 'inner'>>;
  readonly context: string;
  readonly knowledge: Knowledge | null;
  readonly conversation: Conversation | null;
  /** Structures of improve in the context. */
  readonly structure: Pick<Completion, 'globalContext' | 'triplets'>;
  readonly reasoning?: Reasoning;
  /** Tools of an agent. */
  readonly toolbox?: Toolbox;
  /** The answer when it is known before. */
  readonly ready?: GeneratedAnswer;
}

interface GeneratedAnswer {
  readonly text: string;
  readonly structured?: JsonObject | null;
  /** Ids of the quoted passages; null for an answer of a model. */
  readonly quoted: readonly string[] | null;
  readonly certainty?: number | null;
  readonly short?: string | null;
  readonly nearest?: readonly string[];
}

export async function answered(
  deps: TypeDependencies,
  request: SearchRequest,
  shown: AnswerInput,
): Promise<Completion> {
  const { type, passages, material, context, knowledge, conversation, reasoning } = shown;
  const turn = conversation === null ? {} : { turn: turnOf(conversation, material) };
  const facts = knowledge === null ? {} : { facts: knowledge.facts };
  const steps = reasoning === undefined ? {} : { reasoning };
  const base = {
    kind: 'completion' as const,
    type,
    context,
    passages,
    ...turn,
    ...shown.structure,
    ...steps,
    ...facts,
  };
  if (context === '') return { ...base, answer: null, prompt: null };
  // The context of an agent already lists its skills.
  const offered = shown.toolbox === undefined ? await suggestedSkills(deps, shown.dataset, request.query) : [];
  const prompt = await promptFor(deps, request, shown, offered);
  if (request.onlyContext) return { ...base, answer: null, prompt };
  const generated = shown.ready ?? (await generateAnswer(deps, request, { ...shown, prompt, offered }));
  const { text, structured = null, quoted, certainty, short, nearest } = generated;
  const read = withFound(passages, shown.toolbox?.found() ?? []);
  const used = quoted?.length === 0 ? {} : { used: usedElements(read, knowledge, quoted) };
  const known = {
    ...(certainty === undefined ? {} : { certainty }),
    ...(short === undefined ? {} : { short }),
    ...(nearest === undefined ? {} : { nearest }),
  };
  const outcome = { ...base, ...used, passages: read, prompt, ...known };
  if (structured !== null || !request.includeReferences || text === NOTHING_FITS) {
    return { ...outcome, answer: text, structured };
  }
  const cited = quoted === null ? read : read.filter(({ id }) => quoted.includes(id));
  const block = evidenceBlock(text, cited, { snippets: PROMPT_KIND[type] !== 'graph' });
  return { ...outcome, answer: text + block };
}

/** The messages of the answer call: earlier turns, the question with its context, preferences and guidance. */
async function promptFor(
  deps: TypeDependencies,
  request: SearchRequest,
  shown: Pick<AnswerInput, 'type' | 'dataset' | 'influence' | 'context' | 'conversation'>,
  offered: readonly FoundSkill[] = [],
): Promise<AnswerPrompt> {
  const { conversation } = shown;
  const stated = await deps.learned.statedPreferences(scopeOf(shown.dataset), shown.influence);
  const guidance = [preferencesText(stated), skillsGuidance(offered), conversation?.guidance?.text ?? ''];
  return {
    user: withHistory(
      userPrompt(PROMPT_KIND[shown.type], request.query, shown.context),
      historyText(conversation?.turns ?? [], deps.settings.historyCharacters),
      guidance.filter((part) => part !== '').join('\n\n'),
    ),
    system: request.systemPrompt || DEFAULT_SYSTEM_PROMPT,
  };
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

async function generateAnswer(
  deps: TypeDependencies,
  request: SearchRequest,
  input: AnswerInput & AnswerCall,
): Promise<GeneratedAnswer> {
  const { languageModel, settings, clock } = deps;
  const { dataset, toolbox, prompt } = input;
  if (languageModel === null) {
    const view = request.view ?? CURRENT;
    const { text, passageIds, certainty, short, nearest } = await quotedAnswer(deps, input, view);
    return {
      text: withSkills(text, toolbox?.skills ?? input.offered),
      quoted: passageIds,
      certainty,
      short: short ?? null,
      ...(nearest === undefined ? {} : { nearest }),
    };
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

/** Quotes of GRAPH_SUMMARY_COMPLETION, where other types show the best three. */
const SUMMARY_QUOTES = 8;

function quoteOptions({
  type,
  dataset,
  isOneOfSeveral,
}: Pick<AnswerInput, 'type' | 'dataset' | 'isOneOfSeveral'>): QuoteOptions {
  const limit = type === 'GRAPH_SUMMARY_COMPLETION' ? { quotes: SUMMARY_QUOTES } : {};
  return { dataset: isOneOfSeveral ? dataset.name : null, ...limit };
}

/** Answers with quotes, first from the passages that the type puts first, then from all that it gathered. */
async function quotedAnswer(
  deps: TypeDependencies,
  { type, dataset, isOneOfSeveral, material, passages, knowledge, reasoning }: AnswerInput,
  view: TimeView,
) {
  const { retrieval, query } = material;
  const options = quoteOptions({ type, dataset, isOneOfSeveral });
  const { dataset: named } = options;
  const found = { query, retrieval, inner: material.inner ?? null, facts: knowledge?.facts ?? [] };
  const quotesFrom = (read: readonly RankedPassage[]) => deps.quotes(dataset, { ...found, passages: read }, options);
  const { timeWindow } = retrieval.analysis;
  if (timeWindow !== null && asksForTime(retrieval.analysis)) {
    const window = knownBy(timeWindow, view.asOf);
    const { anchored, passages: ordered } = rankByTime(passages, window);
    const listed = datedQuotes(ordered.slice(0, anchored), window, named);
    if (listed !== null) return { ...listed, certainty: 1, short: null };
  }
  if (type === 'TEMPORAL') {
    const anchored = passages.slice(0, reasoning?.steps[0]?.found.length ?? 0);
    const dated = anchored.length === 0 ? null : await quotesFrom(anchored);
    if (dated !== null && dated.text !== NOTHING_FITS) return dated;
  }
  const first = await quotesFrom(passages);
  if (type === 'GRAPH_COMPLETION_CONTEXT_EXTENSION') {
    const answer = withSurroundings(query, first, {
      named: retrieval.named.map(({ name }) => name),
      passages,
      dataset: named,
    });
    if (answer !== null) return answer;
  }
  if (first.text !== NOTHING_FITS) return first;
  for (const { found } of reasoning?.steps ?? []) {
    const added = new Set(found);
    const further = passages.filter(({ id }) => added.has(id));
    const answer = type === 'TEMPORAL' || further.length === 0 ? first : await quotesFrom(further);
    if (answer.text !== NOTHING_FITS) return answer;
  }
  return first;
}

function turnOf({ key, turns, guidance, lookup }: Conversation, { found }: TurnPassages): ConversationTurn {
  const session = key.session;
  return { session, turns: turns.length, lookup: lookup?.query ?? null, found, contextIds: guidance?.ids ?? [] };
}
