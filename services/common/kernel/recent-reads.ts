/** Cache of recently read values; of the oldest those are evicted first that were not used since. */
export interface RecentReads<Value, Key = string> {
  get(key: Key): Value | undefined;
  /** `size`: about what it weighs. What is larger than a quarter of the room is not kept. */
  keep(key: Key, value: Value, size: number): void;
  clear(): void;
}

interface Entry<Value, Key> {
  readonly key: Key;
  value: Value;
  size: number;
  isUsed: boolean;
}

/**
 * Marks what is used and moves it behind the others when it would be evicted: to keep a map in the order of use takes several
 * times as long for each hit. The order is that of a list, as a map takes long to find its oldest entry among deleted ones.
 */
export function createRecentReads<Value, Key = string>(maxSize: number): RecentReads<Value, Key> {
  const entries = new Map<Key, Entry<Value, Key>>();
  /** Oldest first, from `first` on. */
  let order: Entry<Value, Key>[] = [];
  let first = 0;
  let held = 0;
  const evict = (): void => {
    const oldest = order[first] as Entry<Value, Key>;
    first += 1;
    if (2 * first > order.length) {
      order = order.slice(first);
      first = 0;
    }
    if (oldest.isUsed) {
      oldest.isUsed = false;
      order.push(oldest);
      return;
    }
    entries.delete(oldest.key);
    held -= oldest.size;
  };
  return {
    get(key) {
      const found = entries.get(key);
      if (found === undefined) return undefined;
      found.isUsed = true;
      return found.value;
    },
    keep(key, value, size) {
      if (size > maxSize / 4) return;
      const known = entries.get(key);
      held += size - (known?.size ?? 0);
      if (known === undefined) {
        const entry = { key, value, size, isUsed: false };
        entries.set(key, entry);
        order.push(entry);
      } else {
        Object.assign(known, { value, size, isUsed: true });
      }
      while (held > maxSize) evict();
    },
    clear() {
      entries.clear();
      order = [];
      first = 0;
      held = 0;
    },
  };
}
