import type { QaEntry, Session, TraceEntry } from '../../common/domain/session.ts';
import { type ContextProfile, isProfile } from '../../common/domain/session-context.ts';
import type { DatasetId, UserId } from '../../common/kernel/brand.ts';
import { isLimited, type Principal } from '../../common/kernel/principal.ts';
import { isDefaultSession, requireSessionName, type SessionReaders } from '../conversation/conversation.ts';
import { type Guidance, guidanceFor } from '../conversation/guidance.ts';
import { type EntryPages, newestEntries } from '../conversation/newest-entries.ts';
import { type Overlapping, rankByOverlap, wordsOf } from '../conversation/word-overlap.ts';
import type { SearchDependencies } from '../dependencies.ts';
import { MAX_TOP_K, type SearchRequest } from '../model.ts';
import { wholeDatasets } from '../search-datasets.ts';

export const SESSION_LANES = ['session', 'trace', 'session_context'] as const;

export type SessionLane = (typeof SESSION_LANES)[number];

/** A result of a session lane. */
export type SessionFinding =
  | (FoundEntries<QaEntry> & { readonly lane: 'session' })
  | (FoundEntries<TraceEntry> & { readonly lane: 'trace' })
  | {
      readonly lane: 'session_context';
      readonly session: Session;
      readonly guidance: Guidance;
      readonly profile: ContextProfile;
    };

interface FoundEntries<Entry> {
  readonly session: Session;
  readonly found: readonly Overlapping<Entry>[];
  /** Number of older entries that were not searched. */
  readonly unread: number;
}

type SessionLaneRequest = Pick<SearchRequest, 'principal' | 'context' | 'query' | 'topK'> & {
  readonly sessionId: string | null;
  readonly contextProfile: string;
};

/** Creates the session lanes of one recall. The session is looked up once, by the first lane. */
export function createSessionLanes(deps: SearchDependencies, request: SessionLaneRequest) {
  let session: Promise<Session | null> | null = null;
  return {
    /** Returns nothing when the session has no match, or the caller may read no such session. */
    async search(lane: SessionLane): Promise<readonly SessionFinding[]> {
      session ??= sessionOf(deps, request);
      const read = await session;
      const finding = read === null ? null : await ASK[lane](deps.sessions, request, read);
      return finding === null ? [] : [finding];
    },
  };
}

/**
 * Returns the session that the request names if the caller may read it: one of others may hold what the sources of its dataset
 * withhold, so the caller must see all of that.
 */
export async function sessionOf(
  deps: Pick<SearchDependencies, 'messenger' | 'sessions' | 'settings'>,
  request: Pick<SessionLaneRequest, 'principal' | 'context' | 'sessionId'>,
): Promise<Session | null> {
  const { sessionId: name, principal } = request;
  if (name === null || !deps.settings.sessionMemory) return null;
  requireSessionName(name);
  const readable = await wholeDatasets(deps.messenger, request);
  const ids = readable.map(({ id }) => id);
  return readableSession(deps.sessions, principal, { name, readable: ids });
}

type Ask = (readers: SessionReaders, request: SessionLaneRequest, session: Session) => Promise<SessionFinding | null>;

const ASK: Readonly<Record<SessionLane, Ask>> = {
  async session({ entries }, request, session) {
    const scope = { tenant: request.principal.tenant };
    const { qaCount: count, expired } = session;
    const after = (number: number, limit: number) => entries.qasAfter(scope, session, number, limit);
    const found = await findEntries(request, { count, expired: expired.qas, after, textsOf: qaTexts });
    return found === null ? null : { lane: 'session', session, ...found };
  },
  async trace({ entries }, request, session) {
    const scope = { tenant: request.principal.tenant };
    const { traceCount: count, expired } = session;
    const after = (number: number, limit: number) => entries.tracesAfter(scope, session, number, limit);
    const found = await findEntries(request, { count, expired: expired.traces, after, textsOf: traceTexts });
    return found === null ? null : { lane: 'trace', session, ...found };
  },
  async session_context({ contexts }, { contextProfile: profile, principal, query }, session) {
    if (!isProfile(profile)) return null;
    const rows = await contexts.rows({ tenant: principal.tenant }, session);
    const guidance = guidanceFor(rows, profile, query);
    return guidance === null ? null : { lane: 'session_context', session, guidance, profile };
  },
};

async function findEntries<Entry>(
  { query, topK }: SessionLaneRequest,
  { textsOf, ...pages }: Omit<EntryPages<Entry>, 'sizeOf'> & { readonly textsOf: (entry: Entry) => readonly string[] },
): Promise<Omit<FoundEntries<Entry>, 'session'> | null> {
  const words = wordsOf(query);
  if (words.size === 0) return null;
  const sizeOf = (entry: Entry) => textsOf(entry).reduce((size, text) => size + text.length, 0);
  const { entries, unread } = await newestEntries<Entry>({ ...pages, sizeOf });
  const found = rankByOverlap(words, entries, { textsOf, limit: Math.max(0, topK ?? MAX_TOP_K) });
  return found.length === 0 ? null : { found, unread };
}

function qaTexts({ question, context, answer }: QaEntry): readonly string[] {
  return [question, context, answer];
}

function traceTexts(trace: TraceEntry): readonly string[] {
  const { originFunction, status, memoryQuery, memoryContext, sessionFeedback, errorMessage } = trace;
  const values = [JSON.stringify(trace.methodParams), JSON.stringify(trace.methodReturnValue)];
  return [originFunction, status, memoryQuery, memoryContext, sessionFeedback, errorMessage, ...values];
}

/**
 * Returns the session that a name means for a caller (search-recall.md §6.4), or null. Candidates are sessions of the
 * caller, of its agents and of readable datasets. Order: sessions of a dataset before those without one; those of other
 * users (agents and colleagues work in them for the caller) before the caller's own; the last used first.
 */
async function readableSession(
  { visible, users }: SessionReaders,
  principal: Principal,
  query: { readonly name: string; readonly readable: readonly DatasetId[] },
): Promise<Session | null> {
  const { name, readable } = query;
  // A limited key grants access to datasets, not to its user: it sees the user's sessions of those datasets only.
  const viewers: readonly UserId[] = isLimited(principal)
    ? []
    : [principal.id, ...(await users.childAgents(principal.id))];
  const viewer = { users: viewers, datasets: readable };
  const sessions = await visible.named({ tenant: principal.tenant }, viewer, name);
  // Every user has a default session of this name per dataset: the caller means its own.
  const ownLast = isDefaultSession(name) ? -1 : 1;
  const rank = ({ dataset, user }: Session) => (dataset === null ? 2 : 0) + (user === principal.id ? ownLast : 0);
  return sessions.toSorted((one, other) => rank(one) - rank(other) || newerFirst(one, other))[0] ?? null;
}

function newerFirst(one: Session, other: Session): number {
  if (one.lastActivityAt === other.lastActivityAt) return one.user < other.user ? -1 : 1;
  return one.lastActivityAt < other.lastActivityAt ? 1 : -1;
}
