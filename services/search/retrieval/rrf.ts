/** One ranked list of distinct ids, best first. */
interface RankedLane {
  readonly ids: readonly string[];
  readonly weight: number;
}

export interface FusedItem {
  readonly id: string;
  /** Σ weight / (k + rank), ranks from 1. */
  readonly score: number;
  /** Best rank (from 1) in a lane. */
  readonly bestRank: number;
}

interface FusionOptions {
  /** Constant that reduces the lead of first ranks; 60 as in Cormack, Clarke and Büttcher 2009. */
  readonly k?: number;
  /** Maximum number of items. */
  readonly limit: number;
  /** Number of first hits of every lane that are always kept. */
  readonly guaranteedPerLane?: number;
}

/**
 * Fuses rankings by reciprocal rank. The sum alone would drop an item that is first in one lane and absent from the others;
 * guaranteed slots keep it. Order: score, then best rank, then id.
 */
export function fuse(lanes: readonly RankedLane[], options: FusionOptions): readonly FusedItem[] {
  const k = options.k ?? 60;
  const items = new Map<string, { readonly id: string; score: number; bestRank: number }>();
  for (const { ids, weight } of lanes) {
    for (let index = 0; index < ids.length; index++) {
      const id = ids[index] as string;
      const score = weight / (k + index + 1);
      const known = items.get(id);
      if (known === undefined) items.set(id, { id, score, bestRank: index + 1 });
      else {
        known.score += score;
        if (index + 1 < known.bestRank) known.bestRank = index + 1;
      }
    }
  }
  const ordered = [...items.values()].sort(byScoreThenRank);
  if (ordered.length <= options.limit) return ordered;
  const guaranteed = guaranteedIds(lanes, options.guaranteedPerLane ?? 0);
  const kept = ordered.slice(0, options.limit);
  const missing = ordered.slice(options.limit).filter((item) => guaranteed.has(item.id));
  if (missing.length === 0) return kept;
  return [...makeRoom(kept, guaranteed, missing.length), ...missing].sort(byScoreThenRank).slice(0, options.limit);
}

function byScoreThenRank(left: FusedItem, right: FusedItem): number {
  return (
    right.score - left.score || left.bestRank - right.bestRank || (left.id < right.id ? -1 : left.id > right.id ? 1 : 0)
  );
}

function guaranteedIds(lanes: readonly RankedLane[], perLane: number): ReadonlySet<string> {
  return new Set(lanes.filter((lane) => lane.weight > 0).flatMap((lane) => lane.ids.slice(0, perLane)));
}

/** Removes the weakest items that are not guaranteed. */
function makeRoom(kept: readonly FusedItem[], guaranteed: ReadonlySet<string>, count: number): readonly FusedItem[] {
  let left = count;
  return kept
    .toReversed()
    .filter((item) => guaranteed.has(item.id) || left-- <= 0)
    .toReversed();
}
