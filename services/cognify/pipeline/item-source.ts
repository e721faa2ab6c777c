import type { DataItem } from '../../common/domain/data-item.ts';
import type { RowOrigin } from '../../common/domain/index-rows.ts';
import type { JsonObject } from '../../common/kernel/json.ts';

/** What every row of an item repeats. */
export interface ItemSource {
  readonly item: DataItem;
  readonly origin: RowOrigin;
  readonly title: string | null;
  readonly externalMetadata: JsonObject | null;
  /** Same for every attempt, so that a resumed run builds the same rows. */
  readonly createdAt: string;
}

export function itemSource(item: DataItem, generation: number, title: string | null): ItemSource {
  const hasMetadata = Object.keys(item.externalMetadata).length > 0;
  return {
    item,
    origin: { item: item.id, generation, nodeSets: item.nodeSets },
    title,
    externalMetadata: hasMetadata ? item.externalMetadata : null,
    createdAt: item.updatedAt ?? item.createdAt,
  };
}
