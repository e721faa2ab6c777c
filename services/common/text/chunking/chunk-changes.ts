/** Changes of a document's passages by an update, with the names of the wire (ingest.md §2). */
export interface ChunkChanges {
  /** Places in the document where something changed. */
  readonly regions: number;
  readonly deleted: number;
  /** Passages at a new position, `reused` included. */
  readonly added: number;
  /** Moved passages: unchanged at another position. */
  readonly reused: number;
  readonly kept: number;
  /** Kept passages with another number. */
  readonly reindexed: number;
  /** After the update. */
  readonly total: number;
}

/** From the ids of the passages before and after, each in the order of the document and without repetition. */
export function chunkChanges(before: readonly string[], after: readonly string[]): ChunkChanges {
  const formerly = new Map(before.map((id, index) => [id, index]));
  const common = after.flatMap((id, index) => {
    const from = formerly.get(id);
    return from === undefined ? [] : [{ from, to: index }];
  });
  const kept = longestRising(common);
  let regions = 0;
  let last = { from: -1, to: -1 };
  for (const place of [...kept, { from: before.length, to: after.length }]) {
    if (place.from - last.from > 1 || place.to - last.to > 1) regions += 1;
    last = place;
  }
  return {
    regions,
    deleted: before.length - common.length,
    added: after.length - kept.length,
    reused: common.length - kept.length,
    kept: kept.length,
    reindexed: kept.filter(({ from, to }) => from !== to).length,
    total: after.length,
  };
}

interface Place {
  readonly from: number;
  readonly to: number;
}

/** The longest part of `places`, which rise in `to`, that rises in `from` too: by patience sorting. */
function longestRising(places: readonly Place[]): readonly Place[] {
  interface Link extends Place {
    readonly before: Link | null;
  }
  /** By length: the end of the chain of that length that ends lowest. */
  const ends: Link[] = [];
  for (const place of places) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle]?.from ?? 0) < place.from) low = middle + 1;
      else high = middle;
    }
    ends[low] = { ...place, before: ends[low - 1] ?? null };
  }
  const chain: Place[] = [];
  for (let link = ends.at(-1) ?? null; link !== null; link = link.before) chain.push({ from: link.from, to: link.to });
  return chain.reverse();
}
