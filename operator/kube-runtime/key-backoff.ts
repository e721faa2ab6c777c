/** How long each key waits before it is tried again: doubles with each try until it is forgotten. */
export interface KeyBackoff {
  /** Counts one more try, and answers its wait in milliseconds. */
  next(key: string): number;
  /** Tries since `forget`. */
  countOf(key: string): number;
  forget(key: string): void;
}

export interface BackoffRange {
  readonly first: number;
  readonly most: number;
}

export function createKeyBackoff({ first, most }: BackoffRange): KeyBackoff {
  const counts = new Map<string, number>();
  const countOf = (key: string): number => counts.get(key) ?? 0;
  return {
    next(key) {
      const count = countOf(key);
      counts.set(key, count + 1);
      return Math.min(most, first * 2 ** Math.min(count, 40));
    },
    countOf,
    forget: (key) => void counts.delete(key),
  };
}
