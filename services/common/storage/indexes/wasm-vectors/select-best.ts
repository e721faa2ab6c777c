/**
 * The `limit` greatest scores among `count`, together with every score equal to the last of them, so that the caller can
 * break ties by what only it knows. Slots in no order. `accepts` is asked only for slots that could get in.
 */
export function selectBest(
  scores: Float32Array,
  count: number,
  limit: number,
  accepts: (slot: number) => boolean,
): readonly number[] {
  const threshold = limitThreshold(scores, count, Math.min(limit, count), accepts);
  const slots: number[] = [];
  for (let slot = 0; slot < count; slot++) if ((scores[slot] as number) >= threshold && accepts(slot)) slots.push(slot);
  return slots;
}

/** The `limit`-th greatest accepted score, −Infinity when there are fewer. A min-heap of the best seen so far. */
function limitThreshold(scores: Float32Array, count: number, limit: number, accepts: (slot: number) => boolean) {
  const heap = new Float32Array(limit);
  let size = 0;
  for (let slot = 0; slot < count; slot++) {
    const score = scores[slot] as number;
    if (size === limit && score <= (heap[0] as number)) continue;
    if (!accepts(slot)) continue;
    if (size < limit) raise(heap, size++, score);
    else sink(heap, size, score);
  }
  return size < limit || limit === 0 ? -Infinity : (heap[0] as number);
}

function raise(heap: Float32Array, position: number, score: number): void {
  let child = position;
  while (child > 0) {
    const parent = (child - 1) >> 1;
    const above = heap[parent] as number;
    if (above <= score) break;
    heap[child] = above;
    child = parent;
  }
  heap[child] = score;
}

/** Puts `score` in the place of the least one. */
function sink(heap: Float32Array, size: number, score: number): void {
  let parent = 0;
  for (;;) {
    let child = 2 * parent + 1;
    if (child >= size) break;
    if (child + 1 < size && (heap[child + 1] as number) < (heap[child] as number)) child++;
    const below = heap[child] as number;
    if (below >= score) break;
    heap[parent] = below;
    parent = child;
  }
  heap[parent] = score;
}
