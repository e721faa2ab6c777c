import type { DataItemId } from '../../../kernel/brand.ts';
import type { DatasetScope } from '../../../kernel/scope.ts';
import { type CopyOptions, changedItems, type IndexCopy, type IndexKind } from '../../ports/index-entry.ts';
import {
  COPIED_VECTOR_KINDS,
  type CopiedVectorReads,
  type VectorHit,
  type VectorIndex,
  type VectorSpace,
} from '../../ports/vector-index.ts';
import { assertQueryDimensions, normaliseInto } from '../wasm-vectors/vector-space.ts';
import { letsNothingThrough, passing } from './filters.ts';
import { isZero, nearestFirst, type StoredVector, similarityOf, toNumbers } from './stored-vectors.ts';

export type CopiedVector = StoredVector & { readonly nodeSets: readonly string[] };

/** Reads the vectors of a kind, page by page. */
export type EveryVector = (
  scope: DatasetScope,
  kind: IndexKind,
  /** Null: of all items. */
  items: readonly DataItemId[] | null,
  signal: AbortSignal,
) => AsyncIterable<{ readonly space: VectorSpace; readonly rows: readonly CopiedVector[] }>;

/** Memory of a row beside its vector. */
const BYTES_PER_ROW = 300;

interface Copied {
  readonly committed: CopyOptions['committed'];
  readonly space: VectorSpace | null;
  readonly kinds: ReadonlyMap<IndexKind, readonly CopiedVector[]>;
}

/** Copies the committed vectors of a dataset; its reads answer as the index does, ties included, but for the seventh digit. */
export async function copyVectors(
  index: { readonly everyVector: EveryVector; readonly nearest: VectorIndex['nearest'] },
  scope: DatasetScope,
  { committed, maxBytes, signal }: CopyOptions,
  before: Copied | null = null,
): Promise<IndexCopy<CopiedVectorReads> | null> {
  const items = before && changedItems(before.committed, committed);
  const changed = new Set(items);
  const kinds = new Map<IndexKind, readonly CopiedVector[]>();
  let space = before?.space ?? null;
  let bytes = 0;
  const add = (rows: CopiedVector[], some: readonly CopiedVector[]) => {
    const kept = some.filter((row) => committed.get(row.item) === row.generation);
    rows.push(...kept);
    bytes += kept.length * (BYTES_PER_ROW + Float32Array.BYTES_PER_ELEMENT * (space?.dimensions ?? 0));
  };
  for (const kind of COPIED_VECTOR_KINDS) {
    const rows: CopiedVector[] = [];
    add(rows, before?.kinds.get(kind)?.filter(({ item }) => !changed.has(item)) ?? []);
    for await (const page of index.everyVector(scope, kind, items, signal)) {
      ({ space } = page);
      add(rows, page.rows);
      if (bytes > maxBytes) return null;
    }
    kinds.set(kind, rows);
  }
  const copied = { committed, space, kinds };
  return { bytes, reads: readsOf(copied, index), updated: (options) => copyVectors(index, scope, options, copied) };
}

function readsOf({ space, kinds }: Copied, index: Pick<VectorIndex, 'nearest'>): CopiedVectorReads {
  const matrices = new Map([...kinds].map(([kind, rows]) => [kind, matrixOf(rows, space?.dimensions ?? 0)]));
  return {
    async nearest(scope, query, signal) {
      const rows = kinds.get(query.kind);
      const matrix = matrices.get(query.kind);
      if (rows === undefined || matrix === undefined) return index.nearest(scope, query, signal);
      signal?.throwIfAborted();
      if (space === null) return [];
      assertQueryDimensions(space, query.vector.length);
      const unit = new Float32Array(query.vector.length);
      normaliseInto(query.vector, unit, 'the query');
      if (letsNothingThrough(query) || isZero(unit)) return [];
      const { limit } = query;
      const passes = passing(scope, query);
      const passed = [...rows.keys()].filter((at) => passes(rows[at] as CopiedVector));
      return bestPlaces(matrix, toNumbers(unit), passed, limit)
        .map(({ at, score }): VectorHit => {
          const { id, item, generation } = rows[at] as CopiedVector;
          return { id, item, generation, similarity: similarityOf(asWritten(score)) };
        })
        .sort(nearestFirst)
        .slice(0, limit);
    },
  };
}

/** Rows of a matrix are filled up with zeros to a multiple of this. */
const LANES = 16;

function widthOf(dimensions: number): number {
  return Math.ceil(dimensions / LANES) * LANES;
}

function matrixOf(rows: readonly CopiedVector[], dimensions: number): Float32Array {
  const width = widthOf(dimensions);
  const matrix = new Float32Array(rows.length * width);
  for (const [at, { vector }] of rows.entries()) matrix.set(vector, at * width);
  return matrix;
}

/** More than scores that are added up in different ways differ by. */
const SLACK = 1e-5;

/** The places with the best scores, and those that may be as good as the last of them, in no order. */
function bestPlaces(matrix: Float32Array, query: readonly number[], passed: readonly number[], limit: number) {
  const width = widthOf(query.length);
  // Of the numbers in single precision that the server compares.
  const unit = new Float64Array(width);
  unit.set(Float32Array.from(query));
  const sums = new Float32Array(LANES);
  const exact = (places: readonly number[]) =>
    places.map((at) => ({ at, score: scoreOf(matrix, at * width, unit, sums) }));
  if (passed.length <= limit) return exact(passed);
  const products = Float64Array.from(passed, (at) => productOf(matrix, at * width, unit));
  const least = (products.toSorted()[passed.length - limit] as number) - SLACK;
  return exact(passed.filter((_, at) => (products[at] as number) >= least));
}

function productOf(matrix: Float32Array, start: number, unit: Float64Array): number {
  let [first, second, third, fourth] = [0, 0, 0, 0];
  for (let at = 0, place = start; at < unit.length; at += 4, place += 4) {
    first += (matrix[place] as number) * (unit[at] as number);
    second += (matrix[place + 1] as number) * (unit[at + 1] as number);
    third += (matrix[place + 2] as number) * (unit[at + 2] as number);
    fourth += (matrix[place + 3] as number) * (unit[at + 3] as number);
  }
  return first + second + third + fourth;
}

/**
 * A score as the server adds it up with the widest vector instructions: in single precision, sixteen sums of every sixteenth
 * product, then the halves of them. With other instructions its scores differ from these in the seventh digit, as they do from
 * one server to another. `sums`: room for the sums.
 */
function scoreOf(matrix: Float32Array, start: number, unit: Float64Array, sums: Float32Array): number {
  const { fround } = Math;
  // Four at once, as each has to wait for its last addition.
  for (let lane = 0; lane < LANES; lane += 4) {
    let [first, second, third, fourth] = [0, 0, 0, 0];
    for (let at = lane; at < unit.length; at += LANES) {
      const place = start + at;
      first = fround(first + (matrix[place] as number) * (unit[at] as number));
      second = fround(second + (matrix[place + 1] as number) * (unit[at + 1] as number));
      third = fround(third + (matrix[place + 2] as number) * (unit[at + 2] as number));
      fourth = fround(fourth + (matrix[place + 3] as number) * (unit[at + 3] as number));
    }
    sums[lane] = first;
    sums[lane + 1] = second;
    sums[lane + 2] = third;
    sums[lane + 3] = fourth;
  }
  for (let half = LANES / 2; half >= 1; half /= 2)
    for (let at = 0; at < half; at += 1) sums[at] = (sums[at] as number) + (sums[at + half] as number);
  return Math.max(0, fround(1 + (sums[0] as number)) / 2);
}

/** A score as the server writes it: the shortest decimal number that no other one of single precision is nearer to. */
function asWritten(score: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const written = Number(score.toPrecision(digits));
    if (Math.fround(written) === score) return written;
  }
  return Number(score.toPrecision(9));
}
