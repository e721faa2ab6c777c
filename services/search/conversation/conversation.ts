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
import { embedQuery, type QueryEmbedding } from '../retrieval/gather-passages.ts';
import type { RetrievalDependencies } from '../retrieval/retrieval.ts';
import { contextualQuestion, followUpQuery, refersBack } from './follow-up.ts';
import { type Guidance, guidanceFor } from './guidance.ts';
import { relevantTurns } from './history.ts';
import { newestEntries } from './newest-entries.ts';

/** What was said before a question, in the session that it belongs to. */
export interface Conversation {
  readonly key: SessionKey;
  /** Null: no entry has opened it yet. */
  readonly session: Session | null;
  /** Those that an answer may need, oldest first. */
  readonly turns: readonly QaEntry[];
  /** What the session has taught for this question. */
  readonly guidance: Guidance | null;
  /** What is looked for besides the question; null when the question stands for itself. */
  readonly lookup: { readonly query: string; readonly embedding: QueryEmbedding } | null;
}

/** Turns that are read: the last ones are told, the older ones only if they share words with the question. */
const TURNS_READ = 100;

/** Without a model turns are needed for what a question refers to only. */
const TURNS_READ_BACK = 5;

/** Of all of them together, about. */
const CHARACTERS_READ = 400_000;

/** Sessions are written by ingest, what they have taught by improve. */
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
  /** Null: answers are quotes. */
  readonly languageModel: LanguageModel | null;
}

/**
 * The conversation of a session that the caller named; null without one. `SessionParameterValidationError` for a name of
 * blanks.
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
  if (session === null || !isWithinKey(principal, session)) return blank;
  const told = await whatWasTold(deps, request, session);
  const { languageModel } = deps;
  const query =
    languageModel === null ? contextualQuestion(request.query, told.turns) : followUpQuery(request.query, told.turns);
  return { ...blank, ...told, lookup: lookupOf(deps, request, query) };
}

/** A limited key reaches the sessions of its datasets, and none of its user's others. */
function isWithinKey(principal: Principal, { dataset }: Session): boolean {
  if (!isLimited(principal)) return true;
  const datasets = principal.key?.datasets ?? null;
  return dataset !== null && (datasets === null || datasets.includes(dataset));
}

/**
 * The conversation of the session that a dataset has for whoever names none: for models, which get the turns with the
 * question. Without a model null: what is asked without a session is answered from memory alone.
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
  if (session === null || !isWithinKey(request.principal, session)) return null;
  // Callers name their sessions as they like: this one may hold what another dataset answered.
  if (dataset !== null && session.dataset !== null && session.dataset !== dataset) return null;
  const told = await whatWasTold(deps, request, session);
  // Callers who keep no session ask questions that stand alone: only one that cannot do so costs a second look-up.
  const query = refersBack(request.query) ? followUpQuery(request.query, told.turns) : null;
  return { key, session, ...told, lookup: lookupOf(deps, request, query) };
}

/** As ingest takes them: longer ones are nobody's session. */
const MAX_NAME_LENGTH = 1000;

export function requireSessionName(name: string): void {
  if (name.trim() === '') {
    throw engramError('SessionParameterValidationError', 'session_id must be a non-empty string');
  }
  if (name.length <= MAX_NAME_LENGTH) return;
  const text = `session_id must have at most ${MAX_NAME_LENGTH} characters`;
  throw engramError('SessionParameterValidationError', text);
}

async function whatWasTold(
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

/** Null: a search over several datasets as one store. */
export function defaultSession(dataset: string | null): string {
  return dataset === null ? DEFAULT_SESSION : `${DEFAULT_SESSION}_${dataset}`;
}

export function isDefaultSession(name: string): boolean {
  return name.startsWith(DEFAULT_SESSION);
}
