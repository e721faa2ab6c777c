import { Readable } from 'node:stream';
import { type DataItem, itemBlobs } from '../../common/domain/data-item.ts';
import { EngramError } from '../../common/kernel/errors.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { DocumentLoader } from '../../common/ports/documents.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { BlobStore } from '../../common/storage/ports/blob-store.ts';
import type { ChunkSizes } from './chunk-item.ts';
import type { CutDocument, TextWork } from './text-work.ts';

/** The item was forgotten or replaced meanwhile, or the store lost its content. */
export class ContentMissingError extends EngramError {
  constructor(state: 'missing' | 'damaged') {
    super('ContentMissingError', 500, `The stored text is ${state} and the original is missing: add the file again.`);
  }
}

export interface LoadDependencies {
  readonly blobs: BlobStore;
  /** Reads a document again whose stored text is damaged; absent: it stays so. */
  readonly documents?: Pick<DocumentLoader, 'loadEncoded'>;
  readonly logger: Logger;
  readonly textWork: TextWork;
}

export interface LoadRequest {
  readonly scope: DatasetScope;
  readonly item: DataItem;
  readonly sizes: ChunkSizes;
  readonly signal: AbortSignal;
}

/**
 * The chunks of the document as ingest parsed it when it was added. A stored text that is missing or damaged is made again
 * from the original. `ContentMissingError` when there is neither; the errors of the loader for an original that cannot be
 * read, and those of `TextWork`.
 */
export async function loadChunks(
  dependencies: LoadDependencies,
  { scope, item, sizes, signal }: LoadRequest,
): Promise<CutDocument> {
  const { blobs, documents, textWork } = dependencies;
  const stored = await blobs.get(scope, itemBlobs.parsed(item));
  const found = stored === null ? null : await textWork.cut(item, stored, sizes, signal);
  if (found !== null) return found;
  const original = await readBlob(blobs, scope, itemBlobs.original(item));
  if (original !== null && documents !== undefined) {
    await parseAgain(dependencies, scope, item, { original, documents, signal });
    const remade = await blobs.get(scope, itemBlobs.parsed(item));
    const again = remade === null ? null : await textWork.cut(item, remade, sizes, signal);
    if (again !== null) return again;
  }
  throw new ContentMissingError(stored === null ? 'missing' : 'damaged');
}

async function parseAgain(
  { blobs, logger }: LoadDependencies,
  scope: DatasetScope,
  item: DataItem,
  {
    original,
    documents,
    signal,
  }: {
    readonly original: Buffer;
    readonly documents: Pick<DocumentLoader, 'loadEncoded'>;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { fileName, mimeType } = item;
  const { json } = await documents.loadEncoded(
    { fileName, declaredMimeType: mimeType, sizeBytes: original.length, content: original },
    signal,
  );
  await blobs.put(scope, itemBlobs.parsed(item), Readable.from(json), signal);
  logger.warn('cognify.text.remade', { datasetId: scope.dataset, itemId: item.id, name: item.name });
}

async function readBlob(blobs: BlobStore, scope: DatasetScope, key: string): Promise<Buffer | null> {
  const stream = await blobs.get(scope, key);
  if (stream === null) return null;
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
