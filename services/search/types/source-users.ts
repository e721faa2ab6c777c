import type { UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Clock } from '../../common/ports/system.ts';
import type { Users } from '../../common/records/auth/users.ts';

/** Addresses of the accounts that added items; null: deleted. */
export type SourceUsers = ReturnType<typeof createSourceUsers>;

const CACHE_MS = 60_000;
const MAX_CACHED = 10_000;

export function createSourceUsers(users: Pick<Users, 'getMany'>, clock: Pick<Clock, 'monotonicMs'>) {
  const known = new Map<string, { readonly until: number; readonly email: string | null }>();
  return {
    /** Reads the accounts that are not cached at once. */
    async emails(ids: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
      const now = clock.monotonicMs();
      const unknown = [...new Set(ids)].filter((id) => (known.get(id)?.until ?? 0) <= now);
      if (known.size > MAX_CACHED) known.clear();
      if (unknown.length > 0) {
        const found = new Map(
          (await users.getMany(unknown.map((id) => asId<UserId>(id)))).map(({ id, email }) => [String(id), email]),
        );
        for (const id of unknown) known.set(id, { until: now + CACHE_MS, email: found.get(id) ?? null });
      }
      return new Map(ids.map((id) => [id, known.get(id)?.email ?? null]));
    },
  };
}
