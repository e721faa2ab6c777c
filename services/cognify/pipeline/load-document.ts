import { type DataItem, itemBlobs } from '../../common/domain/data-item.ts';
import { EngramError } from '../../common/domain/errors.ts';
import type { DatasetScope } from '../../common/domain/scope.ts';
import type { BlobStore } from '../../common/ports/blob-store.ts';
import type { DocumentLoader, ParsedDocument } from '../../common/ports/documents.ts';
import type { Logger } from '../../common/ports/logger.ts';

/** The item was forgotten or replaced meanwhile, or the store lost its content. */
export class ContentMissingError extends EngramError {
  constructor(state: 'missing' | 'damaged') {
    super('ContentMissingError', 500, `The stored text is ${state} and the original is missing: add the file again.`);
  }
}

export interface LoadDependencies {
  readonly blobs: BlobStore;
  /** Reads a document again whose stored text is damaged; absent: it stays so. */
  readonly documents?: Pick<DocumentLoader, 'load'>;
  readonly logger: Logger;
}

/**
 * The document as ingest parsed it when it was added. A stored text that is missing or damaged is made again from the
 * original. `ContentMissingError` when there is neither; the errors of the loader for an original that cannot be read.
 */
export async function loadDocument(
  dependencies: LoadDependencies,
  scope: DatasetScope,
  item: DataItem,
  signal: AbortSignal,
): Promise<ParsedDocument> {
  const stored = await readBlob(dependencies.blobs, scope, itemBlobs.parsed(item));
  const document = stored === null ? null : documentOf(stored);
  if (document !== null) return document;
  const original = await readBlob(dependencies.blobs, scope, itemBlobs.original(item));
  if (original !== null && dependencies.documents !== undefined) {
    return parseAgain(dependencies, scope, item, { original, documents: dependencies.documents, signal });
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
  }: { readonly original: Buffer; readonly documents: Pick<DocumentLoader, 'load'>; readonly signal: AbortSignal },
): Promise<ParsedDocument> {
  const { fileName, mimeType } = item;
  const document = await documents.load(
    { fileName, declaredMimeType: mimeType, sizeBytes: original.length, content: original },
    signal,
  );
  await blobs.put(scope, itemBlobs.parsed(item), Buffer.from(JSON.stringify(document)), signal);
  logger.warn('cognify.text.remade', { datasetId: scope.dataset, itemId: item.id, name: item.name });
  return document;
}

async function readBlob(blobs: BlobStore, scope: DatasetScope, key: string): Promise<Buffer | null> {
  const stream = await blobs.get(scope, key);
  if (stream === null) return null;
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** Null for what is no document: a text that was cut off, or something else under its key. */
function documentOf(stored: Buffer): ParsedDocument | null {
  try {
    const value = JSON.parse(stored.toString('utf8')) as Partial<ParsedDocument> | null;
    return typeof value?.text === 'string' && Array.isArray(value.blocks) ? (value as ParsedDocument) : null;
  } catch {
    return null;
  }
}
