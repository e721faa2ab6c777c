/** Cache of recently read values; of the oldest those are evicted first that were not used since. */
export interface RecentReads<Value, Key = string> {
  get(key: Key): Value | undefined;
  /** `size`: about what it weighs. What is larger than a quarter of the room is not kept. */
  keep(key: Key, value: Value, size: number): void;
  clear(): void;
}

/**
 * Marks what is used and moves it behind the others when it would be evicted: to keep a map in the order of use takes several
 * times as long for each hit.
 */
export function createRecentReads<Value, Key = string>(maxSize: number): RecentReads<Value, Key> {
  const entries = new Map<Key, { readonly value: Value; readonly size: number; isUsed: boolean }>();
  let held = 0;
  return {
    get(key) {
      const found = entries.get(key);
      if (found === undefined) return undefined;
      found.isUsed = true;
      return found.value;
    },
    keep(key, value, size) {
      if (size > maxSize / 4) return;
      held += size - (entries.get(key)?.size ?? 0);
      entries.delete(key);
      entries.set(key, { value, size, isUsed: false });
      for (const [oldest, entry] of entries) {
        if (held <= maxSize) break;
        entries.delete(oldest);
        if (entry.isUsed) entries.set(oldest, { ...entry, isUsed: false });
        else held -= entry.size;
      }
    },
    clear() {
      entries.clear();
      held = 0;
    },
  };
}
