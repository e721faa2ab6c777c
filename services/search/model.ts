import { payerOf } from '../common/domain/budget.ts';
import type { ChunkPayload } from '../common/domain/index-rows.ts';
import type { UsedGraphElements } from '../common/domain/session.ts';
import type { Skill } from '../common/domain/skill.ts';
import type { DatasetRef } from '../common/kernel/dataset.ts';
import type { EngramError } from '../common/kernel/errors.ts';
import type { Json, JsonObject } from '../common/kernel/json.ts';
import type { Principal } from '../common/kernel/principal.ts';
import type { CallContext } from '../common/platform/messaging/messenger.ts';
import type { ModelCallContext } from '../common/ports/models.ts';
import type { Supersession } from '../common/records/cognify/supersessions.ts';
import type { ContextSummary } from '../common/records/improve/context-summaries.ts';
import type { TextRow } from '../common/storage/ports/text-index.ts';
import type { CompletionType, QueryType, SearchType } from './search-types.ts';

/** Where to look. Ids win over names; neither means every dataset the caller may read. */
export interface DatasetChoice {
  readonly ids?: readonly string[];
  readonly names?: readonly string[];
}

/** A search as every route asks for it. */
export interface SearchRequest {
  readonly principal: Principal;
  readonly context: CallContext;
  readonly query: string;
  readonly type: SearchType;
  readonly datasets: DatasetChoice;
  /** Null: the type's own default. */
  readonly topK: number | null;
  /** The session that it is a turn of; null: the one that its dataset has for whoever names none. */
  readonly sessionId: string | null;
  readonly systemPrompt: string | null;
  readonly nodeSets: readonly string[] | undefined;
  /** The context that an answer would be made from, instead of the answer. */
  readonly onlyContext: boolean;
  readonly includeReferences: boolean;
  /** Adds to results why they were found. */
  readonly explain: boolean;
  /** Which statements it is told; absent: those that hold now. */
  readonly view?: TimeView;
  /** What improve has built over the dataset; nothing of it counts unless it is asked for. */
  readonly structure?: StructureWish;
  /** Completions answer with an object of this schema. */
  readonly responseSchema: ResponseSchema | null;
  /** AGENTIC_COMPLETION: what it may use, and for how many steps; null: its own defaults. */
  readonly agent?: AgentWish;
  /** Told of what each call of a model took. */
  readonly onUsage?: NonNullable<ModelCallContext['onUsage']>;
  /** Told of the answer while it is being written. */
  readonly listener?: AnswerListener;
}

interface AgentWish {
  /** Names of skills of the dataset; null: those that fit a question which asks for one. */
  readonly skills: readonly string[] | null;
  /** Names of tools; null: all there are. */
  readonly tools: readonly string[] | null;
  readonly maxIter: number | null;
}

interface StructureWish {
  /** HYBRID_COMPLETION prefers passages that stand where learnings and query point. */
  readonly truth: boolean;
  /** Completions over the graph are shown summaries of the dataset and of the parts that are like the query. */
  readonly globalContext: boolean;
}

export interface ResponseSchema {
  readonly name: string;
  readonly schema: JsonObject;
}

export interface AnswerListener {
  /** A model is about to be asked. */
  generating(): void;
  /** The next piece of the answer. */
  delta(text: string): void;
  /** All pieces were told. */
  answerDone(): void;
  /** The pieces that were told are no answer after all. */
  reset(): void;
}

/** More results than this are not ranked by any store. */
export const MAX_TOP_K = 1000;
/** Which statements of the memory a search is told. */
export interface TimeView {
  /** Without those that a newer statement has replaced. */
  readonly currentOnly: boolean;
  /** ISO; as of then: what replaced something later is left out, and what it replaced is told. Null: as of now. */
  readonly asOf: string | null;
}

export const CURRENT: TimeView = { currentOnly: true, asOf: null };

export function modelCallContext({ principal, context, onUsage }: SearchRequest): ModelCallContext {
  const { signal } = context;
  return {
    scope: { tenant: principal.tenant },
    purpose: 'query',
    payer: payerOf(principal),
    ...(signal === undefined ? {} : { signal }),
    ...(onUsage === undefined ? {} : { onUsage }),
  };
}

/** What a search came to, before it is put into the wire's shape. */
export type SearchOutcome =
  /** Rows with a score: CHUNKS, SUMMARIES, CHUNKS_LEXICAL. */
  | {
      readonly kind: 'rows';
      readonly type: 'CHUNKS' | 'CHUNKS_LEXICAL' | 'SUMMARIES';
      readonly rows: readonly FoundRow[];
    }
  | {
      readonly kind: 'completion';
      readonly type: CompletionType;
      /** Null when the context was asked for, or nothing was found. */
      readonly answer: string | null;
      /** The answer as the object that was asked for; `answer` is its JSON text then. */
      readonly structured?: JsonObject | null;
      /** What the answer is made from; '' when nothing was found. */
      readonly context: string;
      /** User and system message of the answer call. */
      readonly prompt: { readonly user: string; readonly system: string } | null;
      readonly passages: readonly RankedPassage[];
      /** Of the graph: what the answer was made from; absent without an answer. */
      readonly used?: UsedGraphElements;
      /** The conversation that it is a turn of, and what it gave. */
      readonly turn?: ConversationTurn;
      /** Summaries that stand before the context. */
      readonly globalContext?: readonly ContextSummary[];
      /** Triplets that the context is made of, best first. */
      readonly triplets?: readonly ScoredRow[];
    }
  | RecordsOutcome
  | SkillsOutcome;

export interface FoundRow extends ScoredRow {
  readonly passage: RankedPassage | null;
  /** What ratings have made of it, 0 to 1; neutral where it was never rated. */
  readonly feedbackWeight: number;
}

/** What a conversation gave to an answer. */
export interface ConversationTurn {
  readonly session: string;
  /** Turns that stood in the prompt. */
  readonly turns: number;
  /** What was looked for besides the question, or in its place; null when the question stood for itself. */
  readonly lookup: string | null;
  /** Passages that only this found. */
  readonly found: readonly string[];
  /** Guidance that stood in the prompt. */
  readonly contextIds: readonly string[];
}

/** Nearest first. */
interface SkillsOutcome {
  readonly kind: 'skills';
  readonly type: 'SKILLS';
  readonly skills: readonly FoundSkill[];
}

/** Rows of a query over the graph: CYPHER, NATURAL_LANGUAGE. */
export interface RecordsOutcome {
  readonly kind: 'records';
  readonly type: QueryType;
  /** The query that gave the rows; null when none was run. */
  readonly cypher: string | null;
  readonly columns: readonly string[];
  /** Values in the order of the columns. */
  readonly records: readonly (readonly Json[])[];
  /** There were more than are given. */
  readonly isCut: boolean;
}

/** One entry of the answer: a dataset with what it answered, or with why it could not. */
export interface DatasetOutcome {
  /** Null when several datasets were searched as one store. */
  readonly dataset: DatasetRef | null;
  readonly outcome: SearchOutcome | null;
  readonly error: EngramError | null;
}

/** A row with the cosine distance that the wire calls score; null when it has no vector near the query. */
export interface ScoredRow {
  readonly row: TextRow;
  readonly distance: number | null;
  readonly rank: number;
}
/** Candidate lanes; each can be switched off, for ablation and for stores that lack what it needs. */
export const LANES = ['lexical', 'dense', 'sentence', 'entity', 'graph', 'time'] as const;

export type LaneName = (typeof LANES)[number];

/** Why a passage stands where it stands. */
export interface Explanation {
  readonly lanes: Readonly<Partial<Record<LaneName, { readonly rank: number; readonly score: number }>>>;
  /** Sum over the lanes, see `fuse`. */
  readonly fusion: number;
  /** Score of the passage alone and with the passage that completes it. */
  readonly own: number;
  readonly evidence: number;
  /** Null where nothing that was learned moved it; `evidence` is the score behind that. */
  readonly learned: LearnedShift | null;
  /** How the truth subspace moved it; absent when it was not asked, or does not know the passage. */
  readonly truth?: { readonly score: number; readonly factor: number };
  /** The passage that completes it, and the entity that joins the two. */
  readonly partner: string | null;
  readonly via: string | null;
  /** Its statements that replaced others or were replaced; absent for a passage without any. */
  readonly statements?: readonly StatementMark[];
}

export interface RankedPassage {
  readonly id: string;
  readonly row: TextRow;
  readonly payload: ChunkPayload;
  /** Evidence as a share of what the query is worth: compares across datasets, roughly. */
  readonly score: number;
  /** Cosine with the query; null when it was not among the nearest. */
  readonly similarity: number | null;
  /** What it holds of each term of the query, in the order of `analysis.terms`: BM25 parts, 0 for none. */
  readonly terms: Float64Array;
  /** Passages that say the same, this one included. */
  readonly support: number;
  readonly explanation: Explanation;
}

/** How what was learned moved a passage. */
export interface LearnedShift {
  /** -1 (rejected, avoided) to 1 (confirmed, preferred). */
  readonly feedback: number;
  readonly preference: number;
  /** What the score was multiplied with. */
  readonly factor: number;
}

/** A statement of a passage that is part of a supersession. */
export interface StatementMark {
  readonly supersession: Supersession;
  /** The sentence, verbatim. */
  readonly text: string;
  /** `superseded`: by a newer one; `not_yet`: it came after the time that is asked for; `current`: it has replaced another. */
  readonly state: 'superseded' | 'not_yet' | 'current';
  /** It is left out of what is told. */
  readonly isLeftOut: boolean;
}

/** Procedures are never shown by a search, and may be large. */
export type SkillSummary = Omit<Skill, 'procedure'>;

export interface FoundSkill {
  readonly skill: SkillSummary;
  /** 0 to 1, smaller is nearer: 1 minus BM25's share of what the query could reach at most; 1: no word in common. */
  readonly distance: number;
}

export interface SearchSettings {
  /** ENABLE_BACKEND_ACCESS_CONTROL: answers carry their dataset. */
  readonly accessControl: boolean;
  /** COGNEE_LOG_SEARCH_HISTORY */
  readonly logSearchHistory: boolean;
  /** CACHING: without it no session is read or written. */
  readonly sessionMemory: boolean;
  /** AUTO_FEEDBACK: what a message says of the answer before it is understood and kept. */
  readonly autoFeedback: boolean;
  /** MAX_SESSION_CONTEXT_CHARS: of the earlier turns in a prompt. */
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
  /** SESSION_TTL_SECONDS, ms: how long what was shown is recognised; 0 and absent: a week. */
  readonly echoTtlMs?: number;
  /** Searches at the same time: few where they share this machine's processors, many where servers do the work. */
  readonly concurrentSearches: number;
}
