import type { DatasetId, UserId } from '../kernel/brand.ts';
import { sha256 } from '../kernel/hashes.ts';
import type { Json, JsonObject } from '../kernel/json.ts';

/** Two users who name their sessions alike have two sessions. */
export interface SessionKey {
  readonly user: UserId;
  /** Chosen by the caller. */
  readonly session: string;
}

/** A session without its entries. Times are ISO-8601 with offset. */
export interface Session extends SessionKey {
  /** Bound by the first entry that names one, and never changed. */
  readonly dataset: DatasetId | null;
  /** The agent connection that worked in it first. */
  readonly agent: string | null;
  /** Node sets of the nodes that its entries become in the graph; null until the session is opened with some. */
  readonly nodeSets: readonly string[] | null;
  readonly startedAt: string;
  /** Never goes back, whatever the clock does. */
  readonly lastActivityAt: string;
  /** The first question that says something, cut; null while there is none. */
  readonly label: string | null;
  /** Entries ever appended; those that expired are counted. */
  readonly qaCount: number;
  readonly traceCount: number;
  readonly errorCount: number;
  /** Number of feedbacks: each answer has the number of its last one. */
  readonly feedbackCount: number;
  /** Number of expired entries, the oldest of each kind. */
  readonly expired: EntryCounts;
  readonly usage: SessionUsage;
  readonly lastModel: string | null;
  /** Absent until something was embedded. */
  readonly lastEmbeddingModel?: string | null;
}

/** Tells a session from a later one of the same name. */
export type SessionStart = Pick<Session, 'user' | 'session' | 'startedAt'>;

export interface EntryCounts {
  readonly qas: number;
  readonly traces: number;
}

/** Tokens that models used. Prices are not known. */
type SessionUsage = {
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly embeddingTokens: number;
};

/** Common to everything that is appended to a session. */
interface SessionEntry {
  /** UUID. */
  readonly id: string;
  /** From 1 in the order of their kind in the session, without gaps. */
  readonly number: number;
  readonly time: string;
}

/** A question with its answer. */
export interface QaEntry extends SessionEntry, NewQa {
  /** Metadata that improve added. */
  readonly memifyMetadata: JsonObject | null;
  /** Grows with each feedback in the session, so that readers of feedback know what is new; null without any. */
  readonly feedbackNumber: number | null;
}

export interface NewQa {
  readonly question: string;
  readonly context: string;
  readonly answer: string;
  readonly feedbackText: string | null;
  /** 1 to 5. */
  readonly feedbackScore: number | null;
  readonly usedGraphElements: UsedGraphElements | null;
  /** Guidance that was shown with the question. */
  readonly usedContextIds: readonly string[] | null;
  /** The answer says nothing of the world: the question was only understood. */
  readonly isAcknowledgement?: boolean;
  /** Why passages were found, by the id of their chunk, without their text; absent when nobody asked for it. */
  readonly reasons?: JsonObject;
}

/** Absent lists were not given: entries come back as they were put in. */
export interface UsedGraphElements {
  readonly nodeIds?: readonly string[];
  readonly edgeIds?: readonly string[];
}

/** One step of an agent. */
export interface TraceEntry extends SessionEntry, NewTrace {}

export interface NewTrace {
  readonly originFunction: string;
  readonly status: 'success' | 'error';
  readonly memoryQuery: string;
  readonly memoryContext: string;
  readonly methodParams: JsonObject;
  readonly methodReturnValue: Json;
  readonly errorMessage: string;
  /** One line about the outcome. */
  readonly sessionFeedback: string;
}

/** Ids of callers may be long and hold anything; ids of documents may not. */
export function sessionDocumentId({ user, session }: SessionKey): string {
  return `${user}/${sha256(session)}`;
}

/** Usage of a turn of a session. */
export interface SessionSpending extends SessionUsage {
  /** The language model's name; null when none was asked. */
  readonly model: string | null;
  /** The embedder's; null when it counted no tokens. */
  readonly embeddingModel: string | null;
}
