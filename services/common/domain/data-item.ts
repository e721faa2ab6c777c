import type { DataItemId, UserId } from './brand.ts';
import type { JsonObject } from './json.ts';

/** One thing that was added to a dataset; ingest owns it. The blobs are in the blob store under the dataset's scope. */
export interface DataItem {
  readonly id: DataItemId;
  /** File name without folders and last extension; `text_<md5>` for plain text. */
  readonly name: string;
  /** The uploaded file name, folders removed; `text_<md5>.txt` for plain text. */
  readonly fileName: string;
  readonly label: string | null;
  readonly ownerId: UserId;
  /** Extension and MIME type of the original, by content. */
  readonly extension: string;
  readonly mimeType: string;
  /** Loader format, see `ParsedDocument.format`. */
  readonly format: string;
  readonly sizeBytes: number;
  /** MD5 of the original bytes, lower-case hex: the dedup key together with dataset and owner. */
  readonly contentHash: string;
  readonly nodeSets: readonly string[];
  /** The caller's keys and `_cognee.source_uri`. */
  readonly externalMetadata: JsonObject;
  readonly importanceWeight: number;
  /** The API key it came by, whose budget it counts for; null or absent: none. */
  readonly keyId?: string | null;
  readonly createdAt: string;
  readonly updatedAt: string | null;
}

/** Blob keys of an item. */
export const itemBlobs = {
  original: (item: DataItemId): string => `items/${item}/original`,
  /** Derived text, UTF-8. */
  text: (item: DataItemId): string => `items/${item}/text`,
  /** `ParsedDocument` as JSON. */
  parsed: (item: DataItemId): string => `items/${item}/parsed`,
  prefix: (item: DataItemId): string => `items/${item}/`,
} as const;
