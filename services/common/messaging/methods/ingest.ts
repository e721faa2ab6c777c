import type { DataItem } from '../../domain/data-item.ts';
import type { DatasetRef } from '../../domain/dataset.ts';
import { defineMethod } from '../method.ts';

/** Items of a dataset, oldest first, keyset-paged; `ids` restricts. */
export const datasetItems = defineMethod<
  {
    readonly dataset: DatasetRef;
    readonly after?: string | null;
    readonly limit: number;
    readonly ids?: readonly string[];
  },
  { readonly items: readonly DataItem[]; readonly next: string | null }
>('ingest', 'DatasetItems');
