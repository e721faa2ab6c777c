import type { QaEntry, Session, SessionKey } from '../../common/domain/session.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { isLimited, type Principal } from '../../common/kernel/principal.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { LanguageModel } from '../../common/ports/models.ts';
import type { Users } from '../../common/records/auth/users.ts';
import type { SessionContexts } from '../../common/records/sessions/session-context.ts';
import type { SessionEntries } from '../../common/records/sessions/session-entries.ts';
import type { Sessions } from '../../common/records/sessions/sessions.ts';
import type { VisibleSessions } from '../../common/records/sessions/visible-sessions.ts';
import type { SearchRequest, SearchSettings } from '../model.ts';
import type { RetrievalDependencies } from '../retrieval/retrieval.ts';
import { embedQuery, type QueryEmbedding } from '../retrieval/retrieve-passages.ts';
import { contextualQuestion, followUpQuery, refersBack } from './follow-up.ts';
import { type Guidance, guidanceFor } from './guidance.ts';
import { relevantTurns } from './history.ts';
import { newestEntries } from './newest-entries.ts';

/** The earlier turns of a question's session, and what the session has taught. */
export interface Conversation {
  readonly key: SessionKey;
  /** Null before its first entry. */
  readonly session: Session | null;
  /** Turns that the answer may need, oldest first. */
  readonly turns: readonly QaEntry[];
  /** Guidance for this question that was learned in the session. */
  readonly guidance: Guidance | null;
  /** Follow-up query beside the question or instead of it; null when the question stands alone. */
  readonly lookup: { readonly query: string; readonly embedding: QueryEmbedding } | null;
}

/** Maximum turns read with a model: the last ones go into the prompt, older ones when they share words with the question. */
const TURNS_READ = 100;

/** Maximum turns read without a model: only to resolve what a question refers to. */
const TURNS_READ_BACK = 5;

/** Approximate characters of all turns read. */
const CHARACTERS_READ = 400_000;

/** Readers of sessions, which ingest writes, and of what improve learned from them. */
export interface SessionReaders {
  readonly sessions: Sessions;
  readonly entries: SessionEntries;
  readonly contexts: SessionContexts;
  readonly visible: VisibleSessions;
  readonly users: Pick<Users, 'childAgents'>;
}

export interface ConversationDependencies extends RetrievalDependencies {
  readonly sessions: SessionReaders;
  readonly settings: SearchSettings;
  readonly logger: Logger;
  /** Null: answers are quotes from passages. */
  readonly languageModel: LanguageModel | null;
}

/**
 * Returns the conversation of the session that the request names, or null. Throws `SessionParameterValidationError` for a
 * blank or too long name.
 */
export async function namedConversation(
  deps: ConversationDependencies,
  request: SearchRequest,
): Promise<Conversation | null> {
  const { sessionId, principal } = request;
  if (sessionId === null || !deps.settings.sessionMemory) return null;
  requireSessionName(sessionId);
  const key = { user: principal.id, session: sessionId };
  const session = await deps.sessions.sessions.get({ tenant: principal.tenant }, key);
  const blank = { key, session, turns: [], guidance: null, lookup: null };
  if (session === null || !isAllowedByKey(principal, session)) return blank;
  const read = await readTurns(deps, request, session);
  const { languageModel } = deps;
  const query =
    languageModel === null ? contextualQuestion(request.query, read.turns) : followUpQuery(request.query, read.turns);
  return { ...blank, ...read, lookup: lookupOf(deps, request, query) };
}

/** Whether a limited key may read the session: only sessions of its datasets. */
function isAllowedByKey(principal: Principal, { dataset }: Session): boolean {
  if (!isLimited(principal)) return true;
  const datasets = principal.key?.datasets ?? null;
  return dataset !== null && (datasets === null || datasets.includes(dataset));
}

/**
 * Returns the conversation of the caller's default session for a dataset, when the request names no session. Null without
 * a model: then questions without a session are answered from memory alone.
 */
export async function defaultConversation(
  deps: ConversationDependencies,
  request: SearchRequest,
  dataset: string | null,
): Promise<Conversation | null> {
  const { settings, languageModel } = deps;
  if (request.sessionId !== null || !settings.sessionMemory || languageModel === null) return null;
  const key = { user: request.principal.id, session: defaultSession(dataset) };
  const session = await deps.sessions.sessions.get({ tenant: request.principal.tenant }, key);
  if (session === null || !isAllowedByKey(request.principal, session)) return null;
  // A caller may have used this session name for another dataset.
  if (dataset !== null && session.dataset !== null && session.dataset !== dataset) return null;
  const read = await readTurns(deps, request, session);
  // Without a named session questions usually stand alone: only one that refers back costs a second retrieval.
  const query = refersBack(request.query) ? followUpQuery(request.query, read.turns) : null;
  return { key, session, ...read, lookup: lookupOf(deps, request, query) };
}

/** Maximum length of a session name, as in ingest. */
const MAX_NAME_LENGTH = 1000;

/** Throws `SessionParameterValidationError` for a blank or too long name. */
export function requireSessionName(name: string): void {
  if (name.trim() === '') {
    throw engramError('SessionParameterValidationError', 'session_id must be a non-empty string');
  }
  if (name.length <= MAX_NAME_LENGTH) return;
  const text = `session_id must have at most ${MAX_NAME_LENGTH} characters`;
  throw engramError('SessionParameterValidationError', text);
}

async function readTurns(
  { sessions, languageModel }: ConversationDependencies,
  { principal, query, onlyContext }: SearchRequest,
  session: Session,
): Promise<Pick<Conversation, 'turns' | 'guidance'>> {
  const scope = { tenant: principal.tenant };
  const isPrompted = languageModel !== null || onlyContext;
  const pages = {
    count: session.qaCount,
    expired: session.expired.qas,
    after: (number: number, limit: number) => sessions.entries.qasAfter(scope, session, number, limit),
    sizeOf: ({ question, answer }: QaEntry) => question.length + answer.length,
  };
  const [{ entries }, rows] = await Promise.all([
    newestEntries(pages, { entries: isPrompted ? TURNS_READ : TURNS_READ_BACK, characters: CHARACTERS_READ }),
    isPrompted ? sessions.contexts.rows(scope, session) : [],
  ]);
  return { turns: relevantTurns(entries, query), guidance: guidanceFor(rows, 'qa', query) };
}

function lookupOf(
  deps: ConversationDependencies,
  request: SearchRequest,
  query: string | null,
): Conversation['lookup'] {
  return query === null ? null : { query, embedding: embedQuery(deps, { ...request, query }) };
}
const DEFAULT_SESSION = 'default_session';

/** Returns the name of the default session; null: of a search over several datasets as one store. */
export function defaultSession(dataset: string | null): string {
  return dataset === null ? DEFAULT_SESSION : `${DEFAULT_SESSION}_${dataset}`;
}

/** Whether a session has the name of a default session. */
export function isDefaultSession(name: string): boolean {
  return name.startsWith(DEFAULT_SESSION);
}
