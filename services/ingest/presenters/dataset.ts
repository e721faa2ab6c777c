import type { DatasetRef } from '../../common/kernel/dataset.ts';

/** Dataset record of the wire (ingest.md §5.1). */
export function presentDataset(dataset: DatasetRef): Readonly<Record<string, unknown>> {
  return {
    id: dataset.id,
    name: dataset.name,
    createdAt: dataset.createdAt,
    updatedAt: dataset.updatedAt,
    ownerId: dataset.ownerId,
  };
}
