import {
  BLOCK_ELEMENTS,
  childrenOf,
  type HtmlNode,
  isElement,
  isHidden,
  isText,
  SKIPPED_ELEMENTS,
} from './html-nodes.ts';

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
export function readHtmlTable(table: HtmlNode, levels: number): HtmlTable | null {
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
