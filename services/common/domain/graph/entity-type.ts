/** The entity type of a name of which nothing else is known: any other type wins over it. */
const UNKNOWN_ENTITY_TYPE = 'Concept';

/** One of the statements that an entity is of a type. */
interface TypeStatement {
  readonly name: string;
  readonly type: string;
  readonly mentions: number;
  /** From 0 to 1. */
  readonly certainty: number | undefined;
}

/**
 * Weight of a statement in `majorityType`: its mentions by its certainty. Without one a type is certain, and `Concept` says
 * that nothing is known, except of ordinary words: that some text spells `shark` with a capital makes no person of all sharks.
 */
export function typeWeight({ name, type, mentions, certainty }: TypeStatement): number {
  const isKnown = (type !== UNKNOWN_ENTITY_TYPE && type !== '') || isOrdinaryWord(name);
  return mentions * (certainty ?? Number(isKnown));
}

/** The type with most weight. On a tie `Concept` loses, then the longest type wins, then the first in the alphabet. */
export function majorityType(weights: ReadonlyMap<string, number>): string {
  const known = [...weights].filter(([type]) => type !== UNKNOWN_ENTITY_TYPE && type !== '');
  if (known.length === 0) return UNKNOWN_ENTITY_TYPE;
  const best = known.reduce((winner, other) => (isBefore(other, winner) ? other : winner));
  return (weights.get(UNKNOWN_ENTITY_TYPE) ?? 0) > best[1] ? UNKNOWN_ENTITY_TYPE : best[0];
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
