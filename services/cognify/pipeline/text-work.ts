import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type DataItem, itemBlobs } from '../../common/domain/data-item.ts';
import { EngramError, engramError } from '../../common/kernel/errors.ts';
import { append } from '../../common/kernel/long-lists.ts';
import type { DatasetScope } from '../../common/kernel/scope.ts';
import { workerTask } from '../../common/platform/workers/worker-messages.ts';
import { WorkerFailure, type WorkerPool } from '../../common/platform/workers/worker-pool.ts';
import type { DocumentLoader } from '../../common/ports/documents.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { BlobStore } from '../../common/storage/ports/blob-store.ts';
import type { Statement } from '../../common/text/statements/statement.ts';
import type { ChunkMention, DocumentEntity, DocumentRelation, ResolvedEntities } from './document-entities.ts';
import type { ChunkSizes, ItemChunk, ItemSource } from './model.ts';
import { cutDocument, type DocumentFacts, type ResolvedPart, resolveDocument } from './text-tasks.ts';

const MODULE = new URL('./text-tasks.ts', import.meta.url);
const CUT = workerTask<typeof import('./text-tasks.ts'), 'cutDocument'>(MODULE, 'cutDocument');
const RESOLVE = workerTask<typeof import('./text-tasks.ts'), 'resolveDocument'>(MODULE, 'resolveDocument');

/** Smaller texts are processed in the calling thread, in some milliseconds, without a worker process. */
const MAX_INLINE_BYTES = 16 * 1024;

interface CutDocument extends DocumentFacts {
  readonly chunks: readonly ItemChunk[];
}

interface ResolvedDocument {
  readonly resolved: ResolvedEntities;
  readonly statements: readonly Statement[];
}

/**
 * Processes whole documents in worker processes. Errors: `DocumentParsingError` for a document that exceeds a limit of the
 * workers, `CancelledError` when the server stops.
 */
type TextWork = ReturnType<typeof createTextWork>;

export function createTextWork(pool: WorkerPool) {
  return {
    /** Cuts a stored document into chunks; null when the stored content is no document. */
    async cut(
      item: DataItem,
      stored: Readable | Buffer,
      sizes: ChunkSizes,
      signal: AbortSignal,
    ): Promise<CutDocument | null> {
      const chunks: ItemChunk[] = [];
      const onPart = (part: readonly ItemChunk[]) => append(chunks, part);
      const input = { item: { id: item.id, fileName: item.fileName }, sizes };
      try {
        const content = await smallOrStream(stored);
        const done = Buffer.isBuffer(content)
          ? drain(cutDocument(input, content), onPart)
          : await inWorker(item, 'cut into chunks', pool.run(CUT, input, { content, onPart, signal }));
        return done === null ? null : { ...done, chunks };
      } finally {
        // A call that was withdrawn while it waited has left the file open.
        if (!Buffer.isBuffer(stored)) stored.destroy();
      }
    },
    /** Resolves the entities of a document and reads its statements. `lines`: `readChunkLine` of each chunk. */
    async resolve(
      { item, createdAt, writtenAt, speaker }: ItemSource,
      lines: readonly Buffer[],
      signal: AbortSignal,
    ): Promise<ResolvedDocument> {
      const { id, ownerId, externalMetadata } = item;
      const input = { item: { id, ownerId, externalMetadata }, createdAt, writtenAt, speaker };
      const entities: DocumentEntity[] = [];
      const relations: DocumentRelation[] = [];
      const mentions: ChunkMention[] = [];
      const statements: Statement[] = [];
      const onPart = (part: ResolvedPart) => {
        if ('entities' in part) append(entities, part.entities);
        else if ('relations' in part) append(relations, part.relations);
        else if ('mentions' in part) append(mentions, part.mentions);
        else append(statements, part.statements);
      };
      const bytes = lines.reduce((sum, line) => sum + line.byteLength, 0);
      if (bytes <= MAX_INLINE_BYTES) drain(resolveDocument(input, Buffer.concat(lines)), onPart);
      else await inWorker(item, 'resolved', pool.run(RESOLVE, input, { content: eachOf(lines), onPart, signal }));
      return { resolved: { entities, relations, mentions }, statements };
    },
  };
}

/** Returns the content as one buffer when it is small, else as a stream. */
async function smallOrStream(stored: Readable | Buffer): Promise<Buffer | AsyncIterable<Buffer>> {
  if (Buffer.isBuffer(stored)) return stored.byteLength <= MAX_INLINE_BYTES ? stored : eachOf([stored]);
  const parts: Buffer[] = [];
  let length = 0;
  const rest = stored[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  while (length <= MAX_INLINE_BYTES) {
    const { done, value } = await rest.next();
    if (done === true) return Buffer.concat(parts);
    parts.push(value);
    length += value.byteLength;
  }
  return (async function* () {
    yield* parts;
    yield* { [Symbol.asyncIterator]: () => rest };
  })();
}

async function* eachOf(parts: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* parts;
}

function drain<Part, Result>(parts: Generator<Part, Result>, onPart: (part: Part) => void): Result {
  for (;;) {
    const step = parts.next();
    if (step.done === true) return step.value;
    onPart(step.value);
  }
}

async function inWorker<Result>(item: DataItem, what: string, result: Promise<Result>): Promise<Result> {
  try {
    return await result;
  } catch (cause) {
    if (!(cause instanceof WorkerFailure)) throw cause;
    if (cause.reason === 'closed') throw engramError('CancelledError', 'The server is stopping.', { cause });
    const message = `The text of '${item.name}' could not be ${what}: ${cause.message}.`;
    throw engramError('DocumentParsingError', message, { cause });
  }
}

/** The item was forgotten or replaced meanwhile, or the blob store lost its content. */
export class ContentMissingError extends EngramError {
  constructor(state: 'missing' | 'damaged') {
    super('ContentMissingError', 500, `The stored text is ${state} and the original is missing: add the file again.`);
  }
}

export interface LoadDependencies {
  readonly blobs: BlobStore;
  /** Parses the original again when the stored text is damaged or missing; absent: this is not done. */
  readonly documents?: Pick<DocumentLoader, 'loadEncoded'>;
  readonly logger: Logger;
  readonly textWork: TextWork;
}

interface LoadRequest {
  readonly scope: DatasetScope;
  readonly item: DataItem;
  readonly sizes: ChunkSizes;
  readonly signal: AbortSignal;
}

/**
 * Reads the document that ingest parsed and cuts it into chunks. A stored text that is missing or damaged is parsed again
 * from the original. Errors: `ContentMissingError` when there is neither, those of the loader for an unreadable original,
 * those of `TextWork`.
 */
export async function loadChunks(
  dependencies: LoadDependencies,
  { scope, item, sizes, signal }: LoadRequest,
): Promise<CutDocument> {
  const { blobs, documents, logger, textWork } = dependencies;
  const stored = await blobs.get(scope, itemBlobs.parsed(item));
  const found = stored === null ? null : await textWork.cut(item, stored, sizes, signal);
  if (found !== null) return found;
  const original = await blobs.get(scope, itemBlobs.original(item));
  if (original !== null && documents !== undefined) {
    const { fileName, mimeType } = item;
    const content = await buffer(original);
    const { json } = await documents.loadEncoded(
      { fileName, declaredMimeType: mimeType, sizeBytes: content.length, content },
      signal,
    );
    await blobs.put(scope, itemBlobs.parsed(item), Readable.from(json), signal);
    logger.warn('cognify.text.reparsed', { datasetId: scope.dataset, itemId: item.id, name: item.name });
    const parsed = await blobs.get(scope, itemBlobs.parsed(item));
    const again = parsed === null ? null : await textWork.cut(item, parsed, sizes, signal);
    if (again !== null) return again;
  }
  throw new ContentMissingError(stored === null ? 'missing' : 'damaged');
}
