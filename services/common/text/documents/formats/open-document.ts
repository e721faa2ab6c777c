import { engramError } from '../../../kernel/errors.ts';
import type { DocumentBlock } from '../../../ports/documents.ts';
import type { DocumentDraft } from './draft.ts';
import { type ParseContext, textBudget } from './limits.ts';
import { packageProperties } from './package-parts.ts';
import { markdownTable, selfDescribingRows } from './table-text.ts';
import { attribute, childElements, firstDescendant, localName, parseXml, textOf, type XmlElement } from './xml-tree.ts';
import type { ZipArchive } from './zip-archive.ts';

/** Maximum repetitions of a cell: files may repeat one 16384 times as filling. */
const MAX_REPEATS = 1_000;

/** Reads ODT, ODS and ODP: headings with level, paragraphs, list items, tables; sheets as rows with column names; slides as pages. */
export function readOpenDocument(archive: ZipArchive, context: ParseContext): DocumentDraft {
  const source = archive.readText('content.xml');
  if (source === null || /<(\w+:)?encryption-data\b/.test(archive.readText('META-INF/manifest.xml') ?? '')) {
    const reason = source === null ? 'it has no content part' : 'it is encrypted with a password';
    throw engramError('UnreadableFileContentError', `'${context.fileName}' cannot be read: ${reason}`);
  }
  const body = firstDescendant(parseXml(source, context), 'body');
  const reader = new OpenDocumentReader(context);
  if (body !== null) reader.readBody(body);
  const metadata = packageProperties(archive, context);
  const heading = reader.blocks.find((block) => block.kind === 'heading')?.text ?? null;
  return { blocks: reader.blocks, title: metadata['title'] ?? heading, metadata };
}

class OpenDocumentReader {
  readonly blocks: DocumentBlock[] = [];
  readonly #context: ParseContext;
  #page = 0;
  #cells = 0;
  readonly #count: (text: string) => string;

  constructor(context: ParseContext) {
    this.#context = context;
    this.#count = textBudget(context);
  }

  readBody(body: XmlElement): void {
    for (const part of childElements(body)) {
      const kind = localName(part);
      for (const child of childElements(part)) {
        if (kind === 'spreadsheet' && localName(child) === 'table') this.#sheet(child);
        else if (kind === 'presentation' && localName(child) === 'page') this.#slide(child);
        else this.#visit(child, 'paragraph');
      }
    }
  }

  #push(block: DocumentBlock): void {
    if (block.text.trim() !== '') this.blocks.push(this.#page === 0 ? block : { ...block, page: this.#page });
  }

  #nextPage(): void {
    this.#page += 1;
    if (this.#page > this.#context.limits.maxPages) {
      throw engramError(
        'PayloadTooLargeError',
        `'${this.#context.fileName}' has more than ${this.#context.limits.maxPages} pages`,
      );
    }
  }

  #visit(element: XmlElement, kind: 'paragraph' | 'list-item'): void {
    const name = localName(element);
    if (name === 'h') {
      const level = Math.min(6, Math.max(1, Number(attribute(element, 'outline-level') ?? 1) || 1));
      this.#push({ kind: 'heading', level, text: this.#inline(element) });
    } else if (name === 'p') this.#push({ kind, text: this.#inline(element) });
    else if (name === 'list') for (const item of childElements(element)) this.#listItem(item);
    else if (name === 'table') this.#table(element);
    else if (!NOT_READ.has(name)) for (const child of childElements(element)) this.#visit(child, kind);
  }

  #listItem(item: XmlElement): void {
    for (const child of childElements(item)) this.#visit(child, 'list-item');
  }

  /** Returns the text of a paragraph with notes in brackets; text boxes become separate blocks after it. */
  #inline(element: XmlElement): string {
    let text = '';
    for (const child of element.children) {
      if (typeof child === 'string') text += child.replaceAll(/[ \t\r\n]+/g, ' ');
      else text += this.#inlineElement(child);
    }
    return text;
  }

  #inlineElement(element: XmlElement): string {
    switch (localName(element)) {
      case 's':
        return ' '.repeat(Math.min(MAX_REPEATS, Math.max(1, Number(attribute(element, 'c') ?? 1) || 1)));
      case 'tab':
        return '\t';
      case 'line-break':
        return '\n';
      case 'note': {
        const body = childElements(element, 'note-body')[0];
        return body === undefined ? '' : ` [${textOf(body).replaceAll(/\s+/g, ' ').trim()}]`;
      }
      case 'annotation':
      case 'frame':
        for (const child of childElements(element, 'text-box')) this.#visit(child, 'paragraph');
        return '';
      default:
        return NOT_READ.has(localName(element)) ? '' : this.#inline(element);
    }
  }

  #table(table: XmlElement): void {
    const text = markdownTable(this.#rows(table));
    if (text !== null) this.#push({ kind: 'table', text });
  }

  #sheet(sheet: XmlElement): void {
    this.#nextPage();
    const rows = this.#rows(sheet);
    if (rows.length === 0) return;
    this.#push({ kind: 'heading', level: 1, text: attribute(sheet, 'name') ?? `Sheet ${this.#page}` });
    const { above, lines } = selfDescribingRows(rows);
    for (const line of above) this.#push({ kind: 'paragraph', text: line });
    for (const line of lines) this.#push({ kind: 'table', text: line });
  }

  #slide(slide: XmlElement): void {
    this.#nextPage();
    for (const frame of childElements(slide)) {
      const isTitle = /^(title|subtitle)$/.test(attribute(frame, 'class') ?? '');
      const first = this.blocks.length;
      this.#visitFrame(frame);
      if (!isTitle) continue;
      for (let index = first; index < this.blocks.length; index += 1) {
        const block = this.blocks[index];
        if (block !== undefined) this.blocks[index] = { ...block, kind: 'heading', level: 2 };
      }
    }
  }

  /** Returns the speaker's notes, without the thumbnail of the slide. */
  #visitFrame(frame: XmlElement): void {
    for (const child of childElements(frame)) this.#visit(child, 'paragraph');
  }

  #rows(table: XmlElement): string[][] {
    const rows: string[][] = [];
    for (const row of tableRowElements(table)) {
      const cells: string[] = [];
      for (const cell of childElements(row)) {
        if (!/^(covered-)?table-cell$/.test(localName(cell))) continue;
        const text = childElements(cell, 'p')
          .map((paragraph) => this.#inline(paragraph))
          .join(' ')
          .trim();
        const repeated = Number(attribute(cell, 'number-columns-repeated') ?? 1) || 1;
        for (let count = Math.min(repeated, MAX_REPEATS); count > 0; count -= 1) cells.push(this.#count(text));
      }
      while (cells.at(-1) === '') cells.pop();
      if (cells.length === 0) continue;
      const repeated = Number(attribute(row, 'number-rows-repeated') ?? 1) || 1;
      for (let count = Math.min(repeated, MAX_REPEATS); count > 0; count -= 1) {
        rows.push(cells);
        for (const cell of cells) this.#count(cell);
      }
      this.#countCells(cells.length * Math.min(repeated, MAX_REPEATS));
    }
    return rows;
  }

  #countCells(count: number): void {
    this.#cells += count;
    if (this.#cells > this.#context.limits.maxCells) {
      throw engramError(
        'PayloadTooLargeError',
        `'${this.#context.fileName}' has more than ${this.#context.limits.maxCells} cells`,
      );
    }
  }
}

/** Elements that are not text of the document: tracked deletions, forms, styles and comments. */
const NOT_READ = new Set([
  'tracked-changes',
  'forms',
  'annotation',
  'annotation-end',
  'sequence-decls',
  'bookmark',
  'index-title-template',
  'settings',
]);

/** Returns the rows of a table, also from header and group elements. */
function* tableRowElements(table: XmlElement): Generator<XmlElement> {
  for (const child of childElements(table)) {
    const name = localName(child);
    if (name === 'table-row') yield child;
    else if (/^table-(header-rows|rows|row-group)$/.test(name)) yield* tableRowElements(child);
  }
}
