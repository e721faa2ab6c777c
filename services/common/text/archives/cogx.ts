import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type JsonObject, parseClientObject } from '../../kernel/json.ts';
import { openNameless } from '../../kernel/nameless-file.ts';
import { type ArchiveMember, InvalidArchive } from './members.ts';

/** An archive that cognee writes with `export(format="cogx")` and sends with `push`. */
export interface CogxArchive extends AsyncDisposable {
  readonly sourceSystem: string;
  /** Name of the exported dataset; null when the archive does not say. */
  readonly dataset: string | null;
  /** Records by kind, as the manifest has them. */
  readonly counts: Readonly<Record<string, number>>;
  readonly documents: readonly CogxDocument[];
  /** Errors of parts that could not be read, by place in the archive. */
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
}

export interface CogxDocument {
  /** At the source. */
  readonly id: string;
  /** Null: a text that came without a file. */
  readonly fileName: string | null;
  /** ISO; null when the archive does not say. */
  readonly createdAt: string | null;
  /** The user's own. */
  readonly metadata: JsonObject;
  readonly nodeSets: readonly string[];
  readonly sizeBytes: number;
  /** Reads its text, which is kept until the archive is disposed. */
  open(): Readable;
}

interface CogxLimits {
  readonly maxDocuments: number;
}

const MAX_LINE_BYTES = 32 * 1024 * 1024;
const MAX_CHUNKS = 1_000_000;
const MAX_UNREADABLE_LINES = 1_000;
const MAX_METADATA_BYTES = 64 * 1024;

/**
 * Reads an archive in one pass; texts go to a temporary file without a name. Documents are put together from the chunks in
 * `nodes.jsonl`; `documents.jsonl` counts where there are none, as in archives of other systems. A document or a line that
 * cannot be read is refused alone. Errors: `InvalidArchive`.
 */
export async function readCogx(members: AsyncIterable<ArchiveMember>, limits: CogxLimits): Promise<CogxArchive> {
  const file = await openNameless(tmpdir(), 'engram-archive');
  try {
    const reader = createReader(file, limits);
    let manifest: Manifest | null = null;
    for await (const { name, content } of members) {
      if (name.endsWith('manifest.json')) manifest = await readManifest(content);
      else if (name.endsWith('nodes.jsonl')) await reader.read('nodes.jsonl', content);
      else if (name.endsWith('documents.jsonl')) await reader.read('documents.jsonl', content);
    }
    if (manifest === null) throw new InvalidArchive('It has no manifest.json.');
    return { ...manifest, ...reader.result(), [Symbol.asyncDispose]: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

type Manifest = Pick<CogxArchive, 'sourceSystem' | 'dataset' | 'counts'>;

async function readManifest(content: AsyncIterable<Uint8Array>): Promise<Manifest> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of content) {
    bytes += piece.length;
    if (bytes > MAX_METADATA_BYTES * 16) throw new InvalidArchive('Its manifest.json is too large.');
    pieces.push(piece);
  }
  const manifest = parseClientObject(Buffer.concat(pieces).toString());
  if (manifest === null) throw new InvalidArchive('Its manifest.json is no JSON object.');
  const { cogx_version: version, source_system: system, counts, notes } = manifest;
  if (typeof version !== 'string' || !version.startsWith('0.'))
    throw new InvalidArchive(`It has COGX version ${JSON.stringify(version ?? null).slice(0, 40)}; this reads 0.x.`);
  const [, dataset = null] = /dataset '([^']+)'/.exec(Array.isArray(notes) ? notes.join(' ') : '') ?? [];
  const numbers = Object.entries(Object(counts)).filter(([, value]) => Number.isSafeInteger(value));
  return {
    sourceSystem: typeof system === 'string' ? system.slice(0, 100) : 'unknown',
    dataset,
    counts: Object.fromEntries(numbers) as Record<string, number>,
  };
}

interface Chunk {
  readonly index: number;
  readonly offset: number;
  readonly sizeBytes: number;
}

interface Draft extends Omit<CogxDocument, 'sizeBytes' | 'open'> {
  readonly chunks: Chunk[];
  readonly problem: string | null;
}

function createReader(file: FileHandle, { maxDocuments }: CogxLimits) {
  const drafts = { 'nodes.jsonl': new Map<string, Draft>(), 'documents.jsonl': new Map<string, Draft>() };
  const refused: { name: string; reason: string }[] = [];
  let written = 0;
  let chunks = 0;

  const keep = async (member: keyof typeof drafts, record: JsonObject): Promise<void> => {
    const isNode = member === 'nodes.jsonl';
    const text = isNode ? record['text'] : record['content'];
    if ((isNode && record['type'] !== 'DocumentChunk') || typeof text !== 'string') return;
    const id = String((isNode ? (record['document_id'] ?? record['id']) : record['external_id']) ?? written).slice(
      0,
      200,
    );
    const known = drafts[member];
    const draft = known.get(id) ?? draftOf(id, record, isNode);
    known.set(id, draft);
    chunks += 1;
    if (known.size > maxDocuments) throw new InvalidArchive(`It has more than ${maxDocuments} documents.`);
    if (chunks > MAX_CHUNKS) throw new InvalidArchive(`It has more than ${MAX_CHUNKS} chunks.`);
    const bytes = Buffer.from(text.toWellFormed());
    await file.write(bytes, 0, bytes.length, written);
    const index = typeof record['chunk_index'] === 'number' ? record['chunk_index'] : 0;
    draft.chunks.push({ index, offset: written, sizeBytes: bytes.length });
    written += bytes.length;
  };

  return {
    async read(member: keyof typeof drafts, content: AsyncIterable<Uint8Array>): Promise<void> {
      for await (const line of jsonLines(content, MAX_LINE_BYTES)) {
        if ('value' in line) await keep(member, line.value);
        else refused.push({ name: `${member} line ${line.number}`, reason: `The line ${line.problem}.` });
        if (refused.length > MAX_UNREADABLE_LINES)
          throw new InvalidArchive(`More than ${MAX_UNREADABLE_LINES} of its lines cannot be read.`);
      }
    },
    result(): Pick<CogxArchive, 'documents' | 'refused'> {
      const [nodes, loose] = [drafts['nodes.jsonl'], drafts['documents.jsonl']];
      const hasLostLines = refused.some(({ name }) => name.startsWith('nodes'));
      const documents: CogxDocument[] = [];
      for (const draft of (nodes.size > 0 ? nodes : loose).values()) {
        const parts = draft.chunks.toSorted((a, b) => a.index - b.index);
        const hasGap = hasLostLines && parts.some(({ index }, at) => index !== at);
        const reason = hasGap ? 'A part of its text is in a line that cannot be read.' : draft.problem;
        if (reason === null) documents.push(documentOf(file, draft, parts));
        else refused.push({ name: draft.fileName ?? draft.id, reason });
      }
      return { documents, refused };
    },
  };
}

function draftOf(id: string, record: JsonObject, isNode: boolean): Draft {
  const { external_metadata: own, metadata, created_at: time, document_name: name } = record;
  const all = isNode ? (typeof own === 'string' ? parseClientObject(own) : {}) : Object(metadata);
  const { _cognee: origin, node_set: sets, ...rest } = (all ?? {}) as JsonObject;
  const isTooLarge = JSON.stringify(rest).length > MAX_METADATA_BYTES;
  return {
    id,
    fileName: typeof name === 'string' ? fileNameOf(name, origin) : null,
    createdAt: isoTime(time),
    metadata: isTooLarge ? {} : rest,
    nodeSets: Array.isArray(sets) ? sets.map(String).filter((tag) => tag.trim() !== '') : [],
    chunks: [],
    problem:
      all === null
        ? 'Its external_metadata is no JSON object.'
        : isTooLarge
          ? `Its metadata is larger than ${MAX_METADATA_BYTES} bytes.`
          : null,
  };
}

/** The archive has the text that cognee read from a file that was no text. Cognee names a bare text by its hash. */
function fileNameOf(name: string, origin: unknown): string | null {
  if (name === '' || /^text_[\da-f]{32}$/.test(name)) return null;
  const { source_uri: uri } = Object(origin) as { source_uri?: unknown };
  const [, extension = 'txt'] = /\.(txt|md|markdown)$/i.exec(typeof uri === 'string' ? uri : '') ?? [];
  return `${name}.${extension}`;
}

/** Cognee writes milliseconds in nodes and ISO in documents. */
function isoTime(time: unknown): string | null {
  if (typeof time !== 'number' && typeof time !== 'string') return null;
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

function documentOf(
  file: FileHandle,
  { chunks: _, problem: __, ...facts }: Draft,
  parts: readonly Chunk[],
): CogxDocument {
  async function* content(): AsyncGenerator<Buffer> {
    for (const { offset, sizeBytes } of parts) {
      const bytes = Buffer.allocUnsafe(sizeBytes);
      const { bytesRead } = await file.read(bytes, 0, sizeBytes, offset);
      if (bytesRead !== sizeBytes) throw new Error('The archive is gone.');
      yield bytes;
    }
  }
  return {
    ...facts,
    sizeBytes: parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    open: () => Readable.from(content(), { objectMode: false }),
  };
}

/** The text of a document, whole. */
export async function textOf(document: CogxDocument): Promise<string> {
  return (await buffer(document.open())).toString();
}

type JsonLine =
  | { readonly number: number; readonly value: JsonObject }
  | { readonly number: number; readonly problem: string };

const NEWLINE = 0x0a;

/** Objects of a JSON-lines file; blank lines are left out. A line that is none, or longer than the limit, has a problem instead. */
async function* jsonLines(content: AsyncIterable<Uint8Array>, maxLineBytes: number): AsyncGenerator<JsonLine> {
  let number = 0;
  let parts: Uint8Array[] = [];
  let bytes = 0;
  const take = (part: Uint8Array): void => {
    bytes += part.length;
    if (bytes > maxLineBytes) parts = [];
    else parts.push(part);
  };
  const end = (): JsonLine | null => {
    number += 1;
    const line = bytes > maxLineBytes ? null : Buffer.concat(parts).toString();
    parts = [];
    bytes = 0;
    if (line === null) return { number, problem: `is longer than ${maxLineBytes} bytes` };
    return line.trim() === '' ? null : parsed(number, line);
  };
  for await (const chunk of content) {
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to !== -1; to = chunk.indexOf(NEWLINE, from)) {
      take(chunk.subarray(from, to));
      from = to + 1;
      const line = end();
      if (line !== null) yield line;
    }
    take(chunk.subarray(from));
  }
  const last = end();
  if (last !== null) yield last;
}

function parsed(number: number, line: string): JsonLine {
  const value = parseClientObject(line);
  return value === null ? { number, problem: 'is no JSON object' } : { number, value };
}
