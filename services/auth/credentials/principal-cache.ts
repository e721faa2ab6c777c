import { hash } from 'node:crypto';
import type { Principal } from '../../common/domain/principal.ts';
import type { Credential } from '../../common/messaging/methods/auth.ts';
import type { Clock } from '../../common/ports/system.ts';

/**
 * Credential → principal for a moment, so that a burst of requests costs one look-up. Refusals are not kept: a key works
 * at once when it is made. A change within the process clears everything at once, one in another process is seen after
 * `ttlMs`.
 */
export interface PrincipalCache {
  get(key: string): Principal | null;
  /** Dropped when `clear` ran since `era` was read: what was looked up may be outdated already. */
  put(key: string, principal: Principal, era: number): void;
  era(): number;
  clear(): void;
}

export interface PrincipalCacheOptions {
  readonly clock: Clock;
  readonly ttlMs?: number;
  readonly maxEntries?: number;
}

export function createPrincipalCache({
  clock,
  ttlMs = 1000,
  maxEntries = 10_000,
}: PrincipalCacheOptions): PrincipalCache {
  const entries = new Map<string, { readonly principal: Principal; readonly until: number }>();
  let era = 0;
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return null;
      if (clock.monotonicMs() < entry.until) return entry.principal;
      entries.delete(key);
      return null;
    },
    put(key, principal, eraOfRead) {
      if (eraOfRead !== era) return;
      entries.delete(key);
      if (entries.size >= maxEntries) {
        const [oldest] = entries.keys();
        if (oldest !== undefined) entries.delete(oldest);
      }
      entries.set(key, { principal, until: clock.monotonicMs() + ttlMs });
    },
    era: () => era,
    clear() {
      era += 1;
      entries.clear();
    },
  };
}

/** A digest, so that a memory dump holds no credential longer than its request. */
export function cacheKey({ kind, value }: Credential): string {
  return hash('sha256', `${kind} ${value}`, 'base64');
}
