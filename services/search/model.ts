import { payerOf } from '../common/domain/budget.ts';
import type { ChunkPayload } from '../common/domain/index-rows.ts';
import type { UsedGraphElements } from '../common/domain/session.ts';
import type { Skill } from '../common/domain/skill.ts';
import type { DatasetId } from '../common/kernel/brand.ts';
import type { DatasetRef } from '../common/kernel/dataset.ts';
import type { EngramError } from '../common/kernel/errors.ts';
import type { Json, JsonObject } from '../common/kernel/json.ts';
import { withoutUndefined } from '../common/kernel/objects.ts';
import type { Principal } from '../common/kernel/principal.ts';
import type { CallContext } from '../common/platform/messaging/messenger.ts';
import type { ModelCallContext } from '../common/ports/models.ts';
import type { Supersession } from '../common/records/cognify/supersessions.ts';
import type { ContextSummary } from '../common/records/improve/context-summaries.ts';
import type { TextRow } from '../common/storage/ports/text-index.ts';
import type { CompletionType, QueryType, RowType, SearchType, TextType } from './search-types.ts';

/** The datasets to search. Ids win over names; with neither, every dataset that the caller may read. */
export interface DatasetChoice {
  readonly ids?: readonly string[];
  readonly names?: readonly string[];
}

/** One search, as every route requests it. */
export interface SearchRequest {
  readonly principal: Principal;
  readonly context: CallContext;
  readonly query: string;
  readonly type: SearchType;
  readonly datasets: DatasetChoice;
  /** Null: the default of the type. */
  readonly topK: number | null;
  /** CHUNKS returns fewer than `topK` instead of what hardly has to do with the query. */
  readonly omitWeak?: boolean;
  /** The session that the question belongs to; null: the default session of each dataset. */
  readonly sessionId: string | null;
  readonly systemPrompt: string | null;
  readonly nodeSets: readonly string[] | undefined;
  /** Returns the context of the answer instead of the answer. */
  readonly onlyContext: boolean;
  readonly includeReferences: boolean;
  /** Adds to each result why it was found. */
  readonly explain: boolean;
  /** Statements to show; absent: those that hold now. */
  readonly view?: TimeView;
  /** Structures of improve that the search uses; absent: none. */
  readonly structure?: StructureOptions;
  /** Completions answer with an object of this schema. */
  readonly responseSchema: ResponseSchema | null;
  /** CODE: the operation and its options; null or absent: the query decides. */
  readonly codeQuery?: Readonly<Record<string, unknown>> | null;
  /** Limits of AGENTIC_COMPLETION. */
  readonly agent?: AgentOptions;
  /** Called with the token usage of each model call. */
  readonly onUsage?: NonNullable<ModelCallContext['onUsage']>;
  /** Receives the answer while it is generated. */
  readonly listener?: AnswerListener;
}

interface AgentOptions {
  /** Names of skills of the dataset; null: skills suggested for a question that asks for one. */
  readonly skills: readonly string[] | null;
  /** Names of tools; null: all tools. */
  readonly tools: readonly string[] | null;
  /** Steps; null: the default. */
  readonly maxIter: number | null;
}

interface StructureOptions {
  /** HYBRID_COMPLETION: weights passages by the truth subspace of the dataset's learnings. */
  readonly truth: boolean;
  /** Completions over the graph: puts summaries of the dataset and of its areas nearest to the query before the context. */
  readonly globalContext: boolean;
}

export interface ResponseSchema {
  readonly name: string;
  readonly schema: JsonObject;
}

export interface AnswerListener {
  /** Called before a model is called. */
  generating(): void;
  /** The next piece of the answer. */
  delta(text: string): void;
  /** The answer is complete. */
  answerDone(): void;
  /** The pieces sent so far are not the answer: discard them. */
  reset(): void;
}

/** Maximum number of results: no store ranks more. */
export const MAX_TOP_K = 1000;

/** Selects the statements that a search shows. */
export interface TimeView {
  /** Omits superseded statements. */
  readonly currentOnly: boolean;
  /** ISO time: shows what held then, without the statements that superseded it later. Null: now. */
  readonly asOf: string | null;
}

export const CURRENT: TimeView = { currentOnly: true, asOf: null };

/** Returns the context of every model call of a search: scope, payer, signal and usage listener. */
export function modelCallContext({
  principal,
  context,
  onUsage,
}: Pick<SearchRequest, 'principal' | 'context' | 'onUsage'>): ModelCallContext {
  return {
    scope: { tenant: principal.tenant },
    purpose: 'query',
    payer: payerOf(principal),
    ...withoutUndefined({ signal: context.signal, onUsage }),
  };
}

/** The result of a search in one dataset, before presenters give it the wire form. */
export type SearchOutcome =
  /** Rows with a score: CHUNKS, SUMMARIES, CHUNKS_LEXICAL. */
  | {
      readonly kind: 'rows';
      readonly type: RowType;
      readonly rows: readonly FoundRow[];
    }
  | {
      readonly kind: 'completion';
      readonly type: CompletionType;
      /** Null when only the context was requested, or nothing was found. */
      readonly answer: string | null;
      /** The answer as an object of the response schema; `answer` is then its JSON text. */
      readonly structured?: JsonObject | null;
      /** How sure memory answers the question, without a model: 0 to 1; null for words to search for. */
      readonly certainty?: number | null;
      /** Quotes that come nearest to a question that memory does not answer. */
      readonly nearest?: readonly string[];
      /** The text that the answer is made from; '' when nothing was found. */
      readonly context: string;
      /** User and system message of the answer call. */
      readonly prompt: { readonly user: string; readonly system: string } | null;
      readonly passages: readonly RankedPassage[];
      /** Graph elements that the answer was made from; absent without an answer. */
      readonly used?: UsedGraphElements;
      /** Contribution of the conversation; absent without one. */
      readonly turn?: ConversationTurn;
      /** Summaries that precede the context. */
      readonly globalContext?: readonly ContextSummary[];
      /** Triplets that make up the context, best first. */
      readonly triplets?: readonly ScoredRow[];
      /** How a type that looks more than once came to its answer. */
      readonly reasoning?: Reasoning;
      /** Facts in the context. */
      readonly facts?: readonly CitedFact[];
    }
  | CodeOutcome
  | RecordsOutcome
  | SkillsOutcome
  | TextsOutcome;

/** How a type that looks more than once came to its answer. */
export interface Reasoning {
  /** Whether a model or rules chose the steps. */
  readonly by: 'model' | 'rules';
  readonly steps: readonly ReasoningStep[];
}

export interface ReasoningStep {
  readonly kind:
    | 'follow_up'
    | 'inner_question'
    | 'neighbourhood'
    | 'part'
    | 'read'
    | 'summary'
    | 'time_window'
    | 'tool';
  /** The question or words of the step. */
  readonly query: string;
  /** Ids of the passages that it added. */
  readonly found: readonly string[];
  /** Its result; null when it only looked. */
  readonly answer: string | null;
}

/** A relation between two entities in the context of an answer. */
export interface CitedFact {
  readonly id: string;
  readonly source: { readonly id: string; readonly name: string };
  readonly target: { readonly id: string; readonly name: string };
  readonly relation: string;
  readonly text: string;
  /** The passage that states it; null when unknown. */
  readonly chunkId: string | null;
}

/** Texts that no question is asked of: CODING_RULES, GRAPH_REPORT. */
export interface TextsOutcome {
  readonly kind: 'texts';
  readonly type: TextType;
  readonly texts: readonly string[];
  /** The context that `onlyContext` returns. */
  readonly context: string;
  /** Items that the texts come from; null: the whole dataset. */
  readonly items: readonly string[] | null;
}

export interface FoundRow extends ScoredRow {
  readonly passage: RankedPassage | null;
  /** Learned from ratings, 0 to 1; neutral when never rated. */
  readonly feedbackWeight: number;
  /** Address of the account that added the item; null: deleted, or not stored. */
  readonly sourceUser: string | null;
}

/** Contribution of a conversation to an answer. */
export interface ConversationTurn {
  readonly session: string;
  /** Number of earlier turns in the prompt. */
  readonly turns: number;
  /** The follow-up query used beside the question or instead of it; null when the question stands alone. */
  readonly lookup: string | null;
  /** Passages that only the follow-up query found. */
  readonly found: readonly string[];
  /** Guidance in the prompt. */
  readonly contextIds: readonly string[];
}

/** The answer of one operation on the code of a dataset. */
export interface CodeOutcome {
  readonly kind: 'code';
  readonly type: 'CODE';
  /** False: the dataset does not hold what was asked for; the result says so. */
  readonly isFound: boolean;
  readonly result: JsonObject;
}

/** Skills, nearest first. */
interface SkillsOutcome {
  readonly kind: 'skills';
  readonly type: 'SKILLS';
  readonly skills: readonly FoundSkill[];
}

/** Rows of a graph query: CYPHER, NATURAL_LANGUAGE. */
export interface RecordsOutcome {
  readonly kind: 'records';
  readonly type: QueryType;
  /** The query that returned the rows; null when none was run. */
  readonly cypher: string | null;
  readonly columns: readonly string[];
  /** Values in the order of the columns. */
  readonly records: readonly (readonly Json[])[];
  /** Whether rows beyond the limit were left out. */
  readonly isCut: boolean;
}

/** The outcome or the error of one dataset. */
export interface DatasetOutcome {
  /** Null when several datasets were searched as one store. */
  readonly dataset: DatasetRef | null;
  readonly outcome: SearchOutcome | null;
  readonly error: EngramError | null;
}

/** A row with its cosine distance (`score` on the wire); null when it is not among the nearest vectors. */
export interface ScoredRow {
  readonly row: TextRow;
  readonly distance: number | null;
  readonly rank: number;
}

/** Retrieval lanes: rankings that are fused. Each can be switched off, for ablation and for stores that cannot serve it. */
export const LANES = ['lexical', 'dense', 'sentence', 'meaning', 'entity', 'graph', 'time'] as const;
export type LaneName = (typeof LANES)[number];

/** Why a passage has its rank. */
export interface Explanation {
  readonly lanes: Readonly<Partial<Record<LaneName, { readonly rank: number; readonly score: number }>>>;
  /** Score of rank fusion, see `fuse`. */
  readonly fusion: number;
  /** Score of the passage alone, and together with the passage that completes it. */
  readonly own: number;
  readonly evidence: number;
  /** How learned weights changed the score; `evidence` is the changed score. Null when they did not. */
  readonly learned: LearnedShift | null;
  /** Weight by the truth subspace; absent when it was not requested or has no coordinates of the passage. */
  readonly truth?: { readonly score: number; readonly factor: number };
  /** The passage that completes it, and the entity that links the two. */
  readonly partner: string | null;
  readonly via: string | null;
  /** Statements that superseded others or were superseded; absent when there are none. */
  readonly statements?: readonly StatementState[];
}

export interface RankedPassage {
  readonly id: string;
  readonly row: TextRow;
  readonly payload: ChunkPayload;
  /** Its dataset, where several were ranked as one. */
  readonly dataset?: DatasetId;
  /** Evidence as a share of the query's information: roughly comparable across datasets. */
  readonly score: number;
  /**
   * How much of the question its best sentence and headings say, by the words themselves or words of the same meaning, 0 to 1:
   * comparable across questions and datasets.
   */
  readonly relevance: number;
  /** Cosine with the query; null when it was not among the nearest. */
  readonly similarity: number | null;
  /** BM25 part of each query term, in the order of `analysis.terms`; 0 when the term does not occur. */
  readonly terms: Float64Array;
  /** Number of near-duplicate passages, this one included. */
  readonly support: number;
  readonly explanation: Explanation;
}

/** How learned weights changed the score of a passage. */
export interface LearnedShift {
  /** -1 (rejected, avoided) to 1 (confirmed, preferred). */
  readonly feedback: number;
  readonly preference: number;
  /** Factor of the score. */
  readonly factor: number;
}

/** A statement of a passage that superseded another or was superseded. */
export interface StatementState {
  readonly supersession: Supersession;
  /** The sentence, verbatim. */
  readonly text: string;
  /** `superseded` by a newer one; `not_yet` valid at the requested time; `current`: superseded another. */
  readonly state: 'superseded' | 'not_yet' | 'current';
  /** Whether it is omitted from results. */
  readonly isOmitted: boolean;
}

/** A skill without its procedure, which is never shown by a search and may be large. */
export type SkillSummary = Omit<Skill, 'procedure'>;

export interface FoundSkill {
  readonly skill: SkillSummary;
  /** 0 to 1, smaller is nearer: 1 minus the share of the maximum BM25 score; 1: no word in common. */
  readonly distance: number;
}

export interface SearchSettings {
  /** ENABLE_BACKEND_ACCESS_CONTROL: answers carry their dataset. */
  readonly accessControl: boolean;
  /** COGNEE_LOG_SEARCH_HISTORY */
  readonly logSearchHistory: boolean;
  /** CACHING: without it no session is read or written. */
  readonly sessionMemory: boolean;
  /** AUTO_FEEDBACK: detects and stores feedback on the previous answer in a message. */
  readonly autoFeedback: boolean;
  /** MAX_SESSION_CONTEXT_CHARS: maximum characters of earlier turns in a prompt. */
  readonly historyCharacters: number;
  /** LLM_ANSWER_STREAMING */
  readonly answerStreaming?: boolean;
  /** DEFAULT_FEEDBACK_INFLUENCE; default 0. */
  readonly feedbackInfluence?: number;
  /** PERSONALIZATION_INFLUENCE and PREFERENCE_BETA; null or absent without PERSONALIZATION_ENABLED. */
  readonly personalization?: { readonly influence: number; readonly beta: number } | null;
  /** SKILL_GATE_ENABLED; default true. */
  readonly skillGate?: boolean;
  /** ALLOW_CYPHER_QUERY */
  readonly allowCypherQuery: boolean;
  /** RECALL_WARMUP_* */
  readonly recallWarmupShortcircuit: boolean;
  readonly recallWarmupThreshold: number;
  readonly recallWarmupCacheTtlMs: number;
  /** SESSION_TTL_SECONDS in ms: lifetime of echo marks; 0 or absent: a week. */
  readonly echoTtlMs?: number;
  /** Maximum concurrent searches: few when they share this machine's processors, many when servers do the work. */
  readonly concurrentSearches: number;
  /** Memory for copies of datasets whose indexes are on servers; 0: none is made. */
  readonly copyMemoryBytes: number;
}
