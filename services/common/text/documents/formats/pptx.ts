import { engramError } from '../../../kernel/errors.ts';
import { append } from '../../../kernel/long-lists.ts';
import type { DocumentBlock } from '../../../ports/documents.ts';
import type { DocumentDraft } from './draft.ts';
import type { ParseContext } from './limits.ts';
import { packageProperties, relationships } from './package-parts.ts';
import { markdownTable } from './table-text.ts';
import {
  attribute,
  childElements,
  descendants,
  firstChild,
  firstDescendant,
  localName,
  parseXml,
  textOf,
  type XmlElement,
} from './xml-tree.ts';
import type { ZipArchive } from './zip-archive.ts';

/** Reads slides in the order of the presentation: title as heading, text as list items or paragraphs, tables, then the speaker's notes. */
export function readPptx(archive: ZipArchive, context: ParseContext): DocumentDraft {
  const paths = slidePaths(archive, context);
  if (paths.length > context.limits.maxPages) {
    throw engramError(
      'PayloadTooLargeError',
      `'${context.fileName}' has ${paths.length} slides; the limit is ${context.limits.maxPages}`,
    );
  }
  const blocks: DocumentBlock[] = [];
  const read = new Set<string>();
  for (const [index, path] of paths.entries()) {
    const source = archive.readText(path);
    if (source === null) continue;
    const slide = parseXml(source, context);
    const tree = firstDescendant(slide, 'spTree');
    if (tree !== null) collectShapes(tree, index + 1, blocks);
    append(blocks, notesOf(archive, path, { context, page: index + 1, read }));
  }
  const properties = packageProperties(archive, context);
  const heading = blocks.find((block) => block.kind === 'heading')?.text ?? null;
  const generic = /^(powerpoint presentation|presentation|slide \d+)$/i.test(properties['title'] ?? '');
  return {
    blocks,
    title: generic ? heading : (properties['title'] ?? heading),
    metadata: { ...properties, slides: String(paths.length) },
  };
}

function slidePaths(archive: ZipArchive, context: ParseContext): string[] {
  const main = archive.readText('ppt/presentation.xml');
  if (main === null)
    throw engramError(
      'UnreadableFileContentError',
      `'${context.fileName}' cannot be read: it has no presentation part`,
    );
  const targets = relationships(archive, 'ppt/presentation.xml', context);
  const ids = [...descendants(parseXml(main, context), 'sldId')].map((slide) => attribute(slide, 'id', 'r') ?? '');
  return [...new Set(ids.flatMap((id) => targets.get(id)?.path ?? []))];
}

function collectShapes(tree: XmlElement, page: number, blocks: DocumentBlock[]): void {
  for (const shape of childElements(tree)) {
    const name = localName(shape);
    if (name === 'grpSp') collectShapes(shape, page, blocks);
    else if (name === 'graphicFrame') collectTable(shape, page, blocks);
    else if (name === 'sp') collectText(shape, page, blocks);
  }
}

function collectText(shape: XmlElement, page: number, blocks: DocumentBlock[]): void {
  const placeholder = firstDescendant(shape, 'ph');
  const type = placeholder === null ? null : (attribute(placeholder, 'type') ?? 'body');
  if (type === 'sldNum' || type === 'dt' || type === 'ftr') return;
  const body = firstChild(shape, 'txBody');
  const paragraphs =
    body === null
      ? []
      : childElements(body, 'p')
          .map(paragraphText)
          .filter((text) => text !== '');
  if (type === 'title' || type === 'ctrTitle') {
    if (paragraphs.length > 0)
      blocks.push({ kind: 'heading', level: type === 'ctrTitle' ? 1 : 2, text: paragraphs.join(' '), page });
    return;
  }
  const kind = type === 'body' || paragraphs.length > 1 ? 'list-item' : 'paragraph';
  for (const text of paragraphs) blocks.push({ kind, text, page });
}

function paragraphText(paragraph: XmlElement): string {
  let text = '';
  for (const child of childElements(paragraph)) {
    const name = localName(child);
    if (name === 'r' || name === 'fld') text += childElements(child, 't').map(textOf).join('');
    else if (name === 'br') text += '\n';
  }
  return text.trim();
}

function collectTable(frame: XmlElement, page: number, blocks: DocumentBlock[]): void {
  for (const table of descendants(frame, 'tbl')) {
    const rows = childElements(table, 'tr').map((row) =>
      childElements(row, 'tc').map((cell) => [...descendants(cell, 'p')].map(paragraphText).join(' ')),
    );
    const text = markdownTable(rows);
    if (text !== null) blocks.push({ kind: 'table', text, page });
  }
}

function notesOf(
  archive: ZipArchive,
  slidePath: string,
  { context, page, read }: { readonly context: ParseContext; readonly page: number; readonly read: Set<string> },
): DocumentBlock[] {
  const notes = [...relationships(archive, slidePath, context).values()].find((target) => target.type === 'notesSlide');
  const source = notes === undefined || read.has(notes.path) ? null : archive.readText(notes.path);
  if (notes === undefined || source === null) return [];
  read.add(notes.path);
  const blocks: DocumentBlock[] = [];
  for (const shape of descendants(parseXml(source, context), 'sp')) {
    const placeholder = firstDescendant(shape, 'ph');
    if (placeholder === null || attribute(placeholder, 'type') !== 'body') continue;
    for (const paragraph of descendants(shape, 'p')) {
      const text = paragraphText(paragraph);
      if (text !== '') blocks.push({ kind: 'paragraph', text, page });
    }
  }
  return blocks;
}
