/** Work under one key waits for its turn; different keys do not wait for each other. */
type KeyedQueue = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

/**
 * Spares what would collide in a store its repetitions, which cost more than waiting. Other processes are no part of it, so
 * the store's own conditions stay what keeps data right.
 */
export function createKeyedQueue(): KeyedQueue {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const own = before.then(work, work);
    last.set(key, own);
    const forget = (): void => {
      if (last.get(key) === own) last.delete(key);
    };
    own.then(forget, forget);
    return own;
  };
}
