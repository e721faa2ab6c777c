import type { SessionSpending } from '../common/domain/session.ts';
import type { DatasetRef } from '../common/kernel/dataset.ts';
import { ACKNOWLEDGEMENT } from '../common/text/repetition/own-answers.ts';
import { type Conversation, namedConversation } from './conversation/conversation.ts';
import { spokenFeedback } from './conversation/spoken-feedback.ts';
import { analyseTurn, type TurnAnalysis } from './conversation/turn-analysis.ts';
import { createTurnSpending, type NewTurn, placeOfTurns, type TurnNote } from './conversation/turn-keeper.ts';
import type { SearchDependencies } from './dependencies.ts';
import type { DatasetOutcome, SearchRequest } from './model.ts';
import { searchDatasets } from './search-datasets.ts';
import { type AnsweredType, type CompletionType, isCompletion } from './search-types.ts';
import { checkRequest } from './types/check-request.ts';

interface TakenTurn {
  readonly outcomes: readonly DatasetOutcome[];
  /** Keeps the turn in its session; never fails. To be called once, when the answer is certain. */
  keep(): Promise<void>;
}

const NOTHING_TO_KEEP = async () => {};

/**
 * Answers a question as a turn of its session: the turns before it help to find and to answer, what it says of them is
 * understood, and it is kept (search-recall.md §4). Types that give no answer of their own are no turns.
 */
export async function takeTurn(
  deps: SearchDependencies,
  asked: SearchRequest,
  target: { readonly type: AnsweredType; readonly datasets: readonly DatasetRef[] },
): Promise<TakenTurn> {
  const { type } = target;
  if (!deps.settings.sessionMemory || !isCompletion(type) || target.datasets.length === 0) {
    return { outcomes: await searchDatasets(deps, asked, target), keep: NOTHING_TO_KEEP };
  }
  // Before a model is asked what is meant.
  checkRequest(deps, asked, type);
  const spending = createTurnSpending(deps.languageModel?.name ?? null, deps.embedder.space.model);
  const request = { ...asked, onUsage: spending.onUsage };
  const conversation = await namedConversation(deps, request);
  const taken = (outcomes: readonly DatasetOutcome[], analysis: TurnAnalysis | null): TakenTurn => ({
    outcomes,
    keep: () => keepTurn(deps, request, { conversation, analysis, outcomes, spending: spending.total() }),
  });
  const acknowledge = (answer: string) => acknowledged(deps, { ...target, type }, answer);
  const spoken = understoodByRules(deps, request, conversation);
  if (spoken?.acknowledgement) return taken(acknowledge(spoken.acknowledgement), spoken);
  const analysing = understoodByModel(deps, request, conversation);
  const outcomes = await searchDatasets(deps, request, { ...target, conversation });
  const analysis = spoken ?? (await analysing);
  if (!analysis?.acknowledgement) return taken(outcomes, analysis);
  request.listener?.reset();
  return taken(acknowledge(analysis.acknowledgement), analysis);
}

/** What a message says besides asking: there is something to speak of in conversations that the caller keeps. */
function isUnderstood({ settings }: SearchDependencies, request: SearchRequest, conversation: Conversation | null) {
  return settings.autoFeedback && !request.onlyContext && (conversation?.turns.length ?? 0) > 0;
}

function understoodByRules(
  deps: SearchDependencies,
  request: SearchRequest,
  conversation: Conversation | null,
): TurnAnalysis | null {
  if (deps.languageModel !== null || !isUnderstood(deps, request, conversation)) return null;
  const spoken = spokenFeedback(request.query);
  if (spoken === null) return null;
  const acknowledgement = spoken.isAll ? ACKNOWLEDGEMENT : null;
  return { acknowledgement, rating: spoken.rating, contextRatings: new Map(), lessons: [] };
}

/** In one call beside the answer; never rejects. */
async function understoodByModel(
  deps: SearchDependencies,
  request: SearchRequest,
  conversation: Conversation | null,
): Promise<TurnAnalysis | null> {
  const { languageModel } = deps;
  if (languageModel === null || conversation === null || !isUnderstood(deps, request, conversation)) return null;
  return analyseTurn(deps, languageModel, request, conversation);
}

/** In place of answers, one for each entry that the caller expects. */
function acknowledged(
  deps: SearchDependencies,
  { type, datasets }: { readonly type: CompletionType; readonly datasets: readonly DatasetRef[] },
  answer: string,
): readonly DatasetOutcome[] {
  const outcome = { kind: 'completion' as const, type, answer, context: '', prompt: null, passages: [] };
  const isOneStore = !deps.settings.accessControl && datasets.length > 1;
  const entries: readonly (DatasetRef | null)[] = isOneStore ? [null] : datasets;
  return entries.map((dataset) => ({ dataset, outcome, error: null }));
}

async function keepTurn(
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
  const kept = analysis?.acknowledgement ? saidOnce(conversation, turns) : turns;
  const [first, ...others] = kept;
  const paid = first === undefined ? [] : [{ ...first, spending }, ...others];
  await deps.turns.keep(paid, noteOf(request, conversation, analysis), request.context);
}

/** What only acknowledges is of no dataset, and was said once, however many were asked. */
function saidOnce(conversation: Conversation | null, turns: readonly NewTurn[]): readonly NewTurn[] {
  const [first] = turns;
  if (first === undefined || conversation === null) return [];
  const entry = { ...first.entry, isAcknowledgement: true };
  return [{ ...first, entry, session: conversation.key.session, dataset: null }];
}

function entryOf({ query }: SearchRequest, { outcome }: DatasetOutcome): NewTurn['entry'] | null {
  if (outcome?.kind !== 'completion' || outcome.answer === null) return null;
  const contextIds = outcome.turn?.contextIds ?? [];
  return {
    question: query,
    answer: outcome.answer,
    feedbackText: null,
    feedbackScore: null,
    // What an agent worked with is told by nothing else.
    context: outcome.type === 'AGENTIC_COMPLETION' ? outcome.context : '',
    usedGraphElements: outcome.used ?? null,
    usedContextIds: contextIds.length === 0 ? null : contextIds,
  };
}

function noteOf(
  { query, onlyContext }: SearchRequest,
  conversation: Conversation | null,
  analysis: TurnAnalysis | null,
): TurnNote | null {
  if (conversation === null || onlyContext) return null;
  const { key, guidance, turns } = conversation;
  const servedIds = guidance?.ids ?? [];
  const { rating = null, contextRatings = new Map(), lessons = [] } = analysis ?? {};
  const previous = rating === null && contextRatings.size === 0 ? undefined : turns.at(-1);
  if (previous === undefined && lessons.length === 0 && servedIds.length === 0) return null;
  const contextIds = previous?.usedContextIds ?? [];
  const feedback = previous === undefined ? null : { text: query, qaId: previous.id, rating, contextIds };
  return { session: key.session, feedback, contextRatings, lessons, servedIds };
}
