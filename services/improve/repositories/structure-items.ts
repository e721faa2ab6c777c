import type { DataItemId } from '../../common/kernel/brand.ts';
import { dataItemId } from '../../common/kernel/ids.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { findAll } from '../../common/records/base/find-all.ts';
import { put } from '../../common/records/base/repository.ts';
import { type DocumentStore, remove, type Write } from '../../common/storage/ports/document-store.ts';
import type { Provenance } from '../../common/storage/ports/index-entry.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

/** The items of a dataset that each structure was built from. */
export type StructureName = 'triplets' | 'global_context';

type StructureItemDocument = {
  readonly structure: StructureName;
  readonly itemId: string;
  readonly generation: number;
  readonly isDone: boolean;
};

/** Generation of each item that a structure was built from: only items that differ from the ledger are processed again. */
export const structureItemsCollection: OwnedCollection<StructureItemDocument> = {
  name: 'structure_items',
  level: 'dataset',
  owner: 'improve',
  belongsTo: { dataset: 'scope' },
  indexes: [{ fields: ['structure', 'itemId'] }],
};

export interface StructureItem extends Provenance {
  /** False: it was started, and may have left rows. */
  readonly isDone: boolean;
  readonly version: number;
}

export type StructureItems = ReturnType<typeof createStructureItems>;

export function createStructureItems(store: DocumentStore) {
  const collection = structureItemsCollection;
  return {
    async all(scope: DatasetScope, structure: StructureName): Promise<ReadonlyMap<DataItemId, StructureItem>> {
      const found = await findAll(store, scope, collection, { where: { structure } });
      return new Map(
        found.map(({ value: { itemId, generation, isDone }, version }) => {
          const item = dataItemId(itemId);
          return [item, { item, generation, isDone, version }];
        }),
      );
    },
    /** Makes the write of an item. `before`: the stored row, undefined for a new item. Its commit may throw `VersionConflictError` or `DuplicateKeyError`. */
    write(
      structure: StructureName,
      { item, generation, isDone }: Provenance & { readonly isDone: boolean },
      before?: StructureItem,
    ): Write {
      const document = { structure, itemId: item, generation, isDone };
      return put(collection, documentId(structure, item), document, before);
    },
    removeWrite: (structure: StructureName, { item, version }: StructureItem) =>
      remove(collection, documentId(structure, item), version),
  };
}

function documentId(structure: StructureName, item: DataItemId): string {
  return `${structure}/${item}`;
}
