/** Cache of recently read values; the least recently used are evicted first. */
export interface RecentReads<Value> {
  get(key: string): Value | undefined;
  /** `bytes`: about what it weighs. What is larger than a quarter of the room is not kept. */
  keep(key: string, value: Value, bytes: number): void;
  clear(): void;
}

export function createRecentReads<Value>(maxBytes: number): RecentReads<Value> {
  const entries = new Map<string, { readonly value: Value; readonly bytes: number }>();
  let held = 0;
  return {
    get(key) {
      const found = entries.get(key);
      if (found === undefined) return undefined;
      entries.delete(key);
      entries.set(key, found);
      return found.value;
    },
    keep(key, value, bytes) {
      if (bytes > maxBytes / 4) return;
      held += bytes - (entries.get(key)?.bytes ?? 0);
      entries.delete(key);
      entries.set(key, { value, bytes });
      for (const [oldest, { bytes: freed }] of entries) {
        if (held <= maxBytes) break;
        entries.delete(oldest);
        held -= freed;
      }
    },
    clear() {
      entries.clear();
      held = 0;
    },
  };
}
