import { keepNewest } from './recently-used.ts';

export interface TtlCacheOptions {
  readonly clock: { monotonicMs(): number };
  /** How long a value is used should the news of a change be lost. */
  readonly ttlMs?: number;
  readonly maxEntries?: number;
}

/** Marks the begin of a look-up. */
interface LookUp {
  readonly era: number;
  readonly atMs: number;
}

export type TtlCache<Key, Value> = ReturnType<typeof createTtlCache<Key, Value>>;

/**
 * Keeps looked-up values for a moment, so that a burst of requests costs one look-up. A change is announced by `drop`; a
 * look-up that began before it may have read the former state, and its result is not kept.
 */
export function createTtlCache<Key, Value>({ clock, ttlMs = 1000, maxEntries = 10_000 }: TtlCacheOptions) {
  const entries = new Map<Key, { readonly value: Value; readonly untilMs: number }>();
  let era = 0;
  /** Undefined: no value is known. */
  const get = (key: Key): Value | undefined => {
    const entry = entries.get(key);
    return entry !== undefined && clock.monotonicMs() < entry.untilMs ? entry.value : undefined;
  };
  /** Call it before the look-up whose result is `put`. */
  const lookUp = (): LookUp => ({ era, atMs: clock.monotonicMs() });
  /** Does nothing when something was dropped since the look-up began. `lifeMs`: how long the value itself lives. */
  const put = (key: Key, value: Value, from: LookUp, lifeMs: number = Number.POSITIVE_INFINITY): void => {
    if (from.era !== era) return;
    const untilMs = Math.min(from.atMs + ttlMs, clock.monotonicMs() + lifeMs);
    keepNewest(entries, maxEntries, key, { value, untilMs });
  };
  return {
    get,
    lookUp,
    put,
    /** The known value, else the one that is loaded. */
    async of(key: Key, load: () => Promise<Value>): Promise<Value> {
      const known = get(key);
      if (known !== undefined) return known;
      const from = lookUp();
      const value = await load();
      put(key, value, from);
      return value;
    },
    drop(isMeant: (key: Key, value: Value) => boolean): void {
      era += 1;
      for (const [key, { value }] of entries) if (isMeant(key, value)) entries.delete(key);
    },
  };
}
