/**
 * Returns the value of a key in a cache of at most `size` entries; makes it when it is missing, and removes what was used
 * least recently.
 */
export function recentlyUsed<Key, Value>(cache: Map<Key, Value>, size: number, key: Key, make: () => Value): Value {
  const known = cache.get(key);
  // Until it is full nothing is removed, and the order costs more than most look-ups.
  if (known !== undefined && cache.size < size) return known;
  const value = known === undefined ? make() : known;
  // A map keeps the order of insertion.
  cache.delete(key);
  cache.set(key, value);
  if (cache.size > size) cache.delete(cache.keys().next().value as Key);
  return value;
}
