import type { AgentConnection } from '../../common/domain/agent-connection.ts';
import type { QaEntry, Session, TraceEntry } from '../../common/domain/session.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { ActivityRange, SessionOrder, SessionViewer } from '../../common/records/sessions/visible-sessions.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { permittedDatasets } from '../items/target-dataset.ts';

export type SessionRange = '24h' | '7d' | '30d' | 'all';
/** Shows a session that is not used any more as abandoned; nothing else ends one. */
type EffectiveStatus = 'running' | 'abandoned';

export interface SessionListQuery {
  readonly range: SessionRange;
  /** Null: any. Another word: none has it. */
  readonly status: string | null;
  readonly order: SessionOrder;
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
}

export interface ListedSession {
  readonly session: Session;
  readonly status: EffectiveStatus;
}

export interface SessionList {
  readonly sessions: readonly ListedSession[];
  readonly total: number;
}

const HOUR_MS = 3_600_000;
const RANGE_MS: Readonly<Record<Exclude<SessionRange, 'all'>, number>> = {
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
  '30d': 30 * 24 * HOUR_MS,
};

/** The caller's own sessions, those of the caller's agents, and those on datasets the caller can read. */
export async function sessionViewer(
  { users, messenger }: IngestDependencies,
  principal: Principal,
  context: CallContext,
): Promise<SessionViewer> {
  const [agents, readable] = await Promise.all([
    users.childAgents(principal.id),
    permittedDatasets(messenger, principal, 'read', context),
  ]);
  return { users: [principal.id, ...agents], datasets: readable.map(({ id }) => id) };
}

export async function listSessions(
  dependencies: IngestDependencies,
  principal: Principal,
  query: SessionListQuery,
  context: CallContext,
): Promise<SessionList> {
  const activity = activityOf(dependencies, query);
  if (activity === null) return { sessions: [], total: 0 };
  const viewer = await sessionViewer(dependencies, principal, context);
  const { order, descending, limit, offset } = query;
  const scope = { tenant: principal.tenant };
  const page = { ...activity, order, descending, limit, offset };
  const { sessions, total } = await dependencies.visibleSessions.page(scope, viewer, page);
  const now = dependencies.clock.now();
  const named = await withAgents(dependencies, sessions);
  return { sessions: named.map((session) => listed(dependencies, session, now)), total };
}

/** An agent that announced a session after the last entry is in no entry's commit: it is looked up. */
async function withAgents({ connections }: IngestDependencies, sessions: readonly Session[]) {
  const unnamed = Map.groupBy(
    sessions.filter(({ agent }) => agent === null),
    ({ user }) => user,
  );
  const found = new Map<UserId, ReadonlyMap<string, AgentConnection>>();
  for (const [user, own] of unnamed) {
    found.set(
      user,
      await connections.ofSessions(
        user,
        own.map(({ session }) => session),
      ),
    );
  }
  return sessions.map((session) => {
    const { agent, user, session: name } = session;
    return { ...session, agent: agent ?? found.get(user)?.get(name)?.id ?? null };
  });
}

/** The agent connections that the sessions name, by user and id. */
export async function connectionsOf(
  { connections }: IngestDependencies,
  sessions: readonly Session[],
): Promise<(session: Session) => AgentConnection | null> {
  const keys = sessions.flatMap(({ user, agent }) => (agent === null ? [] : [{ user, id: agent }]));
  const found = keys.length === 0 ? [] : await connections.getMany(keys);
  const byKey = new Map(found.map((connection) => [`${connection.userId}/${connection.id}`, connection]));
  return ({ user, agent }) => byKey.get(`${user}/${agent}`) ?? null;
}

export interface SessionDetail {
  readonly session: Session;
  readonly label: string | null;
  readonly qas: readonly QaEntry[];
  readonly traces: readonly TraceEntry[];
}

const SHOWN_ENTRIES = 20;

/** Null for a session that does not exist or that the caller may not see, alike. */
export async function readSession(
  dependencies: IngestDependencies,
  principal: Principal,
  name: string,
  context: CallContext,
): Promise<SessionDetail | null> {
  const { visibleSessions, sessionEntries } = dependencies;
  const scope = { tenant: principal.tenant };
  const viewer = await sessionViewer(dependencies, principal, context);
  const [session] = await withAgents(dependencies, (await visibleSessions.named(scope, viewer, name)).slice(0, 1));
  if (session === undefined) return null;
  const [qas, traces, firstSteps] = await Promise.all([
    sessionEntries.lastQas(scope, session, SHOWN_ENTRIES),
    sessionEntries.lastTraces(scope, session, SHOWN_ENTRIES),
    session.label === null ? sessionEntries.tracesAfter(scope, session, 0, 1) : [],
  ]);
  return { session, label: session.label ?? firstSteps[0]?.originFunction ?? null, qas, traces };
}

export function listed({ settings }: IngestDependencies, session: Session, now: Date): ListedSession {
  const idleMs = now.getTime() - Date.parse(session.lastActivityAt);
  return { session, status: idleMs > settings.sessions.abandonAfterMs ? 'abandoned' : 'running' };
}

/** Null: no session can be among them. */
export function activityOf(
  { clock, settings }: IngestDependencies,
  { range, status }: Pick<SessionListQuery, 'range' | 'status'>,
): ActivityRange | null {
  const now = clock.now().getTime();
  const from = range === 'all' ? null : new Date(now - RANGE_MS[range]).toISOString();
  const abandonedBefore = new Date(now - settings.sessions.abandonAfterMs).toISOString();
  switch (status) {
    case null:
      return { from, before: null };
    case 'running':
      return { from: from === null || from < abandonedBefore ? abandonedBefore : from, before: null };
    case 'abandoned':
      return { from, before: abandonedBefore };
    default:
      return null;
  }
}
