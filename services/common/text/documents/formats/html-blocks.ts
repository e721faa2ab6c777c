import type { DocumentBlock } from '../../../ports/documents.ts';
import {
  BLOCK_ELEMENTS,
  childrenOf,
  type HtmlNode,
  isElement,
  isHidden,
  isText,
  SKIPPED_ELEMENTS,
} from './html-nodes.ts';
import { markdownTable } from './table-text.ts';

export interface HtmlBlock extends DocumentBlock {
  /** Characters of the text that stand inside links. */
  readonly linkLength: number;
}

/** Reads the blocks of an HTML tree: headings, paragraphs, list items, tables, code and quotes. Parts nested too deeply are read flat. */
export function htmlBlocks(root: HtmlNode, options: { readonly maxDepth: number }): HtmlBlock[] {
  const reader = new HtmlReader(options);
  reader.visit(root, { kind: 'paragraph', depth: 0 });
  reader.flush('paragraph');
  return reader.blocks;
}

interface Place {
  readonly kind: 'paragraph' | 'list-item' | 'quote';
  readonly depth: number;
  readonly inLink?: boolean;
}

class HtmlReader {
  readonly blocks: HtmlBlock[] = [];
  readonly #maxDepth: number;
  #pending = '';
  #linkLength = 0;
  /** Number of the list item that begins; the next text takes it. */
  #mark = '';

  constructor(options: { readonly maxDepth: number }) {
    this.#maxDepth = options.maxDepth;
  }

  visit(node: HtmlNode, place: Place): void {
    if (isText(node)) {
      this.#addText(node.textContent ?? '', place);
    } else if (isElement(node)) {
      this.#visitElement(node, node.nodeName.toUpperCase(), place);
    } else if (node.nodeType === 9 || node.nodeType === 11) {
      for (const child of childrenOf(node)) this.visit(child, place);
    }
  }

  #visitElement(node: HtmlNode, name: string, place: Place): void {
    if (SKIPPED_ELEMENTS.has(name) || isHidden(node)) return;
    if (place.depth >= this.#maxDepth) {
      this.#addText(node.textContent ?? '', place);
      return;
    }
    const inner = { ...place, depth: place.depth + 1 };
    if (/^H[1-6]$/.test(name)) this.#heading(node, Number(name[1]), inner);
    else if (name === 'BR') this.#pending += '\n';
    else if (name === 'PRE') this.#code(node, place);
    else if (name === 'TABLE') this.#table(node, inner);
    else if (name === 'UL' || name === 'OL') this.#list(node, name === 'OL', inner);
    else if (name === 'BLOCKQUOTE') this.#boxed(node, { ...inner, kind: 'quote' }, place.kind);
    else if (name === 'DT' || name === 'DD') this.#boxed(node, { ...inner, kind: 'list-item' }, place.kind);
    else if (name === 'A') for (const child of childrenOf(node)) this.visit(child, { ...inner, inLink: true });
    else if (name === 'IMG') this.#image(node, place);
    else if (BLOCK_ELEMENTS.has(name)) this.#boxed(node, inner, place.kind);
    else for (const child of childrenOf(node)) this.visit(child, inner);
  }

  #boxed(node: HtmlNode, inner: Place, outerKind: Place['kind']): void {
    this.flush(outerKind);
    for (const child of childrenOf(node)) this.visit(child, inner);
    this.flush(inner.kind);
  }

  #addText(text: string, place: Place): void {
    const collapsed = text.replaceAll(/[ \t\r\n\f]+/g, ' ');
    this.#pending += collapsed;
    if (place.inLink === true) this.#linkLength += collapsed.trim().length;
  }

  flush(kind: DocumentBlock['kind'], level?: number): void {
    const text = this.#pending
      .replaceAll(/ {2,}/g, ' ')
      .replaceAll(/ ?\n ?/g, '\n')
      .replaceAll('\u00ad', '')
      .trim();
    const linkLength = this.#linkLength;
    this.#pending = '';
    this.#linkLength = 0;
    if (text === '') return;
    this.#push({ kind, text: this.#mark + text, linkLength, ...(level === undefined ? {} : { level }) });
    this.#mark = '';
  }

  #push(block: HtmlBlock): void {
    this.blocks.push(block);
  }

  #heading(node: HtmlNode, level: number, place: Place): void {
    this.flush(place.kind);
    for (const child of childrenOf(node)) this.visit(child, { ...place, kind: 'paragraph' });
    this.#pending = this.#pending.replaceAll(/\s+/g, ' ');
    this.flush('heading', level);
  }

  #code(node: HtmlNode, place: Place): void {
    this.flush(place.kind);
    const text = (node.textContent ?? '').replaceAll('\r\n', '\n').replace(/^\n+/, '').trimEnd();
    const language = codeLanguage(node);
    if (text !== '') this.#push({ kind: 'code', text, linkLength: 0, ...(language === null ? {} : { language }) });
  }

  /** Returns the mark of a list item: none for bullets, its number in ordered lists ("see step 3"). */
  #list(node: HtmlNode, isOrdered: boolean, place: Place): void {
    this.flush(place.kind);
    let number = Number(node.getAttribute?.('start') ?? 1) || 1;
    for (const child of childrenOf(node)) {
      if (isElement(child) && child.nodeName.toUpperCase() === 'LI') {
        this.flush('list-item');
        this.#mark = isOrdered ? `${number}. ` : '';
        number += 1;
        for (const part of childrenOf(child)) this.visit(part, { ...place, kind: 'list-item' });
        this.flush('list-item');
        this.#mark = '';
      } else this.visit(child, { ...place, kind: 'list-item' });
    }
    this.flush('list-item');
  }

  #table(node: HtmlNode, place: Place): void {
    this.flush(place.kind);
    const table = readHtmlTable(node, this.#maxDepth - place.depth);
    if (table === null) {
      for (const child of childrenOf(node)) this.visit(child, place);
      this.flush(place.kind);
      return;
    }
    for (const caption of table.captions) this.#push({ kind: 'paragraph', text: caption, linkLength: 0 });
    const text = markdownTable(table.rows);
    if (text !== null) this.#push({ kind: 'table', text, linkLength: table.linkLength });
  }

  /** Returns the description of an image, if it has more than two words: shorter ones are logos and icons. */
  #image(node: HtmlNode, place: Place): void {
    const description = node.getAttribute?.('alt')?.trim() ?? '';
    if (description.split(/\s+/).length >= 3) this.#addText(` ${description} `, place);
  }
}

function codeLanguage(node: HtmlNode): string | null {
  for (const candidate of [node, ...childrenOf(node)]) {
    const found = /\b(?:language|lang|highlight-source)-([\w+#-]{1,30})/.exec(candidate.getAttribute?.('class') ?? '');
    if (found?.[1] !== undefined) return found[1].toLowerCase();
  }
  return null;
}

interface HtmlTable {
  readonly captions: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Characters of the text that stand inside links. */
  readonly linkLength: number;
}

/** Elements that occur in layout tables and not in data tables. */
const LAYOUT_SIGNS = new Set(['TABLE', 'H1', 'H2', 'H3', 'PRE', 'ARTICLE', 'SECTION']);

/** Characters of a cell above which it is prose. */
const MAX_CELL_CHARACTERS = 2_000;
const MAX_SPAN = 50;

/** Reads a table in one pass; null for a layout table or one nested deeper than `levels`, to be read like other elements. */
function readHtmlTable(table: HtmlNode, levels: number): HtmlTable | null {
  const reader = new TableReader();
  for (const child of childrenOf(table)) reader.visit(child, levels - 1);
  const { rows, captions, linkLength } = reader;
  const isData = !reader.isLayout && rows.some((row) => row.length > 1);
  return isData ? { rows, captions, linkLength } : null;
}

class TableReader {
  readonly rows: string[][] = [];
  readonly captions: string[] = [];
  linkLength = 0;
  isLayout = false;

  visit(node: HtmlNode, levels: number): void {
    if (!isElement(node) || this.isLayout) return;
    const name = node.nodeName.toUpperCase();
    if (levels <= 0) this.isLayout = true;
    else if (name === 'TR') this.rows.push([]);
    if (name === 'TD' || name === 'TH') this.#cell(node, levels);
    else if (name === 'CAPTION') this.captions.push(this.#text(node, levels));
    else for (const child of childrenOf(node)) this.visit(child, levels - 1);
  }

  #cell(node: HtmlNode, levels: number): void {
    const row = this.rows.at(-1);
    const text = this.#text(node, levels);
    if (text.length > MAX_CELL_CHARACTERS) this.isLayout = true;
    row?.push(text);
    const span = Math.min(Number(node.getAttribute?.('colspan') ?? 1) || 1, MAX_SPAN);
    for (let extra = 1; extra < span; extra += 1) row?.push('');
  }

  #text(node: HtmlNode, levels: number): string {
    const parts: string[] = [];
    this.#collect(node, levels, parts);
    return parts.join('').replaceAll(/\s+/g, ' ').trim();
  }

  #collect(node: HtmlNode, levels: number, parts: string[]): void {
    if (isText(node)) {
      parts.push(node.textContent ?? '');
      return;
    }
    const name = node.nodeName.toUpperCase();
    if (!isElement(node) || SKIPPED_ELEMENTS.has(name) || isHidden(node)) return;
    if (LAYOUT_SIGNS.has(name) || levels <= 0) {
      this.isLayout = true;
      return;
    }
    const isApart = BLOCK_ELEMENTS.has(name) || name === 'BR';
    const first = parts.length;
    if (isApart) parts.push(' ');
    for (const child of childrenOf(node)) this.#collect(child, levels - 1, parts);
    if (isApart) parts.push(' ');
    if (name === 'A') this.linkLength += parts.slice(first).join('').trim().length;
  }
}
