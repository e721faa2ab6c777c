import type { Session } from '../../common/domain/session.ts';
import type { DatasetId, UserId } from '../../common/kernel/brand.ts';
import { isLimited, type Principal } from '../../common/kernel/principal.ts';
import { isDefaultSession } from '../conversation/default-session.ts';
import type { SessionReaders } from '../dependencies.ts';

/**
 * The session of the name that a caller reads, of those it may see – its own, those of its agents, those of datasets it can
 * read: one of a dataset before one of none, somebody else's before the own one (agents and colleagues work in it for the
 * caller), the one used last before others (search-recall.md §6.4). Null when the caller may see none.
 */
export async function readableSession(
  { visible, users }: Pick<SessionReaders, 'visible' | 'users'>,
  principal: Principal,
  query: { readonly name: string; readonly readable: readonly DatasetId[] },
): Promise<Session | null> {
  const { name, readable } = query;
  // A limited key reaches datasets, not its user: of the user's own sessions it sees those of its datasets.
  const viewers: readonly UserId[] = isLimited(principal)
    ? []
    : [principal.id, ...(await users.childAgents(principal.id))];
  const viewer = { users: viewers, datasets: readable };
  const sessions = await visible.named({ tenant: principal.tenant }, viewer, name);
  // Everybody who searches a dataset has a default session of that name: nobody means the one of somebody else.
  const ownLast = isDefaultSession(name) ? -1 : 1;
  const rank = ({ dataset, user }: Session) => (dataset === null ? 2 : 0) + (user === principal.id ? ownLast : 0);
  return sessions.toSorted((one, other) => rank(one) - rank(other) || newerFirst(one, other))[0] ?? null;
}

function newerFirst(one: Session, other: Session): number {
  if (one.lastActivityAt === other.lastActivityAt) return one.user < other.user ? -1 : 1;
  return one.lastActivityAt < other.lastActivityAt ? 1 : -1;
}
