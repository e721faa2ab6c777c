/** Names whose similarity is smaller are different things (cognify-improve.md §1.10). */
const CUTOFF = 0.8;
/** Longer names are compared for equality alone: the comparison takes time with the square of their length. */
const MAX_LENGTH = 200;

/**
 * Finds the key that is most similar to a name, by Ratcliff and Obershelp's measure. Keys that share too few pairs of letters
 * to reach the cutoff are not compared: of tens of thousands a few dozen are.
 */
export function createClosestName(keys: readonly string[]) {
  const byPair = new Map<string, number[]>();
  for (const [index, key] of keys.entries()) {
    for (const pair of new Set(pairsOf(key))) {
      const list = byPair.get(pair);
      if (list === undefined) byPair.set(pair, [index]);
      else list.push(index);
    }
  }
  return (name: string): string | null => {
    if (name.length > MAX_LENGTH) return null;
    const shared = new Map<number, number>();
    for (const pair of pairsOf(name)) {
      for (const index of byPair.get(pair) ?? []) shared.set(index, (shared.get(index) ?? 0) + 1);
    }
    let best: string | null = null;
    let greatest = CUTOFF;
    const candidates = [...shared]
      .map(([index, pairs]) => ({ key: keys[index] as string, pairs }))
      .filter(
        ({ key, pairs }) => key.length <= MAX_LENGTH && pairs >= leastSharedPairs(key.length + name.length, CUTOFF),
      )
      .sort((one, other) => other.pairs - one.pairs);
    for (const { key, pairs } of candidates) {
      const both = key.length + name.length;
      // What is found raises what the others have to reach.
      if (pairs < leastSharedPairs(both, greatest)) continue;
      if ((2 * commonLetters(key, name)) / both < greatest) continue;
      const ratio = similarity(key, name);
      if (ratio < greatest || (ratio === greatest && best !== null && key >= best)) continue;
      [best, greatest] = [key, ratio];
    }
    return best;
  };
}

/** m equal letters of both names stand in at most `both - 2m + 1` blocks, and each block of n letters has n - 1 pairs. */
function leastSharedPairs(both: number, ratio: number): number {
  return Math.max(1, 3 * Math.ceil((ratio * both) / 2 - 1e-9) - both - 1);
}

/** Letters of one name that the other has too, wherever they stand: at least as many as `equalLetters`. */
function commonLetters(one: string, other: string): number {
  const left = new Map<string, number>();
  for (const letter of one) left.set(letter, (left.get(letter) ?? 0) + 1);
  let common = 0;
  for (const letter of other) {
    const count = left.get(letter) ?? 0;
    if (count === 0) continue;
    left.set(letter, count - 1);
    common += letter.length;
  }
  return common;
}

function pairsOf(text: string): readonly string[] {
  return Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2));
}

/** 1 for equal texts, 0 for texts without a common letter. */
export function similarity(one: string, other: string): number {
  const both = one.length + other.length;
  return both === 0 ? 1 : (2 * equalLetters(one, other)) / both;
}

/** Letters of the longest common part, and of those before and after it. */
function equalLetters(one: string, other: string): number {
  const [inOne, inOther, length] = longestCommonPart(one, other);
  if (length === 0) return 0;
  return (
    length +
    equalLetters(one.slice(0, inOne), other.slice(0, inOther)) +
    equalLetters(one.slice(inOne + length), other.slice(inOther + length))
  );
}

function longestCommonPart(one: string, other: string): readonly [number, number, number] {
  let found: readonly [number, number, number] = [0, 0, 0];
  let above = new Uint16Array(other.length + 1);
  for (let at = 0; at < one.length; at++) {
    const row = new Uint16Array(other.length + 1);
    for (let to = 0; to < other.length; to++) {
      if (one[at] !== other[to]) continue;
      const length = (above[to] as number) + 1;
      row[to + 1] = length;
      if (length > found[2]) found = [at - length + 1, to - length + 1, length];
    }
    above = row;
  }
  return found;
}
