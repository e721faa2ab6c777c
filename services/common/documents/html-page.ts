import { parseHTML } from 'linkedom';
import type { DocumentBlock } from '../ports/documents.ts';
import { type HtmlBlock, htmlBlocks } from './html-blocks.ts';
import type { HtmlNode } from './html-nodes.ts';
import type { ParseContext } from './limits.ts';

/** The little of a document that reading needs. */
export interface HtmlDocument {
  readonly title: string;
  readonly body: HtmlNode;
  querySelector(selector: string): { getAttribute(name: string): string | null } | null;
}

export function parsePage(source: string): HtmlDocument {
  return (parseHTML(wholePage(source)) as unknown as { readonly document: HtmlDocument }).document;
}

/** The parser makes a body only where one is written. */
function wholePage(source: string): string {
  if (/<html[\s>]/i.test(source)) return source;
  return /<(body|head)[\s>]/i.test(source)
    ? `<!doctype html><html>${source}</html>`
    : `<!doctype html><html><head></head><body>${source}</body></html>`;
}

/** A part of a page without the heuristics for web pages: e-books, mail bodies, converted documents. */
export function readHtmlFragment(source: string, context: ParseContext): DocumentBlock[] {
  return htmlBlocks(parsePage(source).body, { maxDepth: context.limits.maxDepth }).map(withoutLinkLength);
}

export function withoutLinkLength({ linkLength: _, ...block }: HtmlBlock): DocumentBlock {
  return block;
}
