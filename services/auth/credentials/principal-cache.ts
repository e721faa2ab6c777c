import { hash } from 'node:crypto';
import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { Credential } from '../../common/platform/messaging/messages.ts';
import type { MonotonicClock } from '../../common/ports/system.ts';

/**
 * Maps credentials to principals for a moment, so that a burst of requests costs one look-up. Refusals are not cached: a new
 * key works at once. A change calls `dropUser` or `dropTenant`, here at once and in other processes by an event; if the event
 * is lost, the change takes effect after `ttlMs`.
 */
export type PrincipalCache = ReturnType<typeof createPrincipalCache>;

/** Marks the begin of a look-up. */
interface LookUp {
  readonly era: number;
  readonly atMs: number;
}

interface PrincipalCacheOptions {
  readonly clock: MonotonicClock;
  readonly ttlMs?: number;
  readonly maxEntries?: number;
}

export function createPrincipalCache({ clock, ttlMs = 1000, maxEntries = 10_000 }: PrincipalCacheOptions) {
  const entries = new Map<string, { readonly principal: Principal; readonly untilMs: number }>();
  let era = 0;
  const drop = (isMeant: (principal: Principal) => boolean): void => {
    era += 1;
    for (const [key, { principal }] of entries) if (isMeant(principal)) entries.delete(key);
  };
  return {
    get(key: string) {
      const entry = entries.get(key);
      if (entry === undefined) return null;
      if (clock.monotonicMs() < entry.untilMs) return entry.principal;
      entries.delete(key);
      return null;
    },
    /** Call it before the look-up whose result is `put`. */
    lookUp: () => ({ era, atMs: clock.monotonicMs() }),
    /**
     * Ignored when something was dropped since the look-up began: its result may be outdated. `lifeMs`: the remaining lifetime
     * of the credential.
     */
    put(key: string, principal: Principal, lookUp: LookUp, lifeMs: number = Number.POSITIVE_INFINITY) {
      if (lookUp.era !== era) return;
      entries.delete(key);
      if (entries.size >= maxEntries) {
        const [oldest] = entries.keys();
        if (oldest !== undefined) entries.delete(oldest);
      }
      entries.set(key, { principal, untilMs: Math.min(lookUp.atMs + ttlMs, clock.monotonicMs() + lifeMs) });
    },
    dropUser: (user: UserId) => drop(({ id }) => id === user),
    /** Drops everybody who works in the tenant. */
    dropTenant: (tenant: TenantId) => drop((principal) => principal.tenant === tenant),
  };
}

/** A digest, so that a memory dump contains no credentials beyond those of current requests. */
export function cacheKey({ kind, value }: Credential): string {
  return hash('sha256', `${kind} ${value}`, 'base64');
}
