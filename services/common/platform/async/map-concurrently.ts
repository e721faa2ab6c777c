/** Runs `work` over the list with at most `limit` at a time; results in list order. The first failure stops the rest. */
export async function mapConcurrently<In, Out>(
  list: readonly In[],
  limit: number,
  work: (item: In, index: number) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = new Array(list.length);
  const pending = list.entries();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (const [index, item] of pending) {
      if (failed) return;
      try {
        results[index] = await work(item, index);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const settled = await Promise.allSettled(Array.from({ length: Math.min(limit, list.length) }, worker));
  const failure = settled.find((outcome) => outcome.status === 'rejected');
  if (failure) throw failure.reason;
  return results;
}
