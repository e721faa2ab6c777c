/**
 * Keys to work on, as a set: a key that waits is not added twice, a key that is being worked on is given to nobody else and
 * waits again when it was added meanwhile.
 */
export interface KeySet {
  add(key: string): void;
  /** The one that has waited longest, to be worked on until `done`; undefined when none waits. */
  take(): string | undefined;
  done(key: string): void;
  waiting(): boolean;
  /** Keys are being worked on. */
  busy(): boolean;
  /** Keys that wait, now or as soon as they are done. */
  depth(): number;
  /** Forgets all that wait. */
  clear(): void;
}

export function createKeySet(): KeySet {
  const waiting = new Set<string>();
  const processing = new Set<string>();
  /** Those being worked on that were added meanwhile. */
  const dirty = new Set<string>();
  return {
    add(key) {
      if (processing.has(key)) dirty.add(key);
      else waiting.add(key);
    },
    take() {
      const [key] = waiting;
      if (key === undefined) return undefined;
      waiting.delete(key);
      processing.add(key);
      return key;
    },
    done(key) {
      processing.delete(key);
      if (dirty.delete(key)) waiting.add(key);
    },
    waiting: () => waiting.size > 0,
    busy: () => processing.size > 0,
    depth: () => waiting.size + dirty.size,
    clear() {
      waiting.clear();
      dirty.clear();
    },
  };
}
