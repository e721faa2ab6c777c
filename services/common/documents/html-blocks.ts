import type { DocumentBlock } from '../ports/documents.ts';
import { markdownTable } from './table-text.ts';

/** The little of the DOM that reading needs; linkedom's nodes fit. */
export interface HtmlNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly textContent: string | null;
  readonly childNodes: Iterable<HtmlNode>;
  getAttribute?(name: string): string | null;
}

export interface HtmlBlock extends DocumentBlock {
  /** Characters of the text that stand inside links. */
  readonly linkLength: number;
}

const SKIPPED = new Set(
  'SCRIPT STYLE NOSCRIPT TEMPLATE SVG IFRAME OBJECT EMBED CANVAS HEAD TITLE META LINK BUTTON SELECT INPUT TEXTAREA DATALIST AUDIO VIDEO MAP NAV DIALOG'.split(
    ' ',
  ),
);
const BLOCK = new Set(
  'ADDRESS ARTICLE ASIDE BODY CENTER DETAILS DIV FIELDSET FIGCAPTION FIGURE FOOTER FORM HEADER HGROUP HTML LI DD DT DL MAIN OL P SECTION SUMMARY UL TABLE CAPTION TBODY THEAD TFOOT TR TD TH HR BLOCKQUOTE PRE'.split(
    ' ',
  ),
);
const NODE_ELEMENT = 1;
const NODE_TEXT = 3;
const NODE_CDATA = 4;

/** Walks a tree of HTML and gives headings, paragraphs, list items, tables, code and quotes. */
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

  constructor(options: { readonly maxDepth: number }) {
    this.#maxDepth = options.maxDepth;
  }

  visit(node: HtmlNode, place: Place): void {
    if (node.nodeType === NODE_TEXT || node.nodeType === NODE_CDATA) {
      this.#addText(node.textContent ?? '', place);
    } else if (node.nodeType === NODE_ELEMENT) {
      this.#visitElement(node, node.nodeName.toUpperCase(), place);
    } else if (node.nodeType === 9 || node.nodeType === 11) {
      for (const child of node.childNodes) this.visit(child, place);
    }
  }

  #visitElement(node: HtmlNode, name: string, place: Place): void {
    if (SKIPPED.has(name) || isHidden(node)) return;
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
    else if (name === 'A') for (const child of node.childNodes) this.visit(child, { ...inner, inLink: true });
    else if (name === 'IMG') this.#image(node, place);
    else if (BLOCK.has(name)) this.#boxed(node, inner, place.kind);
    else for (const child of node.childNodes) this.visit(child, inner);
  }

  #boxed(node: HtmlNode, inner: Place, outerKind: Place['kind']): void {
    this.flush(outerKind);
    for (const child of node.childNodes) this.visit(child, inner);
    this.flush(inner.kind);
  }

  #addText(text: string, place: Place): void {
    const collapsed = text.replaceAll(/[ \t\r\n\f]+/g, ' ');
    this.#pending += collapsed;
    if (place.inLink === true) this.#linkLength += collapsed.trim().length;
  }

  flush(kind: DocumentBlock['kind'], level?: number): void {
    const text = this.#pending
      .replaceAll(/ *\n */g, '\n')
      .replaceAll(/ {2,}/g, ' ')
      .replaceAll('\u00ad', '')
      .trim();
    const linkLength = this.#linkLength;
    this.#pending = '';
    this.#linkLength = 0;
    if (text !== '') this.#push({ kind, text, linkLength, ...(level === undefined ? {} : { level }) });
  }

  #push(block: HtmlBlock): void {
    this.blocks.push(block);
  }

  #heading(node: HtmlNode, level: number, place: Place): void {
    this.flush(place.kind);
    for (const child of node.childNodes) this.visit(child, { ...place, kind: 'paragraph' });
    this.#pending = this.#pending.replaceAll(/\s+/g, ' ');
    this.flush('heading', level);
  }

  #code(node: HtmlNode, place: Place): void {
    this.flush(place.kind);
    const text = (node.textContent ?? '').replaceAll('\r\n', '\n').replace(/^\n+/, '').trimEnd();
    const language = codeLanguage(node);
    if (text !== '') this.#push({ kind: 'code', text, linkLength: 0, ...(language === null ? {} : { language }) });
  }

  /** Bullets carry no sign, numbers are kept: "see step 3" must stay meaningful. */
  #list(node: HtmlNode, isOrdered: boolean, place: Place): void {
    this.flush(place.kind);
    let number = Number(node.getAttribute?.('start') ?? 1) || 1;
    for (const child of node.childNodes) {
      if (child.nodeType === NODE_ELEMENT && child.nodeName.toUpperCase() === 'LI') {
        this.flush('list-item');
        if (isOrdered) this.#pending = `${number}. `;
        number += 1;
        for (const part of child.childNodes) this.visit(part, { ...place, kind: 'list-item' });
        if (/^\d+\. ?$/.test(this.#pending.trimStart())) this.#pending = '';
        this.flush('list-item');
      } else this.visit(child, { ...place, kind: 'list-item' });
    }
    this.flush('list-item');
  }

  #table(node: HtmlNode, place: Place): void {
    this.flush(place.kind);
    if (isLayoutTable(node, place.depth, this.#maxDepth)) {
      for (const child of node.childNodes) this.visit(child, place);
      this.flush(place.kind);
      return;
    }
    for (const caption of elements(node, new Set(['CAPTION']), 3)) {
      this.visit(caption, { ...place, kind: 'paragraph' });
      this.flush('paragraph');
    }
    const text = markdownTable(tableRows(node));
    const linkLength = elementsDeep(node, 'A', this.#maxDepth).reduce(
      (sum, link) => sum + (link.textContent ?? '').trim().length,
      0,
    );
    if (text !== null) this.#push({ kind: 'table', text, linkLength });
  }

  /** Only descriptions that say something: one or two words are logos and icons. */
  #image(node: HtmlNode, place: Place): void {
    const description = node.getAttribute?.('alt')?.trim() ?? '';
    if (description.split(/\s+/).length >= 3) this.#addText(` ${description} `, place);
  }
}

function isHidden(node: HtmlNode): boolean {
  if (node.getAttribute === undefined) return false;
  if (node.getAttribute('hidden') !== null || node.getAttribute('aria-hidden') === 'true') return true;
  const style = node.getAttribute('style');
  if (style !== null && /display\s*:\s*none|visibility\s*:\s*hidden/i.test(style)) return true;
  const classes = node.getAttribute('class');
  return classes !== null && /\b(mw-editsection|noprint|sr-only|visually-hidden)\b/.test(classes);
}

function codeLanguage(node: HtmlNode): string | null {
  for (const candidate of [node, ...elements(node, new Set(['CODE']), 2)]) {
    const found = /\b(?:language|lang|highlight-source)-([\w+#-]{1,30})/.exec(candidate.getAttribute?.('class') ?? '');
    if (found?.[1] !== undefined) return found[1].toLowerCase();
  }
  return null;
}

/** A table that holds tables, headings, lists or long prose, or has a single column, arranges a page; it is no data. */
function isLayoutTable(node: HtmlNode, depth: number, maxDepth: number): boolean {
  const left = Math.max(1, maxDepth - depth);
  for (const name of ['TABLE', 'H1', 'H2', 'UL', 'OL', 'PRE']) {
    if (elementsDeep(node, name, left).length > 0) return true;
  }
  const rows = tableRows(node);
  return rows.length === 0 || Math.max(...rows.slice(0, 200).map((row) => row.length)) < 2;
}

function tableRows(table: HtmlNode): string[][] {
  return elements(table, new Set(['TR']), 3).map((row) =>
    elements(row, new Set(['TD', 'TH']), 1).flatMap((cell) => {
      const span = Math.min(Number(cell.getAttribute?.('colspan') ?? 1) || 1, 50);
      return [
        (cell.textContent ?? '').replaceAll(/\s+/g, ' ').trim(),
        ...Array.from({ length: Math.max(0, span - 1) }, () => ''),
      ];
    }),
  );
}

/** Elements of the given names at most `levels` below, not looking inside found ones. */
function elements(node: HtmlNode, names: ReadonlySet<string>, levels: number): HtmlNode[] {
  const found: HtmlNode[] = [];
  for (const child of node.childNodes) {
    if (child.nodeType !== NODE_ELEMENT) continue;
    if (names.has(child.nodeName.toUpperCase())) found.push(child);
    else if (levels > 1) found.push(...elements(child, names, levels - 1));
  }
  return found;
}

function elementsDeep(node: HtmlNode, name: string, levels: number): HtmlNode[] {
  return elements(node, new Set([name]), levels);
}
