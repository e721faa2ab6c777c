import { parseHTML } from 'linkedom';
import type { DocumentBlock } from '../../../ports/documents.ts';
import { type HtmlBlock, htmlBlocks } from './html-blocks.ts';
import { type HtmlNode, walkElements } from './html-nodes.ts';
import type { ParseContext } from './limits.ts';

/** The subset of a document that is used. */
export interface HtmlDocument {
  readonly title: string;
  readonly body: HtmlNode;
  querySelector(selector: string): { getAttribute(name: string): string | null } | null;
}

export function parsePage(source: string): HtmlDocument {
  const { document } = parseHTML(wholePage(source)) as unknown as { readonly document: HtmlDocument };
  removeUnread(document.body);
  return document;
}

/** Elements whose text is never read. They are removed first, since the article finder takes cubic time over some of them. */
const NEVER_READ = new Set(
  'SCRIPT STYLE NOSCRIPT TEMPLATE SVG IFRAME OBJECT EMBED CANVAS SELECT DATALIST AUDIO VIDEO'.split(' '),
);

function removeUnread(body: HtmlNode): void {
  walkElements(body, (element) => {
    const isRead = !NEVER_READ.has(element.nodeName.toUpperCase());
    if (!isRead) element.remove?.();
    return isRead;
  });
}

/** Matches one element that may precede the body. */
const BEFORE_BODY =
  /\s+|<!--[\s\S]*?-->|<[!?][^>]*>|<(?<self>script|style|title)\b[^>]*\/>|<\/?(?<frame>html|head)\b(?<attributes>[^>]*)>|<(?:meta|link|base)\b[^>]*>|<(?<tag>title|script|style|noscript)\b[\s\S]*?<\/\k<tag>\s*>/giy;

/** Adds the tags of head and body, which HTML may omit and the parser does not add. */
function wholePage(source: string): string {
  let attributes = '';
  let head = '';
  let end = 0;
  for (const piece of source.matchAll(BEFORE_BODY)) {
    end = piece.index + piece[0].length;
    const { frame, tag, self } = piece.groups ?? {};
    if (frame !== undefined) attributes ||= frame.toLowerCase() === 'html' ? (piece.groups?.['attributes'] ?? '') : '';
    else if (self === undefined && (tag === undefined || tag.toLowerCase() === 'title')) head += piece[0];
  }
  const rest = source.slice(end);
  const body = /^<body[\s>]/i.test(rest) ? rest : `<body>${rest}`;
  return `<!doctype html><html${attributes}><head>${head}</head>${body}`;
}

/** Reads HTML without the heuristics for web pages: e-books, mail bodies, converted documents. */
export function readHtmlFragment(source: string, context: ParseContext): DocumentBlock[] {
  return htmlBlocks(parsePage(source).body, { maxDepth: context.limits.maxDepth }).map(withoutLinkLength);
}

export function withoutLinkLength({ linkLength: _, ...block }: HtmlBlock): DocumentBlock {
  return block;
}
