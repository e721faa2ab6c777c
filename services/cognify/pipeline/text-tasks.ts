import type { DataItem } from '../../common/domain/data-item.ts';
import { timeOfMetadata } from '../../common/domain/item-time.ts';
import { OWNER_NAME } from '../../common/domain/speaker.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { parseJson } from '../../common/kernel/json.ts';
import type { CodeFacts } from '../../common/ports/code-facts.ts';
import type { ParsedDocument } from '../../common/ports/documents.ts';
import type { Extraction } from '../../common/ports/extractor.ts';
import { chunkDocument, chunkIds } from '../../common/text/chunking/chunk-document.ts';
import { sentences } from '../../common/text/language/sentences.ts';
import { estimateTokens } from '../../common/text/language/token-count.ts';
import { SPEAKER } from '../../common/text/statements/read-statement.ts';
import { readStatements } from '../../common/text/statements/read-text.ts';
import { type Statement, statementId, statementKey } from '../../common/text/statements/statement.ts';
import {
  type ChunkMention,
  createDocumentEntities,
  type DocumentEntity,
  type DocumentRelation,
  type ResolvedEntities,
} from './document-entities.ts';
import type { ChunkSizes, ItemChunk } from './model.ts';
import { authorOf } from './speaker.ts';
import { type DatedRelation, writtenAtOf } from './times.ts';

// Entry of worker processes: work over whole documents. Results are yielded in parts, so that a busy thread receives one at a
// time.

/** Approximate number of characters in one part of a result. */
const PART_LENGTH = 128 * 1024;
/** Characters that a row counts beside its text. */
const ROW_LENGTH = 200;

interface CutInput {
  readonly item: Pick<DataItem, 'id' | 'fileName'>;
  readonly sizes: ChunkSizes;
}

/** The title, author and date of writing that a document gives itself. */
export interface DocumentFacts {
  readonly title: string | null;
  readonly author: string | null;
  /** ISO. */
  readonly writtenAt: string | null;
  /** Null: it is no code. */
  readonly code: CodeFacts | null;
}

/** Cuts a stored document into chunks. Returns null when the stored content is no document. */
export function* cutDocument(
  { item, sizes }: CutInput,
  stored: Buffer,
): Generator<readonly ItemChunk[], DocumentFacts | null> {
  const document = readStoredDocument(stored);
  if (document === null) return null;
  yield* inParts(chunkItem(item.id, document, sizes), ({ text }) => text.length);
  const { title, code = null } = document;
  return { title, author: authorOf(document), writtenAt: writtenAtOf(document, item.fileName), code };
}

/** Cuts a parsed document into chunks with their ids. */
export function chunkItem(item: DataItemId, document: ParsedDocument, sizes: ChunkSizes): readonly ItemChunk[] {
  const drafts = chunkDocument(document, { ...sizes, countTokens: estimateTokens, sentences });
  const ids = chunkIds(item, drafts);
  return drafts.map((draft, position) => ({
    id: ids[position] as string,
    index: draft.index,
    text: draft.text,
    size: draft.tokenCount,
    maxTokens: sizes.maxTokens,
    parts: draft.parts,
    cutType: draft.cutType,
    contentHash: draft.contentHash,
    headings: draft.headings,
    page: draft.page ?? null,
    ...(draft.row === undefined ? {} : { row: draft.row }),
  }));
}

/** Returns null for a truncated text, or for other content under its key. */
function readStoredDocument(stored: Buffer): ParsedDocument | null {
  const value = parseJson(stored.toString('utf8')) as Partial<ParsedDocument> | null | undefined;
  return typeof value?.text === 'string' && Array.isArray(value.blocks) ? (value as ParsedDocument) : null;
}

/** The entities, relations and subjects of one chunk. */
interface ReadChunk extends Pick<ItemChunk, 'id' | 'text' | 'headings' | 'parts'> {
  readonly extraction: Pick<Extraction, 'entities'> & { readonly relations: readonly DatedRelation[] };
  readonly subjects: readonly string[];
}

/** Encodes one line of the content of `resolveDocument`. */
export function readChunkLine({ id, text, headings, parts, extraction, subjects }: ReadChunk): Buffer {
  const { entities, relations } = extraction;
  const others = parts.filter((part) => part.headings !== undefined);
  const line = { id, text, headings, parts: others, extraction: { entities, relations }, subjects };
  return Buffer.from(`${JSON.stringify(line)}\n`);
}

export type ResolvedPart =
  | { readonly entities: readonly DocumentEntity[] }
  | { readonly relations: readonly DocumentRelation[] }
  | { readonly mentions: readonly ChunkMention[] }
  | { readonly statements: readonly Statement[] };

/** Resolves the entities that the chunks of a document name, and reads its statements. */
export function* resolveDocument(source: StatedBy, content: Buffer): Generator<ResolvedPart, void> {
  const document = createDocumentEntities();
  const chunks: StatedChunk[] = [];
  for (const { id, text, headings, parts, extraction, subjects } of chunkLines(content)) {
    document.add(id, extraction, subjects);
    chunks.push({ id, text, headings, parts });
  }
  const resolved = document.resolve();
  for (const entities of inParts(
    resolved.entities,
    ({ description, aliases }) => description.length + 40 * aliases.length,
  ))
    yield { entities };
  for (const relations of inParts(resolved.relations, ({ evidence }) => evidence.length)) yield { relations };
  for (const mentions of inParts(resolved.mentions, () => 0)) yield { mentions };
  const stated = itemStatements(source, chunks, resolved);
  for (const statements of inParts(stated, ({ text }) => 2 * text.length)) yield { statements };
}

function* chunkLines(content: Buffer): Generator<ReadChunk> {
  for (let start = 0; start < content.length; ) {
    const end = content.indexOf(10, start);
    yield JSON.parse(content.toString('utf8', start, end)) as ReadChunk;
    start = end + 1;
  }
}

function* inParts<Row>(rows: Iterable<Row>, lengthOf: (row: Row) => number): Generator<readonly Row[]> {
  let part: Row[] = [];
  let length = 0;
  for (const row of rows) {
    part.push(row);
    length += lengthOf(row) + ROW_LENGTH;
    if (length < PART_LENGTH) continue;
    yield part;
    part = [];
    length = 0;
  }
  if (part.length > 0) yield part;
}

/** The item that makes statements, and their time when neither sentence nor metadata gives one. */
interface StatedBy {
  readonly item: Pick<DataItem, 'id' | 'ownerId' | 'externalMetadata'>;
  readonly createdAt: string;
  /** When it was written, see `ItemSource`. */
  readonly writtenAt?: string | null;
  /** Who says `I`; null or absent: nobody known. */
  readonly speaker?: string | null;
}

type StatedChunk = Pick<ItemChunk, 'id' | 'text' | 'headings'> & Partial<Pick<ItemChunk, 'parts'>>;

/** Reads the statements of an item: plain sentences about something that has one value at a time, in document order. */
export function itemStatements(
  { item, createdAt, writtenAt = null, speaker = null }: StatedBy,
  chunks: readonly StatedChunk[],
  resolved: Pick<ResolvedEntities, 'entities'>,
): readonly Statement[] {
  const written = writtenAt ?? timeOfMetadata(item.externalMetadata) ?? createdAt;
  const fullNames = fullNamesOf(resolved);
  const found: Statement[] = [];
  for (const chunk of chunks) {
    const { headings, parts } = chunk;
    for (const { text, time, asOf, since, subject, ...stated } of readStatements(chunk.text, headings, parts)) {
      const at = time?.from.toISOString() ?? written;
      // A statement about the future does not hold yet.
      if ((asOf ?? '') > at || (since ?? '') > at || at > written) continue;
      const who = subject === SPEAKER ? speaker : subject;
      if (who === null) continue;
      const name = fullNames.get(who.toLowerCase()) ?? who;
      const isUser = /^(?:the )?user$/iu.test(who) || (subject === SPEAKER && who === OWNER_NAME);
      const key = statementKey(isUser ? `user ${item.ownerId}` : name, stated.predicate);
      const said = asOf ?? at;
      const place = { item: item.id, chunk: chunk.id, text };
      const times = { at: said, from: since ?? said };
      found.push({ id: statementId(place), key, subject: name, ...stated, ...place, ordinal: found.length, ...times });
    }
  }
  return found;
}

/** Maps short names to the full name in this document; a short name of two entities is left out. */
function fullNamesOf({ entities }: Pick<ResolvedEntities, 'entities'>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const shared = new Set<string>();
  for (const { name, aliases, isKeyword } of entities) {
    if (isKeyword) continue;
    for (const spelling of aliases) {
      const lower = spelling.toLowerCase();
      if (names.has(lower)) shared.add(lower);
      names.set(lower, name);
    }
  }
  for (const lower of shared) names.delete(lower);
  return names;
}
