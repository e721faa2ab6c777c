/** The entity type of a name of which nothing else is known: any other type wins over it. */
const UNKNOWN_ENTITY_TYPE = 'Concept';

/**
 * The type of an entity by the mentions that speak for each. `Concept` says that nothing is known and does not vote, except
 * about ordinary words: that some text spells `shark` with a capital makes no person of all sharks. On a tie the longest
 * type wins, then the first in the alphabet.
 */
export function majorityType(name: string, mentions: ReadonlyMap<string, number>): string {
  const known = [...mentions].filter(([type]) => type !== UNKNOWN_ENTITY_TYPE && type !== '');
  const unknown = mentions.get(UNKNOWN_ENTITY_TYPE) ?? 0;
  if (known.length === 0) return UNKNOWN_ENTITY_TYPE;
  const best = known.reduce((winner, other) => (isBefore(other, winner) ? other : winner));
  return isOrdinaryWord(name) && unknown > best[1] ? UNKNOWN_ENTITY_TYPE : best[0];
}

/** Without a capital, a digit or a letter of a script that has none. */
export function isOrdinaryWord(name: string): boolean {
  return !/[\p{Lu}\p{Lt}\p{Lo}\p{N}]/u.test(name);
}

function isBefore(one: readonly [string, number], other: readonly [string, number]): boolean {
  if (one[1] !== other[1]) return one[1] > other[1];
  if (one[0].length !== other[0].length) return one[0].length > other[0].length;
  return one[0] < other[0];
}
