import module from 'node:module';
import { availableParallelism } from 'node:os';
import { EngramError, engramError } from '../domain/errors.ts';
import type { DocumentLoader, LoaderInput, ParsedDocument } from '../ports/documents.ts';
import { createWorkerPool, WorkerFailure, type WorkerPool } from '../workers/worker-pool.ts';
import { detectFormat, packagedFormatOfHead } from './detect-format.ts';
import { type DocumentLimits, defaultDocumentLimits } from './limits.ts';
import { contextOf, type ParseServices, parseDetected } from './parse-document.ts';
import { createGrammars } from './tree-sitter.ts';
import type { WorkerReply, WorkerSettings } from './worker-messages.ts';

export interface DocumentLoaderOptions {
  /** Parser threads at the same time, never more than processors; default 4. */
  readonly workers?: number;
  /** One document may take this long; default 60 000. */
  readonly timeoutMs?: number;
  /** Heap of one parser thread; default 512 MiB. */
  readonly maxHeapBytes?: number;
  /** A thread without work ends after this time; default 30 000. */
  readonly idleMs?: number;
  readonly limits?: Partial<DocumentLimits>;
}

/** Text up to this size is parsed in the calling thread: a thread hop and a cold thread would cost more than the parsing. */
const MAX_INLINE_BYTES = 64 * 1024;
/** Readers that are linear in the size of their text and hold no state. */
const INLINE_FORMATS = new Set(['text', 'markdown', 'json', 'jsonl', 'yaml', 'log']);

/** `DocumentLoader` whose threads start with the first document that needs one. */
export function createDocumentLoader(options: DocumentLoaderOptions = {}): DocumentLoader {
  const limits: DocumentLimits = { ...defaultDocumentLimits, ...options.limits };
  const timeoutMs = options.timeoutMs ?? 60_000;
  const maxHeapBytes = options.maxHeapBytes ?? 512 * 1024 * 1024;
  const settings: WorkerSettings = { limits, compileCacheDirectory: module.getCompileCacheDir() ?? null };
  const pool: WorkerPool<LoaderInput, WorkerReply> = createWorkerPool({
    entry: new URL('./worker.ts', import.meta.url),
    size: Math.min(options.workers ?? 4, availableParallelism()),
    timeoutMs,
    idleMs: options.idleMs ?? 30_000,
    maxHeapBytes,
    workerData: settings,
  });
  const grammars = createGrammars();
  return {
    load: async (input, signal) => {
      signal?.throwIfAborted();
      return (
        (await loadInline(input, { limits, grammars })) ??
        (await loadInWorker(input, { pool, signal, timeoutMs, maxHeapBytes }))
      );
    },
    detect: async (fileName, head) => {
      const detection = await detectFormat({ fileName, content: head, isWhole: false });
      if (detection.kind === 'text' || detection.kind === 'binary') return detection.format;
      return detection.kind === 'archive' ? packagedFormatOfHead(fileName, head) : null;
    },
    close: () => pool.close(),
  };
}

/** Null when the document is not small plain text. */
async function loadInline(input: LoaderInput, services: ParseServices): Promise<ParsedDocument | null> {
  const context = contextOf(input, services.limits);
  const { content } = input;
  if (content.byteLength > MAX_INLINE_BYTES) return null;
  const { fileName, declaredMimeType } = context;
  const detection = await detectFormat({ fileName, declaredMimeType, content, isWhole: true });
  if (detection.kind !== 'text' || !INLINE_FORMATS.has(detection.format.format)) return null;
  return parseDetected(content, detection, { ...services, context });
}

interface WorkerCall {
  readonly pool: WorkerPool<LoaderInput, WorkerReply>;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly maxHeapBytes: number;
}

async function loadInWorker(
  input: LoaderInput,
  { pool, signal, timeoutMs, maxHeapBytes }: WorkerCall,
): Promise<ParsedDocument> {
  try {
    const reply = await pool.run(jobOf(input), signal);
    if ('document' in reply) return reply.document;
    throw new EngramError(reply.error.wireName, reply.error.status, reply.error.message);
  } catch (error) {
    if (!(error instanceof WorkerFailure) || error.reason === 'closed') throw error;
    const reason = {
      timeout: `it took longer than ${timeoutMs / 1_000} seconds`,
      memory: `it needs more than ${Math.round(maxHeapBytes / (1024 * 1024))} MiB of memory`,
      crash: 'the parser crashed',
    }[error.reason];
    throw engramError('DocumentParsingError', `'${input.fileName}' cannot be read: ${reason}`, { cause: error });
  }
}

/** Only what can be cloned, and only the bytes meant: cloning a view takes the whole buffer behind it along. */
function jobOf({ fileName, declaredMimeType, sizeBytes, content }: LoaderInput): LoaderInput {
  const isWhole = content.byteLength === content.buffer.byteLength;
  const bytes = isWhole ? content : Uint8Array.from(content);
  return { fileName, sizeBytes, content: bytes, ...(declaredMimeType === undefined ? {} : { declaredMimeType }) };
}
