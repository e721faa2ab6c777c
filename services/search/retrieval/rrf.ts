/** One ranked list of distinct ids, best first. */
interface RankedLane {
  readonly name: string;
  readonly ids: readonly string[];
  readonly weight: number;
}

export interface FusedItem {
  readonly id: string;
  /** Σ weight / (k + rank), ranks from 1. */
  readonly score: number;
  /** Rank (from 1) in each lane that found the item. */
  readonly ranks: ReadonlyMap<string, number>;
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
  const scores = new Map<string, number>();
  const ranks = new Map<string, Map<string, number>>();
  for (const lane of lanes) {
    for (const [index, id] of lane.ids.entries()) {
      scores.set(id, (scores.get(id) ?? 0) + lane.weight / (k + index + 1));
      const known = ranks.get(id) ?? new Map<string, number>();
      known.set(lane.name, index + 1);
      ranks.set(id, known);
    }
  }
  const ordered = [...scores].map(([id, score]) => ({ id, score, ranks: ranks.get(id) ?? new Map<string, number>() }));
  ordered.sort(byScoreThenRank);
  if (ordered.length <= options.limit) return ordered;
  const guaranteed = guaranteedIds(lanes, options.guaranteedPerLane ?? 0);
  const kept = ordered.slice(0, options.limit);
  const missing = ordered.slice(options.limit).filter((item) => guaranteed.has(item.id));
  if (missing.length === 0) return kept;
  return [...makeRoom(kept, guaranteed, missing.length), ...missing].sort(byScoreThenRank).slice(0, options.limit);
}

function byScoreThenRank(left: FusedItem, right: FusedItem): number {
  return (
    right.score - left.score ||
    Math.min(...left.ranks.values()) - Math.min(...right.ranks.values()) ||
    (left.id < right.id ? -1 : left.id > right.id ? 1 : 0)
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
