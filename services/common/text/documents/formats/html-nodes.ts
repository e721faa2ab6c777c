/** The subset of the DOM that is used; nodes of linkedom satisfy it. */
export interface HtmlNode {
  readonly nodeType: number;
  readonly nodeName: string;
  readonly textContent: string | null;
  readonly firstChild: HtmlNode | null;
  readonly nextSibling: HtmlNode | null;
  getAttribute?(name: string): string | null;
  remove?(): void;
}

export const SKIPPED_ELEMENTS: ReadonlySet<string> = new Set(
  'SCRIPT STYLE NOSCRIPT TEMPLATE SVG IFRAME OBJECT EMBED CANVAS HEAD TITLE META LINK BUTTON SELECT INPUT TEXTAREA DATALIST AUDIO VIDEO MAP NAV DIALOG'.split(
    ' ',
  ),
);

export const BLOCK_ELEMENTS: ReadonlySet<string> = new Set(
  'ADDRESS ARTICLE ASIDE BODY CENTER DETAILS DIV FIELDSET FIGCAPTION FIGURE FOOTER FORM HEADER HGROUP HTML LI DD DT DL MAIN OL P SECTION SUMMARY UL TABLE CAPTION TBODY THEAD TFOOT TR TD TH HR BLOCKQUOTE PRE'.split(
    ' ',
  ),
);

/** Iterates over the children by siblings: linkedom rebuilds the list of children on each access. */
export function* childrenOf(node: HtmlNode): Generator<HtmlNode> {
  for (let child = node.firstChild; child !== null; child = child.nextSibling) yield child;
}

/** Visits all elements below a node, without recursion; skips the content of those for which `enter` returns false. */
export function walkElements(root: HtmlNode, enter: (element: HtmlNode, depth: number) => boolean): void {
  const open = [{ next: root.firstChild }];
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const node = level.next;
    if (node === null) {
      open.pop();
      continue;
    }
    level.next = node.nextSibling;
    if (isElement(node) && enter(node, open.length)) open.push({ next: node.firstChild });
  }
}

export function isElement(node: HtmlNode): boolean {
  return node.nodeType === 1;
}

/** Whether a node is text or CDATA. */
export function isText(node: HtmlNode): boolean {
  return node.nodeType === 3 || node.nodeType === 4;
}

export function isHidden(node: HtmlNode): boolean {
  if (node.getAttribute === undefined) return false;
  if (node.getAttribute('hidden') !== null || node.getAttribute('aria-hidden') === 'true') return true;
  const style = node.getAttribute('style');
  if (style !== null && /display\s*:\s*none|visibility\s*:\s*hidden/i.test(style)) return true;
  const classes = node.getAttribute('class');
  return classes !== null && /\b(mw-editsection|noprint|sr-only|visually-hidden)\b/.test(classes);
}
