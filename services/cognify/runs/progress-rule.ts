/**
 * About twenty progress writes a run, whatever its size: the first item, the last one, and each time another twentieth
 * of the items has ended (cognify-improve.md §2.8).
 */
export function isProgressTick(completedItems: number, totalItems: number): boolean {
  if (completedItems <= 1 || completedItems >= totalItems) return true;
  return completedItems % Math.max(1, Math.floor(totalItems / 20)) === 0;
}
