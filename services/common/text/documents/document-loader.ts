import { availableParallelism } from 'node:os';
import { EngramError, engramError } from '../../kernel/errors.ts';
import { workerTask } from '../../platform/workers/worker-messages.ts';
import {
  createWorkerPool,
  WorkerFailure,
  type WorkerPool,
  WorkerTaskError,
} from '../../platform/workers/worker-pool.ts';
import type {
  DocumentBlock,
  DocumentLoader,
  EncodedDocument,
  LoaderInput,
  ParsedDocument,
} from '../../ports/documents.ts';
import { detectFormat, detectOfHead } from './detect-format.ts';
import { type DocumentLimits, defaultDocumentLimits } from './formats/limits.ts';
import { createGrammars } from './formats/tree-sitter.ts';
import { contextOf, type ParseServices, parseDetected } from './parse-document.ts';
import type { DocumentPart } from './parse-task.ts';

interface DocumentLoaderOptions {
  /** Maximum documents read concurrently; default: one per processor, at most 4. */
  readonly workers?: number;
  /** Time limit for one document; default 60 000. */
  readonly timeoutMs?: number;
  /** Memory limit for one document; default 512 MiB. */
  readonly memoryBytes?: number;
  /** Time after which an idle worker process ends; default 30 000. */
  readonly idleMs?: number;
  readonly limits?: Partial<DocumentLimits>;
}

type ParseTasks = typeof import('./parse-task.ts');
const PARSE_TASKS = new URL('./parse-task.ts', import.meta.url);
const PARSE = workerTask<ParseTasks, 'parse'>(PARSE_TASKS, 'parse');
const PARSE_ENCODED = workerTask<ParseTasks, 'parseEncoded'>(PARSE_TASKS, 'parseEncoded');

/**
 * Maximum bytes of a text that is parsed in the calling thread: starting a worker process would cost more. Any such text takes
 * at most a few milliseconds.
 */
const MAX_INLINE_BYTES: ReadonlyMap<string, number> = new Map([
  ['text', 65_536],
  ['log', 65_536],
  ['yaml', 65_536],
  ['json', 16_384],
  ['jsonl', 16_384],
  ['markdown', 4_096],
]);
const MOST_INLINE_BYTES = 65_536;

/** Creates a `DocumentLoader`. Its worker processes start with the first document that needs one. */
export function createDocumentLoader(options: DocumentLoaderOptions = {}): DocumentLoader {
  const limits: DocumentLimits = { ...defaultDocumentLimits, ...options.limits };
  const pool = createWorkerPool({
    size: options.workers ?? Math.min(4, availableParallelism()),
    timeoutMs: options.timeoutMs ?? 60_000,
    memoryBytes: options.memoryBytes ?? 512 * 1024 * 1024,
    idleMs: options.idleMs ?? 30_000,
  });
  const grammars = createGrammars();
  return {
    load: async (input, signal) => {
      signal?.throwIfAborted();
      return (await loadInline(input, { limits, grammars })) ?? (await loadInWorker(input, { pool, limits, signal }));
    },
    loadEncoded: async (input, signal) => {
      signal?.throwIfAborted();
      const inline = await loadInline(input, { limits, grammars });
      if (inline === null) return loadEncodedInWorker(input, { pool, limits, signal });
      const { text: _, blocks: __, ...facts } = inline;
      return { ...facts, json: [Buffer.from(JSON.stringify(inline))] };
    },
    detect: detectOfHead,
    close: () => pool.close(),
  };
}

/** Parses a small plain text; returns null for other documents. */
async function loadInline(input: LoaderInput, services: ParseServices): Promise<ParsedDocument | null> {
  const context = contextOf(input, services.limits);
  const { content } = input;
  if (content.byteLength > MOST_INLINE_BYTES) return null;
  const { fileName, declaredMimeType } = context;
  const detection = await detectFormat({ fileName, declaredMimeType, content, isWhole: true });
  if (detection.kind !== 'text') return null;
  if (content.byteLength > (MAX_INLINE_BYTES.get(detection.format.format) ?? 0)) return null;
  return parseDetected(content, detection, { ...services, context });
}

interface WorkerCall {
  readonly pool: WorkerPool;
  readonly limits: DocumentLimits;
  readonly signal: AbortSignal | undefined;
}

async function loadInWorker(input: LoaderInput, { pool, limits, signal }: WorkerCall): Promise<ParsedDocument> {
  const { content, ...described } = input;
  let text = '';
  const blocks: DocumentBlock[] = [];
  const onPart = (part: DocumentPart): void => {
    if ('text' in part) text += part.text;
    else for (const block of part.blocks) blocks.push(block);
  };
  try {
    const facts = await pool.run(PARSE, { ...described, limits }, { content, signal, onPart });
    return { ...facts, text, blocks };
  } catch (error) {
    throw asDocumentError(error, input.fileName);
  }
}

async function loadEncodedInWorker(input: LoaderInput, { pool, limits, signal }: WorkerCall): Promise<EncodedDocument> {
  const { content, ...described } = input;
  const json: Uint8Array[] = [];
  const onPart = (part: Uint8Array): void => void json.push(part);
  try {
    return { ...(await pool.run(PARSE_ENCODED, { ...described, limits }, { content, signal, onPart })), json };
  } catch (error) {
    throw asDocumentError(error, input.fileName);
  }
}

/** Settings of the limits that a document can exceed. */
const SETTINGS = { timeout: 'ENGRAM_DOCUMENT_TIMEOUT', memory: 'ENGRAM_WORKER_MEMORY', crash: null };

function asDocumentError(error: unknown, fileName: string): unknown {
  if (error instanceof WorkerTaskError) {
    const { wireName, status } = error.properties;
    if (typeof wireName === 'string' && typeof status === 'number')
      return new EngramError(wireName, status, error.message, { cause: error });
    return engramError('DocumentParsingError', `'${fileName}' could not be parsed`, { cause: error });
  }
  if (!(error instanceof WorkerFailure) || error.reason === 'closed') return error;
  const setting = SETTINGS[error.reason];
  const reason = setting === null ? error.message : `${error.message} (${setting})`;
  return engramError('DocumentParsingError', `'${fileName}' cannot be read: ${reason}`, { cause: error });
}
