import type { DataItem } from '../../domain/data-item.ts';
import type { DatasetRef } from '../../domain/dataset.ts';
import { defineMethod } from '../method.ts';

export interface DatasetItemsRequest {
  readonly dataset: DatasetRef;
  readonly after?: string | null;
  readonly limit: number;
  readonly ids?: readonly string[];
}

export interface DatasetItemsResponse {
  readonly items: readonly DataItem[];
  readonly next: string | null;
}

/** Items of a dataset, oldest first, keyset-paged; `ids` restricts. */
export const datasetItems = defineMethod<DatasetItemsRequest, DatasetItemsResponse>('ingest.DatasetItems', () =>
  import('../codecs/ingest.ts').then(({ DatasetItems }) => DatasetItems),
);
