/**
 * Returns the value of a key in a cache of at most `size` entries; makes it when it is missing, and removes what was used
 * least recently.
 */
export function recentlyUsed<Key, Value>(cache: Map<Key, Value>, size: number, key: Key, make: () => Value): Value {
  const known = cache.get(key);
  // Until it is full nothing is removed, and the order costs more than most look-ups.
  if (known !== undefined && cache.size < size) return known;
  const value = known === undefined ? make() : known;
  keepNewest(cache, size, key, value);
  return value;
}

/** Puts the value into a cache as the newest one, and removes the oldest where there are more than `size`. */
export function keepNewest<Key, Value>(cache: Map<Key, Value>, size: number, key: Key, value: Value): void {
  // A map keeps the order of insertion.
  cache.delete(key);
  cache.set(key, value);
  while (cache.size > size) cache.delete(cache.keys().next().value as Key);
}

/**
 * Returns the function with a cache of at most `size` results, for the texts of the last calls. Callers share them. Texts longer than
 * `longest` are seldom seen again, and are not kept.
 */
export function keptByText<Value>(
  size: number,
  make: (text: string) => Value,
  longest = 2000,
): (text: string) => Value {
  return madeOnce(createLargeCache<string, Value>(size), make, longest);
}

/** Like `keptByText`; of texts that have at most `characters` together, so that many short ones do not push out few long ones. */
export function keptByLength<Value>(
  characters: number,
  make: (text: string) => Value,
  longest: number,
): (text: string) => Value {
  return madeOnce(
    createLargeCache<string, Value>(characters, (text) => text.length),
    make,
    longest,
  );
}

function madeOnce<Value>(
  cache: LargeCache<string, Value>,
  make: (text: string) => Value,
  longest: number,
): (text: string) => Value {
  return (text) => {
    if (text.length > longest) return make(text);
    let value = cache.get(text);
    if (value === undefined) {
      value = make(text);
      cache.set(text, value);
    }
    return value;
  };
}

type LargeCache<Key, Value> = ReturnType<typeof createLargeCache<Key, Value>>;

/**
 * Returns a cache of between half of `size` and `size` values, those used last; a function may tell the size that holds now. Where
 * keys have weights, `size` is the sum of these. A look-up costs the same at any size: in a large map in the order of use, most of
 * the time goes into finding the oldest entry.
 */
export function createLargeCache<Key, Value>(size: number | (() => number), weightOf?: (key: Key) => number) {
  let recent = new Map<Key, Value>();
  let former = new Map<Key, Value>();
  let weight = 0;
  const set = (key: Key, value: Value): void => {
    recent.set(key, value);
    if (weightOf !== undefined) weight += weightOf(key);
    if (2 * (weightOf === undefined ? recent.size : weight) < (typeof size === 'number' ? size : size())) return;
    former = recent;
    recent = new Map();
    weight = 0;
  };
  return {
    get(key: Key): Value | undefined {
      const known = recent.get(key);
      if (known !== undefined) return known;
      const before = former.get(key);
      if (before !== undefined) set(key, before);
      return before;
    },
    set,
    clear(): void {
      recent = new Map();
      former = new Map();
      weight = 0;
    },
  };
}
