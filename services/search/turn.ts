import type { SessionSpending } from '../common/domain/session.ts';
import type { DatasetRef } from '../common/kernel/dataset.ts';
import type { JsonObject } from '../common/kernel/json.ts';
import { ACKNOWLEDGEMENT } from '../common/text/repetition/own-answers.ts';
import { type Conversation, namedConversation } from './conversation/conversation.ts';
import { spokenFeedback } from './conversation/spoken-feedback.ts';
import { analyseTurn, type TurnAnalysis } from './conversation/turn-analysis.ts';
import { createTurnSpending, type NewNote, type NewTurn, placeOfTurns } from './conversation/turn-recorder.ts';
import type { SearchDependencies } from './dependencies.ts';
import type { DatasetOutcome, RankedPassage, SearchRequest } from './model.ts';
import { searchDatasets } from './search-datasets.ts';
import { type AnsweredType, type CompletionType, isCompletion } from './search-types.ts';
import { checkRequest } from './types/check-request.ts';

interface AnsweredTurn {
  readonly outcomes: readonly DatasetOutcome[];
  /** Saves the turn in its session, and what marks it as shown. Call it once, when the answer is final and before the reply. */
  save(): Promise<void>;
}

/**
 * Answers a question as a turn of its session (search-recall.md §4): earlier turns help retrieval and the answer, feedback
 * on them is detected, and the turn can be saved. Types that generate no answer have no turns.
 */
export async function answerTurn(
  parts: SearchDependencies,
  asked: SearchRequest,
  target: { readonly type: AnsweredType; readonly datasets: readonly DatasetRef[] },
): Promise<AnsweredTurn> {
  const { type } = target;
  const markings: Promise<void>[] = [];
  const beforeReply = (marking: Promise<void>) => {
    // Nobody waits for it when the search fails.
    marking.catch(() => {});
    markings.push(marking);
  };
  const marked = async () => void (await Promise.all(markings));
  const deps = { ...parts, beforeReply };
  if (!deps.settings.sessionMemory || !isCompletion(type) || target.datasets.length === 0) {
    return { outcomes: await searchDatasets(deps, asked, target), save: marked };
  }
  // Before a model call.
  checkRequest(deps, asked, type);
  const spending = createTurnSpending(deps.languageModel?.name ?? null, deps.embedder.space.model);
  const request = { ...asked, onUsage: spending.onUsage };
  const conversation = await namedConversation(deps, request);
  const taken = (outcomes: readonly DatasetOutcome[], analysis: TurnAnalysis | null): AnsweredTurn => ({
    outcomes,
    async save() {
      const turn = { conversation, analysis, outcomes, spending: spending.total() };
      await Promise.all([saveTurn(deps, request, turn), marked()]);
    },
  });
  const acknowledge = (answer: string) => acknowledgementOutcomes(deps, { ...target, type }, answer);
  const spoken = analyseByRules(deps, request, conversation);
  if (spoken?.acknowledgement) return taken(acknowledge(spoken.acknowledgement), spoken);
  const analysing = analyseByModel(deps, request, conversation);
  const outcomes = await searchDatasets(deps, request, { ...target, conversation });
  const analysis = spoken ?? (await analysing);
  if (!analysis?.acknowledgement) return taken(outcomes, analysis);
  request.listener?.reset();
  return taken(acknowledge(analysis.acknowledgement), analysis);
}

/** Whether a message is analysed for feedback: only in a session that the caller named and that has turns. */
function isAnalysed({ settings }: SearchDependencies, request: SearchRequest, conversation: Conversation | null) {
  return settings.autoFeedback && !request.onlyContext && (conversation?.turns.length ?? 0) > 0;
}

function analyseByRules(
  deps: SearchDependencies,
  request: SearchRequest,
  conversation: Conversation | null,
): TurnAnalysis | null {
  if (deps.languageModel !== null || !isAnalysed(deps, request, conversation)) return null;
  const spoken = spokenFeedback(request.query);
  if (spoken === null) return null;
  const acknowledgement = spoken.isAll ? ACKNOWLEDGEMENT : null;
  return { acknowledgement, rating: spoken.rating, contextRatings: new Map(), lessons: [] };
}

/** Analyses the message with one model call, concurrently with the answer; never rejects. */
async function analyseByModel(
  deps: SearchDependencies,
  request: SearchRequest,
  conversation: Conversation | null,
): Promise<TurnAnalysis | null> {
  const { languageModel } = deps;
  if (languageModel === null || conversation === null || !isAnalysed(deps, request, conversation)) return null;
  return analyseTurn(deps, languageModel, request, conversation);
}

/** Returns the acknowledgement in place of each answer that the caller expects. */
function acknowledgementOutcomes(
  deps: SearchDependencies,
  { type, datasets }: { readonly type: CompletionType; readonly datasets: readonly DatasetRef[] },
  answer: string,
): readonly DatasetOutcome[] {
  const outcome = { kind: 'completion' as const, type, answer, context: '', prompt: null, passages: [] };
  const isOneStore = !deps.settings.accessControl && datasets.length > 1;
  const entries: readonly (DatasetRef | null)[] = isOneStore ? [null] : datasets;
  return entries.map((dataset) => ({ dataset, outcome, error: null }));
}

async function saveTurn(
  deps: SearchDependencies,
  request: SearchRequest,
  turn: {
    readonly conversation: Conversation | null;
    readonly analysis: TurnAnalysis | null;
    readonly outcomes: readonly DatasetOutcome[];
    readonly spending: SessionSpending | null;
  },
): Promise<void> {
  const { conversation, analysis, outcomes, spending } = turn;
  const placeOf = placeOfTurns(conversation, outcomes);
  const turns = outcomes.flatMap((outcome): readonly NewTurn[] => {
    const entry = entryOf(request, outcome);
    return entry === null ? [] : [{ ...placeOf(outcome.dataset), entry, spending: null }];
  });
  const saved = analysis?.acknowledgement ? acknowledgementTurn(conversation, turns) : turns;
  const [first, ...others] = saved;
  const paid = first === undefined ? [] : [{ ...first, spending }, ...others];
  await deps.turns.save(paid, noteOf(request, conversation, analysis), request.context);
}

/** Reduces the turns of an acknowledgement to one that belongs to no dataset. */
function acknowledgementTurn(conversation: Conversation | null, turns: readonly NewTurn[]): readonly NewTurn[] {
  const [first] = turns;
  if (first === undefined || conversation === null) return [];
  const entry = { ...first.entry, isAcknowledgement: true };
  return [{ ...first, entry, session: conversation.key.session, dataset: null }];
}

function entryOf({ query, explain }: SearchRequest, { outcome }: DatasetOutcome): NewTurn['entry'] | null {
  if (outcome?.kind !== 'completion' || outcome.answer === null) return null;
  const contextIds = outcome.turn?.contextIds ?? [];
  return {
    question: query,
    answer: outcome.answer,
    feedbackText: null,
    feedbackScore: null,
    // The context of an agent is stored nowhere else.
    context: outcome.type === 'AGENTIC_COMPLETION' ? outcome.context : '',
    usedGraphElements: outcome.used ?? null,
    usedContextIds: contextIds.length === 0 ? null : contextIds,
    ...(explain ? { reasons: reasonsOf(outcome.passages) } : {}),
  };
}

/** More passages are no sources that somebody reads; they are sent and stored with the turn. */
const MAX_REASONS = 50;

/** The fields that `explain` has of each passage, without its text. */
function reasonsOf(passages: readonly RankedPassage[]): JsonObject {
  const entries = passages.slice(0, MAX_REASONS).map(({ id, relevance, support, explanation }) => {
    const { statements: _, ...why } = explanation;
    return [id, { relevance, support, explanation: { ...why, via: null } }] as const;
  });
  return Object.fromEntries(entries) as unknown as JsonObject;
}

function noteOf(
  { query, onlyContext }: SearchRequest,
  conversation: Conversation | null,
  analysis: TurnAnalysis | null,
): NewNote | null {
  if (conversation === null || onlyContext) return null;
  const { key, guidance, turns } = conversation;
  const servedIds = guidance?.ids ?? [];
  const { rating = null, contextRatings = new Map(), lessons = [] } = analysis ?? {};
  const previous = rating === null && contextRatings.size === 0 ? undefined : turns.at(-1);
  if (previous === undefined && lessons.length === 0 && servedIds.length === 0) return null;
  const contextIds = previous?.usedContextIds ?? [];
  const feedback = previous === undefined ? null : { text: query, qaId: previous.id, rating, contextIds };
  const ratings = Object.fromEntries(contextRatings);
  return { session: key.session, feedback, contextRatings: ratings, lessons, servedIds };
}
