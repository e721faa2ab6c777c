/** How far a piece of work is, as its record says. */
export type WorkState = {
  readonly isComplete: boolean;
  /** Why it did not end; null while it is under way or waits for its next attempt. */
  readonly failure: { readonly name: string; readonly message: string } | null;
  /** Milliseconds since 1970: when it was last worked on. */
  readonly touchedAtMs: number;
};

/** Called while something is forgotten, also when it does not come to an end. */
export interface ForgettingCounts {
  removed(kind: string, count: number): void;
  /** Records that are there still. */
  left(count: number): void;
}

/** Adds up by kind what was removed, to counts of earlier attempts. */
export function countForgotten(earlier: Readonly<Record<string, number>> = {}, residue = 0) {
  const removed: Record<string, number> = { ...earlier };
  let left = residue;
  return {
    removed(kind: string, count: number) {
      if (count > 0) removed[kind] = (removed[kind] ?? 0) + count;
    },
    left(count: number) {
      left = count;
    },
    total: () => ({ removed: { ...removed }, residue: left }),
  } satisfies ForgettingCounts & { total(): unknown };
}
