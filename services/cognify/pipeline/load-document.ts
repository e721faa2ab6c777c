import { type DataItem, itemBlobs } from '../../common/domain/data-item.ts';
import { engramError } from '../../common/domain/errors.ts';
import type { DatasetScope } from '../../common/domain/scope.ts';
import type { BlobStore } from '../../common/ports/blob-store.ts';
import type { ParsedDocument } from '../../common/ports/documents.ts';

/** The document as ingest parsed it when it was added. Null when there is no such content: it was forgotten or replaced meanwhile. */
export async function loadDocument(
  blobs: BlobStore,
  scope: DatasetScope,
  item: DataItem,
): Promise<ParsedDocument | null> {
  const stream = await blobs.get(scope, itemBlobs.parsed(item));
  if (stream === null) return null;
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8')) as ParsedDocument;
  } catch (cause) {
    throw engramError('CorruptStoreError', `The stored text of item ${item.id} cannot be read.`, { cause });
  }
}
