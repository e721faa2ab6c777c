import type { DataItem } from '../../domain/data-item.ts';
import type { DatasetRef } from '../../domain/dataset.ts';
import type { JsonObject } from '../../domain/json.ts';
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

/** A text that improve wrote. */
export interface KeptDocument {
  /** Unique in the dataset; the id of the item derives from it. */
  readonly key: string;
  /** Of the file that a client sees. */
  readonly name: string;
  readonly text: string;
  readonly nodeSets: readonly string[];
  readonly externalMetadata: JsonObject;
}

export interface KeepDocumentsRequest {
  readonly dataset: DatasetRef;
  readonly documents: readonly KeptDocument[];
}

export interface KeepDocumentsResponse {
  /** In the order of the documents. Another one where the same text was there already. */
  readonly itemIds: readonly string[];
  /** Documents that were not there before. */
  readonly added: number;
}

/** Makes items of texts that improve wrote; the same key is the same item for ever, also when it was forgotten since. */
export const keepDocuments = defineMethod<KeepDocumentsRequest, KeepDocumentsResponse>('ingest.KeepDocuments', () =>
  import('../codecs/ingest.ts').then(({ KeepDocuments }) => KeepDocuments),
);
