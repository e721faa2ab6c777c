import type { DataItemId, UserId } from '../kernel/brand.ts';
import type { JsonObject } from '../kernel/json.ts';

/** One thing that was added to a dataset; ingest owns it. The blobs are in the blob store under the dataset's scope. */
export interface DataItem {
  readonly id: DataItemId;
  /** File name without folders and last extension; `text_<md5>` for plain text. */
  readonly name: string;
  /** The uploaded file name, folders removed; `text_<md5>.txt` for plain text. */
  readonly fileName: string;
  readonly label: string | null;
  /** First words of plain text that has no name; null or absent for everything else. */
  readonly excerpt?: string | null;
  readonly ownerId: UserId;
  /** Extension and MIME type of the original, by content. */
  readonly extension: string;
  readonly mimeType: string;
  /** Loader format, see `ParsedDocument.format`. */
  readonly format: string;
  readonly sizeBytes: number;
  /**
   * The dedup key together with dataset and owner: the MD5 of the original bytes, lower-case hex. Where another item of the
   * owner holds other bytes of the same MD5, see `collidingHash`.
   */
  readonly contentHash: string;
  /** SHA-256 of the original bytes, lower-case hex: identifies content. Absent only in the answers of `ingest.DatasetItems`. */
  readonly sha256?: string;
  /** Revision of the content: a new id with each update. Null or absent: never updated. */
  readonly revision?: string | null;
  readonly nodeSets: readonly string[];
  /** The caller's keys and `_cognee.source_uri`. */
  readonly externalMetadata: JsonObject;
  readonly importanceWeight: number;
  /** The API key it came by, whose budget it counts for; null or absent: none. */
  readonly keyId?: string | null;
  readonly createdAt: string;
  readonly updatedAt: string | null;
  /** When the same bytes were added again last, ISO-8601. */
  readonly addedAgainAt?: string;
  /** It is being forgotten, perhaps because it was kept for as long as its dataset's resource declares: it is not replaced any more. */
  readonly isExpiring?: boolean;
}

export type ItemRevision = Pick<DataItem, 'id' | 'revision'>;
export type ItemContent = Pick<DataItem, 'contentHash' | 'revision'>;

/** Blob keys of an item. Each revision has its own, so that one is whole before it takes the place of another. */
export const itemBlobs = {
  original: (item: ItemRevision): string => `${contentPlace(item)}original`,
  /** `ParsedDocument` as JSON. */
  parsed: (item: ItemRevision): string => `${contentPlace(item)}parsed`,
  /** All revisions. */
  prefix: (item: DataItemId): string => `items/${item}/`,
  /** Belongs to one revision alone. */
  content: (item: ItemRevision): readonly string[] => [itemBlobs.original(item), itemBlobs.parsed(item)],
} as const;

function contentPlace({ id, revision }: ItemRevision): string {
  return revision ? `items/${id}/${revision}/` : `items/${id}/`;
}

/** Version of an item's content: it is built again when this changes. */
export function contentVersion({ contentHash, revision }: ItemContent): string {
  return revision ? `${contentHash}:${revision}` : contentHash;
}

/** The content hash of bytes whose MD5 is that of other bytes. */
export function collidingHash({ md5, sha256 }: { readonly md5: string; readonly sha256: string }): string {
  return `${md5}#${sha256}`;
}

/** The content hash as the wire has it. */
export function md5Of({ contentHash }: Pick<DataItem, 'contentHash'>): string {
  return contentHash.split('#', 1)[0] ?? contentHash;
}
