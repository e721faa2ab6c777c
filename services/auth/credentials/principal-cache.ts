import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { sha256 } from '../../common/kernel/hashes.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { createTtlCache, type TtlCacheOptions } from '../../common/kernel/ttl-cache.ts';
import type { Credential } from '../../common/platform/messaging/messages.ts';

/**
 * Maps credentials to principals for a moment. Refusals are not cached: a new key works at once. A change calls `dropUser` or
 * `dropTenant`, here at once and in other processes by an event; if the event is lost, the change takes effect after `ttlMs`.
 */
export type PrincipalCache = ReturnType<typeof createPrincipalCache>;

export function createPrincipalCache(options: TtlCacheOptions) {
  const { get, lookUp, put, drop } = createTtlCache<string, Principal>(options);
  return {
    get: (key: string) => get(key) ?? null,
    lookUp,
    /** `lifeMs`: the remaining lifetime of the credential. */
    put,
    dropUser: (user: UserId) => drop((_, { id }) => id === user),
    /** Drops everybody who works in the tenant. */
    dropTenant: (tenant: TenantId) => drop((_, principal) => principal.tenant === tenant),
  };
}

/** A digest, so that a memory dump contains no credentials beyond those of current requests. */
export function cacheKey({ kind, value }: Credential): string {
  return sha256(`${kind} ${value}`, 'base64');
}
