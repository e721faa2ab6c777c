import type { DataItemId } from '../../common/kernel/brand.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { Ledger } from '../../common/records/cognify/ledger.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';
import type { PassReads } from '../model.ts';
import type { StructureItem, StructureItems, StructureName } from '../repositories/structure-items.ts';

export interface ItemChanges {
  /** Committed generations that the structure does not have or has not finished, ordered by item id. */
  readonly fresh: readonly Provenance[];
  /** Generations in the structure that are not committed any more. */
  readonly gone: readonly StructureItem[];
  readonly known: ReadonlyMap<DataItemId, StructureItem>;
}

/**
 * Compares a structure with the committed items of the dataset. Costs a read of one small row per item. `reads`: shares the read
 * of the ledger with the stages before.
 */
export async function itemChanges(
  deps: { readonly ledger: Ledger; readonly structureItems: StructureItems },
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

/** Returns the committed generations of all items; `reads`: as a stage before may have read them. */
export function committedItems(
  { ledger }: { readonly ledger: Ledger },
  scope: DatasetScope,
  reads?: PassReads,
): Promise<ReadonlyMap<DataItemId, number>> {
  const read = () => ledger.allCommitted(scope);
  return reads === undefined ? read() : reads.once('committed', read);
}
