import type { EntryFilter, IndexKind, Provenance } from '../../ports/index-entry.ts';
import type { VectorSpace } from '../../ports/vector-index.ts';
import type { ArenaRow } from './vector-arena.ts';

/** Storage of the vectors of one dataset; read on the thread of the scan. */
export interface VectorSource {
  space(): VectorSpace | null;
  count(kind: IndexKind): number;
  /** Rows with a number greater than `row`, in order, until `visit` answers false. The vector may be reused: copy it. */
  eachAfter(kind: IndexKind, row: number, visit: (row: ArenaRow) => boolean): void;
  /** Vectors at full precision by row; without those of rows that have gone. */
  vectors(rows: readonly number[]): ReadonlyMap<number, Float32Array>;
  /** Origin of rows; null when it was removed. */
  provenance(origin: number): Provenance | null;
  /** Origins whose rows pass the filter; null when every row does. */
  accepted(filter: Partial<EntryFilter>): Pick<ReadonlySet<number>, 'has'> | null;
}
