import { Readable } from 'node:stream';
import { type DataItem, type ItemRevision, itemBlobs } from '../../common/domain/data-item.ts';
import { isGeneratedName } from '../../common/domain/index-rows.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import type { DocumentFacts } from '../../common/ports/documents.ts';
import { firstWords } from '../../common/text/document-label.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { type Source, stem } from './input-source.ts';

interface ContentToStore {
  readonly scope: DatasetScope;
  readonly item: ItemRevision;
  readonly source: Source;
  /** Resolves when the intent of these blobs is durable: none may come before it. */
  readonly declared: Promise<void>;
  readonly signal: AbortSignal;
}

export interface StoredContent extends DocumentFacts {
  /** First words of a text without a name of its own; null for files, which have one. */
  readonly excerpt: string | null;
}

/** Parses the document and stores it in both forms. Errors: those of `DocumentLoader`, `PayloadTooLargeError`. */
export async function storeContent(
  { blobs, documents, settings }: IngestDependencies,
  { scope, item, source, declared, signal }: ContentToStore,
): Promise<StoredContent> {
  if (source.sizeBytes > settings.maxDocumentBytes) {
    throw engramError('PayloadTooLargeError', `${source.fileName} is larger than ${settings.maxDocumentBytes} bytes`);
  }
  const content = await source.bytes();
  const declaredMimeType = source.plainText ? 'text/plain' : source.declaredMimeType;
  const { fileName, sizeBytes } = source;
  const document = { fileName, sizeBytes, content, ...(declaredMimeType === undefined ? {} : { declaredMimeType }) };
  // Parsing goes on beside the commit of the intent.
  const [{ json, ...facts }] = await Promise.all([documents.loadEncoded(document, signal), declared]);
  const [first = new Uint8Array(), ...more] = json;
  const stored = more.length === 0 ? first : Readable.from(json);
  // Both have ended before a failure is told: one that is still being written would outlive the removal of the item.
  const written = await Promise.allSettled([
    blobs.put(scope, itemBlobs.original(item), content, signal),
    blobs.put(scope, itemBlobs.parsed(item), stored, signal),
  ]);
  for (const outcome of written) if (outcome.status === 'rejected') throw outcome.reason;
  return {
    ...facts,
    excerpt: source.plainText || isGeneratedName(stem(source.fileName)) ? beginningOf(content) : null,
  };
}

function beginningOf(content: Uint8Array): string {
  return firstWords(new TextDecoder().decode(content.subarray(0, 4_096)));
}

/** Fields of an item that describe its content. */
export function contentFacts(
  { fileName, plainText, sizeBytes, md5, sha256 }: Source,
  { format, metadata, excerpt }: StoredContent,
): Pick<
  DataItem,
  'name' | 'fileName' | 'excerpt' | 'extension' | 'mimeType' | 'format' | 'sizeBytes' | 'contentHash' | 'sha256'
> {
  return {
    name: stem(fileName),
    fileName,
    excerpt,
    extension: (plainText ? null : metadata['extension']) ?? 'txt',
    mimeType: (plainText ? null : metadata['mimeType']) ?? 'text/plain',
    format,
    sizeBytes,
    contentHash: md5,
    sha256,
  };
}

/** The caller's own metadata and where the content came from; the caller's word on that wins. */
export function metadataFrom({ sourceUri }: Source, own: JsonObject): JsonObject {
  const origin = typeof own['source_uri'] === 'string' ? own['source_uri'] : sourceUri;
  return origin === null ? own : { ...own, _cognee: { source_uri: origin } };
}
