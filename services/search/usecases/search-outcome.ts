import type { UsedGraphElements } from '../../common/domain/session.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import type { EngramError } from '../../common/kernel/errors.ts';
import type { Json, JsonObject } from '../../common/kernel/json.ts';
import type { ContextSummary } from '../../common/records/improve/context-summaries.ts';
import type { RankedPassage } from '../retrieval/retrieval.ts';
import type { CompletionType, QueryType } from '../search-types.ts';
import type { FoundSkill } from '../skills/skill-index.ts';
import type { ScoredRow } from './material.ts';

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
export interface SkillsOutcome {
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
