import type { QaEntry, Session, TraceEntry } from '../../common/domain/session.ts';
import { type ContextProfile, isProfile } from '../../common/domain/session-context.ts';
import { type Guidance, guidanceFor } from '../answers/guidance.ts';
import { requireSessionName } from '../conversation/conversation.ts';
import type { SearchParts, SessionReaders } from '../dependencies.ts';
import { readableDatasets } from '../usecases/resolve-datasets.ts';
import type { SearchRequest } from '../usecases/search-request.ts';
import { MAX_TOP_K } from '../usecases/search-request.ts';
import { type EntryPages, newestEntries } from './newest-entries.ts';
import { readableSession } from './session-owner.ts';
import { type Overlapping, rankByOverlap, wordsOf } from './word-overlap.ts';

export const SESSION_LANES = ['session', 'trace', 'session_context'] as const;
export type SessionLane = (typeof SESSION_LANES)[number];

/** What a lane found in the session that was read. */
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
  /** Older entries that were not looked through. */
  readonly unread: number;
}

export type SessionLaneRequest = Pick<SearchRequest, 'principal' | 'context' | 'query' | 'topK'> & {
  readonly sessionId: string | null;
  readonly contextProfile: string;
};

type LaneDependencies = Pick<SearchParts, 'messenger' | 'sessions' | 'settings'>;

/** The session lanes of one recall: whose session it is gets looked up once, when the first of them is asked. */
export function createSessionLanes(deps: LaneDependencies, request: SessionLaneRequest) {
  let session: Promise<Session | null> | null = null;
  return {
    /** Empty when the session holds nothing for the query, or there is none that the caller may read. */
    async ask(lane: SessionLane): Promise<readonly SessionFinding[]> {
      session ??= sessionOf(deps, request);
      const read = await session;
      const finding = read === null ? null : await ASK[lane](deps.sessions, request, read);
      return finding === null ? [] : [finding];
    },
  };
}

async function sessionOf(deps: LaneDependencies, request: SessionLaneRequest): Promise<Session | null> {
  const { sessionId: name, principal } = request;
  if (name === null || !deps.settings.sessionMemory) return null;
  requireSessionName(name);
  const readable = await readableDatasets(deps, { ...request, datasets: {} });
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
