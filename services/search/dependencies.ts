import type { TenantId } from '../common/kernel/brand.ts';
import type { ConcurrencyLimit } from '../common/platform/async/concurrency-limit.ts';
import type { Messenger } from '../common/platform/messaging/messenger.ts';
import type { ActiveModels } from '../common/ports/active-models.ts';
import type { EmbedderSource } from '../common/ports/embedders.ts';
import type { Logger } from '../common/ports/logger.ts';
import type { Embedder } from '../common/ports/models.ts';
import type { Clock, IdSource } from '../common/ports/system.ts';
import type { Users } from '../common/records/auth/users.ts';
import type { Ledger } from '../common/records/cognify/ledger.ts';
import type { Supersessions } from '../common/records/cognify/supersessions.ts';
import type { VectorHomes } from '../common/records/cognify/vector-homes.ts';
import type { EchoMarks } from '../common/records/ingest/echo-marks.ts';
import type { SearchHistory } from '../common/records/ingest/search-history.ts';
import type { SessionContexts } from '../common/records/sessions/session-context.ts';
import type { SessionEntries } from '../common/records/sessions/session-entries.ts';
import type { Sessions } from '../common/records/sessions/sessions.ts';
import type { VisibleSessions } from '../common/records/sessions/visible-sessions.ts';
import type { DatasetIndexes } from '../common/storage/ports/dataset-indexes.ts';
import type { DocumentStore } from '../common/storage/ports/document-store.ts';
import type { TurnKeeper } from './conversation/turn-keeper.ts';
import type { ShownBefore } from './hygiene/shown-before.ts';
import type { LearnedElements } from './retrieval/learned-elements.ts';
import type { Retriever } from './retrieval/retrieval.ts';
import type { SkillIndex } from './skills/skill-index.ts';
import type { Readiness } from './usecases/readiness.ts';

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

/** Without a model completions answer with quotes. */
export type SearchModels = Pick<ActiveModels, 'languageModel' | 'missingModelKey'>;

/** What the service is made from. */
export interface SearchServiceOptions {
  readonly store: DocumentStore;
  readonly indexes: Pick<DatasetIndexes, 'text' | 'vectors' | 'graph'>;
  /** The server's own. */
  readonly embedder: Embedder;
  /** Default: that one for everybody. */
  readonly embedders?: EmbedderSource;
  readonly models: { current(tenant?: TenantId): Promise<SearchModels> };
  readonly messenger: Messenger;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly settings: SearchSettings;
}

/** Sessions are written by ingest, what they have taught by improve. */
export interface SessionReaders {
  readonly sessions: Sessions;
  readonly entries: SessionEntries;
  readonly contexts: SessionContexts;
  readonly visible: VisibleSessions;
  readonly users: Pick<Users, 'childAgents'>;
}

/** What its routes work with. */
export interface SearchParts extends Omit<SearchServiceOptions, 'ids'> {
  /** `indexes.vectors` reach each home by its own scope. */
  readonly homes: Pick<VectorHomes, 'active'>;
  readonly embedders: EmbedderSource;
  readonly sessions: SessionReaders;
  readonly turns: TurnKeeper;
  readonly retriever: Retriever;
  readonly supersessions: Supersessions;
  readonly echoes: EchoMarks;
  readonly shownBefore: ShownBefore;
  readonly learned: LearnedElements;
  readonly skills: SkillIndex;
  /** Searches that no model is asked for take their turn in it. */
  readonly turn: ConcurrencyLimit;
  readonly history: SearchHistory;
  readonly readiness: Readiness;
}

/** What one search works with: the models as they were set when it came. */
export interface SearchDependencies extends SearchParts, SearchModels {}
