import { parseJson } from '../../../kernel/json.ts';
import { append } from '../../../kernel/long-lists.ts';
import type { DocumentBlock } from '../../../ports/documents.ts';
import { readChatExport, readChatRecords } from './chat-export.ts';
import type { DocumentDraft } from './draft.ts';
import type { ParseContext } from './limits.ts';
import { readMarkdown } from './markdown.ts';
import { paragraphBlocks } from './plain-text.ts';

/** Characters above which a string in a record gets a block of its own. */
const PROSE_LENGTH = 400;

/** Maximum characters of a path, which every value repeats. */
const MAX_PATH_LENGTH = 300;

/**
 * Reads JSON: the text verbatim, the blocks as records with the path before each value (`address.city: Oslo`). A list has one
 * block per element, an object one block with its scalars and one per nested part. The messages of a chat are read as turns,
 * invalid JSON as plain text.
 */
export function readJson(text: string, context: ParseContext): DocumentDraft {
  const value = parseJson(text);
  if (value === undefined) return { text, blocks: paragraphBlocks(text) };
  const chat = readChatRecords(value);
  if (chat !== null) return { ...chat, title: titleOf(value) };
  return { text, blocks: recordBlocks(value, '', context.limits.maxDepth), title: titleOf(value) };
}

/** Reads one record per line, the messages of a chat as turns; invalid lines stay as they are. */
export function readJsonLines(text: string, context: ParseContext): DocumentDraft {
  const chat = readChatExport(text);
  if (chat !== null) return chat;
  const blocks: DocumentBlock[] = [];
  for (const line of text.split(/\r\n?|\n/)) {
    if (line.trim() === '') continue;
    const value = parseJson(line);
    if (value === undefined) blocks.push({ kind: 'paragraph', text: line });
    else append(blocks, recordBlocks(value, '', context.limits.maxDepth));
  }
  return { text, blocks };
}

function recordBlocks(value: unknown, path: string, depthLeft: number): DocumentBlock[] {
  if (
    depthLeft > 0 &&
    Array.isArray(value) &&
    value.some((element) => typeof element === 'object' && element !== null)
  ) {
    return value.flatMap((element) => recordBlocks(element, path, depthLeft - 1));
  }
  const lines: string[] = [];
  const parts: DocumentBlock[] = [];
  collect(value, path, { lines, parts, depthLeft, isTop: true });
  return lines.length === 0 ? parts : [{ kind: 'record', text: lines.join('\n') }, ...parts];
}

interface Collection {
  readonly lines: string[];
  readonly parts: DocumentBlock[];
  readonly depthLeft: number;
  readonly isTop: boolean;
}

function collect(value: unknown, path: string, collection: Collection): void {
  if (value === null || value === undefined || value === '') return;
  if (typeof value !== 'object') {
    addScalar(String(value), path, collection);
  } else if (collection.depthLeft <= 0) {
    collection.lines.push(labelled(path, '…'));
  } else if (Array.isArray(value)) {
    collectArray(value, path, collection);
  } else {
    for (const [key, inner] of Object.entries(value)) {
      const innerPath = (path === '' ? key : `${path}.${key}`).slice(-MAX_PATH_LENGTH);
      if (collection.isTop && isComposite(inner))
        append(collection.parts, recordBlocks(inner, innerPath, collection.depthLeft - 1));
      else collect(inner, innerPath, { ...collection, depthLeft: collection.depthLeft - 1, isTop: false });
    }
  }
}

/** Whether a value gets blocks of its own: several records, or an object with several values. */
function isComposite(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value))
    return value.length > 1 && value.some((element) => typeof element === 'object' && element !== null);
  return Object.keys(value).length > 3;
}

function collectArray(values: readonly unknown[], path: string, collection: Collection): void {
  const inner = { ...collection, depthLeft: collection.depthLeft - 1, isTop: false };
  if (values.every((value) => typeof value !== 'object' || value === null)) {
    const scalars = values.filter((value) => value !== null && value !== '').map(String);
    if (scalars.length > 0) addScalar(scalars.join(', '), path, inner);
  } else for (const value of values) collect(value, path, inner);
}

function addScalar(text: string, path: string, collection: Collection): void {
  if (text.length >= PROSE_LENGTH && !collection.isTop) {
    for (const [index, block] of paragraphBlocks(text).entries()) {
      collection.parts.push({ kind: 'paragraph', text: index === 0 ? labelled(path, block.text) : block.text });
    }
  } else collection.lines.push(labelled(path, text));
}

function labelled(path: string, text: string): string {
  return path === '' ? text : `${path}: ${text}`;
}

function titleOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const record = value as Record<string, unknown>;
  const title = record['title'] ?? record['name'];
  return typeof title === 'string' ? title : null;
}

interface Cell {
  readonly cell_type?: unknown;
  readonly source?: unknown;
}

/** Reads a Jupyter notebook: prose cells as Markdown, code cells as code, without outputs. Other JSON of that name is read as JSON. */
export function readNotebook(text: string, context: ParseContext): DocumentDraft {
  const notebook = parse(text);
  if (notebook === null) return readJson(text, context);
  const blocks: DocumentBlock[] = [];
  for (const cell of notebook.cells) {
    const source = Array.isArray(cell.source) ? cell.source.join('') : String(cell.source ?? '');
    if (cell.cell_type === 'markdown') append(blocks, readMarkdown(source).blocks);
    else if (cell.cell_type === 'code') blocks.push({ kind: 'code', text: source, language: notebook.language });
    else blocks.push({ kind: 'paragraph', text: source });
  }
  return { blocks, title: blocks.find((block) => block.kind === 'heading')?.text ?? null };
}

function parse(text: string): { readonly cells: readonly Cell[]; readonly language: string } | null {
  try {
    const value = JSON.parse(text) as { cells?: unknown; metadata?: { kernelspec?: { language?: unknown } } };
    const language = value.metadata?.kernelspec?.language;
    return Array.isArray(value.cells)
      ? { cells: value.cells as Cell[], language: typeof language === 'string' ? language : 'python' }
      : null;
  } catch {
    return null;
  }
}
