import type { DatasetScope } from '../../kernel/scope.ts';
import type { CopyOptions, EntryFilter, EntryKey, IndexCopy, IndexKind, Provenance } from './index-entry.ts';
import type { RowSelection } from './text-index.ts';

/**
 * Vectors of a dataset, one dimension count and embedding model for all kinds. Cosine similarity.
 * Adapters: exact WASM SIMD scan over SQLite rows, memory, Elasticsearch.
 */
export interface VectorIndex {
  /** Embedding space of the dataset's vectors; null while it has none. */
  space(scope: DatasetScope): Promise<VectorSpace | null>;
  /**
   * Idempotent by key. The first call settles the dataset's space; a call with another one throws
   * `EmbeddingDimensionMismatchError`, naming both, before anything is written. Zero vectors are stored and never found.
   */
  upsert(scope: DatasetScope, space: VectorSpace, entries: readonly VectorEntry[]): Promise<void>;
  /**
   * The `limit` (1 to 1000) most similar rows, best first, ties by id then item, without those of items that the scope
   * withholds. Another dimension → the same error.
   */
  nearest(scope: DatasetScope, query: VectorQuery, signal?: AbortSignal): Promise<readonly VectorHit[]>;
  /** Stored vectors by wire id; unknown ids are left out. `provenance`: only those of one generation of an item. */
  fetch(
    scope: DatasetScope,
    kind: IndexKind,
    ids: readonly string[],
    provenance?: Provenance,
  ): Promise<readonly (EntryKey & { readonly vector: Float32Array })[]>;
  remove(scope: DatasetScope, selection: RowSelection): Promise<number>;
  /** Removes every vector and the space. */
  drop(scope: DatasetScope): Promise<void>;
  count(scope: DatasetScope, filter: Partial<EntryFilter>): Promise<number>;
  /**
   * Copies the vectors whose every change changes the ledger (`COPIED_VECTOR_KINDS`) into this process; null when they are too
   * large. Those of other kinds are asked of the index. Absent where a call costs no trip.
   */
  copy?(scope: DatasetScope, options: CopyOptions): Promise<IndexCopy<CopiedVectorReads> | null>;
}

export type CopiedVectorReads = Pick<VectorIndex, 'nearest'>;

/** As `COPIED_KINDS`; of entities no search asks for the nearest. */
export const COPIED_VECTOR_KINDS: readonly IndexKind[] = ['chunk', 'summary'];

export interface VectorSpace {
  /** Provider and model, for example `builtin/hashing-v1`. */
  readonly model: string;
  readonly dimensions: number;
}

export function isSameSpace(left: VectorSpace, right: VectorSpace): boolean {
  return left.model === right.model && left.dimensions === right.dimensions;
}

export interface VectorEntry extends EntryKey {
  readonly kind: IndexKind;
  readonly vector: Float32Array;
  readonly nodeSets: readonly string[];
}

export interface VectorQuery extends EntryFilter {
  readonly vector: Float32Array;
  readonly limit: number;
}

export interface VectorHit extends EntryKey {
  /** Cosine, −1 to 1. The wire's distance is 1 − similarity. */
  readonly similarity: number;
}
