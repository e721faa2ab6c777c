import { slices } from '../../../kernel/slices.ts';
import type { EntryFilter, IndexKind } from '../../ports/index-entry.ts';
import type { VectorHit } from '../../ports/vector-index.ts';
import { type BlockPool, createBlockPool } from './block-pool.ts';
import { createKernel, type Kernel } from './kernel.ts';
import { selectBest } from './select-best.ts';
import { blocksNeeded, createVectorArena, type NearSlots, type VectorArena } from './vector-arena.ts';
import type { VectorSource } from './vector-source.ts';

interface VectorScanOptions {
  /** Memory for vectors; what does not fit is read from the source for each query. */
  readonly memoryBytes: number;
  /** Number of rows of a kind from which on they are kept as i8. */
  readonly quantiseAbove: number;
  readonly kernel?: Kernel;
}

export interface ScanQuery extends Omit<EntryFilter, 'kind'> {
  /** Unit length. */
  readonly vector: Float32Array;
  readonly limit: number;
}

interface Loaded {
  readonly arena: VectorArena;
  stale: boolean;
}

type Dataset = Map<IndexKind, Loaded>;

/** Queries answered in one pass: each needs a block for itself and one number per row for its scores. */
const QUERIES_PER_PASS = 8;
const SPARE_BLOCKS = QUERIES_PER_PASS + 1;

/**
 * Nearest neighbours over the vectors of many datasets, those used last kept in memory: exact, and from a hundred thousand
 * rows or so on among the rows with the nearest sketches. Their similarities are exact.
 */
export function createVectorScan(options: VectorScanOptions) {
  const pool = createBlockPool(options.kernel ?? createKernel(), options.memoryBytes);
  /** In order of use, the least recent first. */
  const datasets = new Map<string, Dataset>();

  const unload = (name: string) => {
    for (const { arena } of datasets.get(name)?.values() ?? []) arena.release();
    datasets.delete(name);
  };
  const makeRoom = (blocks: number, keep: string): boolean => {
    for (const name of datasets.keys()) {
      if (pool.available() >= blocks) return true;
      if (name !== keep) unload(name);
    }
    return pool.available() >= blocks;
  };
  const load = (name: string, dataset: Dataset, source: VectorSource, kind: IndexKind): VectorArena | null => {
    dataset.get(kind)?.arena.release();
    dataset.delete(kind);
    const dimensions = source.space()?.dimensions ?? 0;
    const count = source.count(kind);
    const wanted = (quantised: boolean) => blocksNeeded(dimensions, count, quantised) + SPARE_BLOCKS;
    const quantise = count > options.quantiseAbove || !makeRoom(wanted(false), name);
    if (!makeRoom(wanted(quantise), name)) return null;
    const arena = createVectorArena(pool, dimensions, { quantise });
    if (!fill(arena, source, kind, pool)) {
      arena.release();
      return null;
    }
    dataset.set(kind, { arena, stale: false });
    return arena;
  };
  const obtain = (name: string, source: VectorSource, kind: IndexKind): VectorArena | null => {
    const dataset = datasets.get(name) ?? new Map<IndexKind, Loaded>();
    datasets.delete(name);
    datasets.set(name, dataset);
    const loaded = dataset.get(kind);
    if (!loaded) return load(name, dataset, source, kind);
    if (!loaded.stale) return loaded.arena;
    const { arena } = loaded;
    const isFilled = makeRoom(SPARE_BLOCKS, name) && fill(arena, source, kind, pool);
    const isOutgrown = !arena.isQuantised && arena.liveCount > options.quantiseAbove;
    const isSparse = arena.liveCount < arena.slotCount / 2;
    if (!isFilled || isOutgrown || isSparse) return load(name, dataset, source, kind);
    loaded.stale = false;
    return arena;
  };

  return {
    /** Answers of all queries, which share the passes over the rows. */
    nearest(name: string, source: VectorSource, kind: IndexKind, queries: readonly ScanQuery[]) {
      const arena = obtain(name, source, kind);
      const answers = queries.map((query) => (arena === null ? null : pickNearest(arena, source, query)));
      const unanswered = [...answers.keys()].filter((index) => answers[index] === null);
      for (const group of slices(unanswered, QUERIES_PER_PASS)) {
        const asked = group.map((index) => queries[index] as ScanQuery);
        const scores = arena?.scan(asked.map(({ vector }) => vector)) ?? null;
        const found =
          arena === null || scores === null
            ? readThrough(source, kind, asked)
            : asked.map((query, index) => pick(arena, source, query, { scores: scores[index] as Float32Array }));
        for (const [index, hits] of found.entries()) answers[group[index] as number] = hits;
      }
      return answers.map((hits) => hits ?? []);
    },
    /** Rows were added, and these removed: the next query reads what is new. */
    changed(name: string, removed: readonly { readonly kind: IndexKind; readonly row: number }[]) {
      const dataset = datasets.get(name);
      if (!dataset) return;
      for (const { kind, row } of removed) dataset.get(kind)?.arena.remove(row);
      for (const loaded of dataset.values()) loaded.stale = true;
    },
    /** Lets go of a dataset's memory. */
    unload,
    usage: () => ({ datasets: datasets.size, freeBlocks: pool.available() }),
  };
}

/** Appends what the arena does not have yet; false when memory ran out. */
function fill(arena: VectorArena, source: VectorSource, kind: IndexKind, pool: BlockPool): boolean {
  let hasRoom = true;
  source.eachAfter(kind, arena.lastRow, (row) => {
    hasRoom = pool.available() > SPARE_BLOCKS - 1 && arena.append(row);
    return hasRoom;
  });
  return hasRoom;
}

/** Null when every row must be compared: there are few, or a filter leaves some of them out. */
function pickNearest(arena: VectorArena, source: VectorSource, query: ScanQuery): readonly VectorHit[] | null {
  const { items, nodeSets, withoutItems } = query;
  if ((items ?? nodeSets ?? withoutItems) !== undefined) return null;
  const near = arena.scanNearest(query.vector, query.limit);
  return near === null ? null : pick(arena, source, query, near);
}

/** `slots`: those that were compared; default: all. */
function pick(
  arena: VectorArena,
  source: VectorSource,
  query: ScanQuery,
  { slots, scores }: Partial<NearSlots> & Pick<NearSlots, 'scores'>,
): readonly VectorHit[] {
  const accepted = source.accepted(query);
  const slotAt = (place: number) => (slots === undefined ? place : (slots[place] as number));
  const accepts = (place: number) => {
    const slot = slotAt(place);
    return arena.isLive(slot) && (accepted === null || accepted.has(arena.origin(slot)));
  };
  const rowsAt = (places: readonly number[]): readonly ScoredRow[] =>
    places.map((place) => {
      const slot = slotAt(place);
      return { id: arena.id(slot), origin: arena.origin(slot), row: arena.row(slot), score: scores[place] as number };
    });
  const count = slots?.length ?? arena.slotCount;
  const best = (limit: number) => rowsAt(selectBest(scores, count, limit, accepts));
  if (!arena.isQuantised) return bestHits(best(query.limit), query.limit, source);
  return refineHits(best, query, source, count);
}

/** For datasets that the memory limit keeps out: one pass over the stored rows, nothing kept but the best. */
function readThrough(source: VectorSource, kind: IndexKind, queries: readonly ScanQuery[]) {
  const lanes = queries.map((query) => ({
    query,
    accepted: source.accepted(query),
    best: [] as ScoredRow[],
    floor: -2,
  }));
  source.eachAfter(kind, -1, ({ id, origin, row, vector }) => {
    for (const lane of lanes) {
      if (lane.accepted !== null && !lane.accepted.has(origin)) continue;
      const score = dotProduct(lane.query.vector, vector);
      if (score < lane.floor) continue;
      lane.best.push({ id, origin, row, score });
      if (lane.best.length >= 8 * lane.query.limit + 64) trim(lane);
    }
    return true;
  });
  return lanes.map(({ best, query }) => bestHits(best, query.limit, source));
}

/** Keeps the best and whatever ties with the last of them. */
function trim(lane: { best: ScoredRow[]; floor: number; readonly query: ScanQuery }): void {
  lane.best.sort((a, b) => b.score - a.score);
  lane.floor = lane.best[lane.query.limit - 1]?.score ?? lane.floor;
  lane.best = lane.best.filter(({ score }) => score >= lane.floor);
}

interface ScoredRow {
  readonly id: string;
  readonly origin: number;
  readonly row: number;
  readonly score: number;
}

/** Rows of the first refinement beyond the limit. */
const REFINED_BEYOND = 32;

/** The `limit` best as hits: by similarity, then id, item, generation. Rows that have gone meanwhile are left out. */
function bestHits(rows: readonly ScoredRow[], limit: number, source: VectorSource): readonly VectorHit[] {
  return rows
    .flatMap(({ id, origin, score }) => {
      const provenance = source.provenance(origin);
      return provenance === null ? [] : [{ id, ...provenance, similarity: Math.max(-1, Math.min(1, score)) }];
    })
    .sort(compareHits)
    .slice(0, limit);
}

/**
 * Turns approximate scores into exact ones. It reads the best rows at full precision, learns from them how far off the
 * approximation is, and goes on to deeper rows until none of the rest can reach the answer even if it were off by
 * twice the worst error seen.
 */
function refineHits(
  best: (limit: number) => readonly ScoredRow[],
  query: { readonly vector: Float32Array; readonly limit: number },
  source: VectorSource,
  slotCount: number,
): readonly VectorHit[] {
  const exact = new Map<number, ScoredRow | null>();
  let worstError = 0;
  for (let depth = query.limit + REFINED_BEYOND; ; depth *= 2) {
    const rows = best(depth);
    const floor = rows.reduce((least, { score }) => Math.min(least, score), Infinity);
    const unread = rows.filter(({ row }) => !exact.has(row));
    const vectors = source.vectors(unread.map(({ row }) => row));
    for (const row of unread) {
      const vector = vectors.get(row.row);
      const score = vector === undefined ? 0 : dotProduct(query.vector, vector);
      if (vector !== undefined) worstError = Math.max(worstError, Math.abs(score - row.score));
      exact.set(row.row, vector === undefined ? null : { ...row, score });
    }
    const refined = [...exact.values()].filter((row) => row !== null).sort((a, b) => b.score - a.score);
    const needed = refined[query.limit - 1]?.score ?? -Infinity;
    if (depth >= slotCount || rows.length < depth || floor + 2 * worstError < needed) {
      return bestHits(
        refined.filter(({ score }) => score >= needed),
        query.limit,
        source,
      );
    }
  }
}

function dotProduct(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] as number) * (b[index] as number);
  return Math.fround(sum);
}

function compareHits(a: VectorHit, b: VectorHit): number {
  if (a.similarity !== b.similarity) return b.similarity - a.similarity;
  if (a.id !== b.id) return a.id < b.id ? -1 : 1;
  if (a.item !== b.item) return a.item < b.item ? -1 : 1;
  return a.generation - b.generation;
}
