import type { Readable } from 'node:stream';
import type { DataItem } from '../../common/domain/data-item.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { workerTask } from '../../common/platform/workers/worker-messages.ts';
import { WorkerFailure, type WorkerPool } from '../../common/platform/workers/worker-pool.ts';
import type { Statement } from '../../common/text/statements/statement.ts';
import type { ChunkSizes } from './chunk-item.ts';
import type { ChunkMention, DocumentEntity, DocumentRelation, ResolvedEntities } from './document-entities.ts';
import type { ItemChunk } from './item-chunk.ts';
import type { ItemSource } from './item-source.ts';
import { cutDocument, type ResolvedPart, resolveDocument } from './text-tasks.ts';

const MODULE = new URL('./text-tasks.ts', import.meta.url);
const CUT = workerTask<typeof import('./text-tasks.ts'), 'cutDocument'>(MODULE, 'cutDocument');
const RESOLVE = workerTask<typeof import('./text-tasks.ts'), 'resolveDocument'>(MODULE, 'resolveDocument');

/** What is smaller is done in the calling thread, in some milliseconds: it waits for no worker process. */
const MAX_INLINE_BYTES = 16 * 1024;

export interface CutDocument {
  readonly title: string | null;
  readonly chunks: readonly ItemChunk[];
}

export interface ResolvedDocument {
  readonly resolved: ResolvedEntities;
  readonly statements: readonly Statement[];
}

/**
 * The work over whole documents, in worker processes. Errors: `DocumentParsingError` for a document that passes a limit of
 * theirs, `CancelledError` when the server stops.
 */
export interface TextWork {
  /** Null when what is stored is no document. */
  cut(item: DataItem, stored: Readable | Buffer, sizes: ChunkSizes, signal: AbortSignal): Promise<CutDocument | null>;
  /** `lines`: `readChunkLine` of each chunk. */
  resolve(source: ItemSource, lines: readonly Buffer[], signal: AbortSignal): Promise<ResolvedDocument>;
}

export function createTextWork(pool: Pick<WorkerPool, 'run'>): TextWork {
  return {
    async cut(item, stored, sizes, signal) {
      const chunks: ItemChunk[] = [];
      const onPart = (part: readonly ItemChunk[]) => {
        for (const chunk of part) chunks.push(chunk);
      };
      const input = { item: { id: item.id }, sizes };
      const content = await smallOrStream(stored);
      const done = Buffer.isBuffer(content)
        ? drain(cutDocument(input, content), onPart)
        : await inWorker(item, 'cut into chunks', pool.run(CUT, input, { content, onPart, signal }));
      return done === null ? null : { title: done.title, chunks };
    },
    async resolve({ item, createdAt }, lines, signal) {
      const { id, ownerId, externalMetadata } = item;
      const input = { item: { id, ownerId, externalMetadata }, createdAt };
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

/** The whole content when it is small, else a stream of all of it. */
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

/** One by one: a call takes some hundred thousand arguments at most. */
function append<Row>(list: Row[], rows: readonly Row[]): void {
  for (const row of rows) list.push(row);
}
