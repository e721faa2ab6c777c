/** The first failure that stops the others. */
class RunStopped extends Error {
  override readonly name = 'RunStopped';
}

/**
 * Works on items with at most `limit` at a time. What `work` throws stops the others, waits for them and is thrown: a failure
 * that concerns one item alone is for `work` to deal with.
 */
export async function runItems<Item>(
  items: readonly Item[],
  settings: { readonly limit: number; readonly signal: AbortSignal },
  work: (item: Item, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([settings.signal, stop.signal]);
  let failure: { readonly error: unknown } | null = null;
  const pending = items.values();
  const worker = async (): Promise<void> => {
    for (const item of pending) {
      if (signal.aborted) return;
      try {
        await work(item, signal);
      } catch (error) {
        // After the first failure the others end because they were told to.
        if (signal.aborted) return;
        failure = { error };
        stop.abort(new RunStopped('another item of the run failed', { cause: error }));
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(settings.limit, items.length)) }, worker));
  settings.signal.throwIfAborted();
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
}
