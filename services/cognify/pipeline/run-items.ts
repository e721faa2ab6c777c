/**
 * Works on items with at most `limit` at a time. `raise`: the first failure aborts the others, waits for them and is
 * thrown. Otherwise all items are tried, and the first failure is thrown at the end.
 */
export async function runItems<Item>(
  items: readonly Item[],
  settings: { readonly limit: number; readonly raise: boolean; readonly signal: AbortSignal },
  work: (item: Item, position: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([settings.signal, failed.signal]);
  const failures: unknown[] = [];
  const pending = items.entries();
  const worker = async (): Promise<void> => {
    for (const [position, item] of pending) {
      if (signal.aborted) return;
      try {
        await work(item, position, signal);
      } catch (error) {
        // After the first failure the others end because they were told to.
        if (!signal.aborted) failures.push(error);
        if (settings.raise && !signal.aborted) failed.abort(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(settings.limit, items.length)) }, worker));
  settings.signal.throwIfAborted();
  if (failures.length > 0) throw failures[0];
}
