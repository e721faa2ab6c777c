import type { UserId } from '../../common/kernel/brand.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { IngestDependencies } from '../dependencies.ts';

export interface ActiveAccount {
  readonly user: User;
  readonly keyCount: number;
  /** The newest run or search, or use of a session, a connection or a key; null: there was none. */
  readonly lastActive: string | null;
}

type Dependencies = Pick<
  IngestDependencies,
  'users' | 'apiKeys' | 'connections' | 'visibleSessions' | 'runRecords' | 'searchHistory'
>;

/** The caller and its agents, each with what it did last: other accounts are not shown. */
export async function activeAccounts(
  dependencies: Dependencies,
  principal: Principal,
): Promise<readonly ActiveAccount[]> {
  const accounts = await ownAccounts(dependencies, principal);
  const found: ActiveAccount[] = [];
  for (const user of accounts) found.push(await withActivity(dependencies, principal, user));
  return found;
}

export async function ownAccounts({ users }: Dependencies, { id }: Principal): Promise<readonly User[]> {
  const found = await users.getMany([id, ...(await users.childAgents(id))]);
  return found.filter(({ isActive }) => isActive);
}

async function withActivity(
  { apiKeys, connections, visibleSessions, runRecords, searchHistory }: Dependencies,
  { tenant }: Principal,
  user: User,
): Promise<ActiveAccount> {
  const [keys, sessions, connected, runs, asked] = await Promise.all([
    apiKeys.ofUser(user.id),
    visibleSessions.page({ tenant }, { users: [user.id], datasets: [] }, NEWEST),
    connections.page([user.id] satisfies UserId[], { states: ['active', 'inactive'], limit: 1, offset: 0 }),
    runRecords.newest({ tenant }, { users: [user.id], limit: 1, offset: 0 }),
    searchHistory.lastAsked({ tenant }, user.id),
  ]);
  const times = [
    ...keys.map(({ lastUsedAt }) => lastUsedAt),
    ...sessions.sessions.map(({ lastActivityAt }) => lastActivityAt),
    ...connected.connections.map(({ lastActiveAt }) => lastActiveAt),
    ...runs.map(({ record }) => record.createdAt),
    asked,
  ].filter((time) => time !== null);
  return { user, keyCount: keys.length, lastActive: times.toSorted().at(-1) ?? null };
}

const NEWEST = { from: null, before: null, order: 'lastActivityAt', descending: true, limit: 1, offset: 0 } as const;
