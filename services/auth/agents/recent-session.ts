import type { AgentConnection } from '../../common/domain/agent-connection.ts';
import { keyAllows, keyReaches } from '../../common/domain/permissions.ts';
import type { QaEntry, Session, TraceEntry } from '../../common/domain/session.ts';
import { isLimited, type Principal } from '../../common/kernel/principal.ts';
import type { AuthDependencies } from '../dependencies.ts';

/** The session that a connection announced, with the last of what happened in it. */
export interface RecentSession {
  readonly session: Session;
  readonly traces: readonly TraceEntry[];
  readonly qas: readonly QaEntry[];
}

const SHOWN_ENTRIES = 20;

/**
 * Null when nothing was recorded. The caller has checked that the connection may be seen; a limited key, which may announce
 * whatever session it likes, sees those on its datasets only.
 */
export async function recentSession(
  { sessions, sessionEntries }: Pick<AuthDependencies, 'sessions' | 'sessionEntries'>,
  principal: Principal,
  { userId, tenant, sessionId }: AgentConnection,
): Promise<RecentSession | null> {
  if (sessionId === null) return null;
  const session = await sessions.get({ tenant }, { user: userId, session: sessionId });
  if (session === null || !mayRead(principal, session)) return null;
  const [traces, qas] = await Promise.all([
    sessionEntries.lastTraces({ tenant }, session, SHOWN_ENTRIES),
    sessionEntries.lastQas({ tenant }, session, SHOWN_ENTRIES),
  ]);
  return { session, traces, qas };
}

function mayRead(principal: Principal, { dataset }: Session): boolean {
  if (!isLimited(principal)) return true;
  return dataset !== null && keyAllows(principal, 'read') && keyReaches(principal, dataset);
}
