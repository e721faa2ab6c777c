import type { DataItemId } from '../../common/kernel/brand.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { Ledger } from '../../common/records/cognify/ledger.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';
import type { PassReads } from '../engine/pass-reads.ts';
import type { StructureItem, StructureItems, StructureName } from '../repositories/structure-items.ts';
import { committedItems } from './committed-items.ts';

export interface ItemChanges {
  /** Committed generations that the structure does not know, or did not finish; in the order of their ids. */
  readonly fresh: readonly Provenance[];
  /** What it knows and nobody sees any more. */
  readonly gone: readonly StructureItem[];
  readonly known: ReadonlyMap<DataItemId, StructureItem>;
}

/**
 * What became of a dataset's items since a structure was made from them. Costs a read of one small row an item. With `reads`
 * the ledger is as a stage before found it that changed nothing.
 */
export async function itemChanges(
  deps: { readonly ledger: Pick<Ledger, 'allCommitted'>; readonly structureItems: StructureItems },
  scope: DatasetScope,
  structure: StructureName,
  reads?: PassReads,
): Promise<ItemChanges> {
  const [known, committed] = await Promise.all([
    deps.structureItems.all(scope, structure),
    committedItems(deps, scope, reads),
  ]);
  const fresh = [...committed]
    .filter(([item, generation]) => {
      const row = known.get(item);
      return row === undefined || row.generation !== generation || !row.isDone;
    })
    .map(([item, generation]) => ({ item, generation }))
    .sort((left, right) => (left.item < right.item ? -1 : 1));
  const gone = [...known.values()].filter(({ item, generation }) => committed.get(item) !== generation);
  return { fresh, gone, known };
}

export function isUnchanged({ fresh, gone }: ItemChanges): boolean {
  return fresh.length === 0 && gone.length === 0;
}
