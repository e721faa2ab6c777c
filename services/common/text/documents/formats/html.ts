import { Readability } from '@mozilla/readability';
import { append } from '../../../kernel/long-lists.ts';
import type { DocumentBlock } from '../../../ports/documents.ts';
import type { DocumentDraft } from './draft.ts';
import { type HtmlBlock, htmlBlocks } from './html-blocks.ts';
import { type HtmlNode, walkElements } from './html-nodes.ts';
import { type HtmlDocument, parsePage, withoutLinkLength } from './html-page.ts';
import type { ParseContext } from './limits.ts';

/** Minimum share of the page's prose in the article; below it the whole body is used. */
const MIN_ARTICLE_SHARE = 0.6;
/** Maximum nesting for the article finder; written pages have half as much. */
const MAX_ARTICLE_DEPTH = 100;
/** Maximum elements for the article finder, which takes about a millisecond for five of them. */
const MAX_ARTICLE_ELEMENTS = 50_000;
/** Share of characters inside links above which a block is navigation. */
const NAVIGATION_LINK_SHARE = 0.6;

/** Reads the article of an HTML page, or the whole body when it is not an article, with headings, lists, tables and code. */
export function readHtml(source: string, context: ParseContext): DocumentDraft {
  const document = parsePage(source);
  const maxDepth = context.limits.maxDepth;
  const bodyBlocks = htmlBlocks(document.body, { maxDepth });
  const title = document.title;
  const metadata = pageMetadata(document);
  // The article finder needs cubic time in the depth of the page: 5,000 nested elements cost it minutes.
  const article = depthOf(document.body) > MAX_ARTICLE_DEPTH ? null : findArticle(document, maxDepth);
  const isEnough = article !== null && proseLength(article) >= MIN_ARTICLE_SHARE * proseLength(bodyBlocks);
  const chosen = isEnough ? withPageHeadings(article, bodyBlocks) : withoutNavigation(bodyBlocks);
  return { blocks: chosen.map(withoutLinkLength), title: pageTitle(title, chosen), metadata };
}

function depthOf(body: HtmlNode): number {
  let deepest = 0;
  walkElements(body, (_, depth) => {
    deepest = Math.max(deepest, depth);
    return true;
  });
  return deepest;
}

/** Finds the article; null without one. Changes the document, which readability rebuilds in place. */
function findArticle(document: HtmlDocument, maxDepth: number): HtmlBlock[] | null {
  const reader = new Readability<HtmlNode>(document as never, {
    serializer: (node) => node as unknown as HtmlNode,
    charThreshold: 200,
    maxElemsToParse: MAX_ARTICLE_ELEMENTS,
    keepClasses: true,
  });
  const content = parseArticle(reader);
  return content === null ? null : htmlBlocks(content, { maxDepth });
}

function parseArticle(reader: Readability<HtmlNode>): HtmlNode | null {
  try {
    return reader.parse()?.content ?? null;
  } catch {
    return null; // readability fails on unusual trees; the whole body is read then
  }
}

function isNavigation(block: HtmlBlock): boolean {
  return block.kind !== 'heading' && block.linkLength > NAVIGATION_LINK_SHARE * block.text.length;
}

function proseLength(blocks: readonly HtmlBlock[]): number {
  return blocks.reduce((sum, block) => (isNavigation(block) ? sum : sum + block.text.length), 0);
}

/** Removes menus: runs of at least three blocks of links. */
function withoutNavigation(blocks: readonly HtmlBlock[]): HtmlBlock[] {
  const kept: HtmlBlock[] = [];
  let run: HtmlBlock[] = [];
  const closeRun = (): void => {
    if (run.length < 3) append(kept, run);
    run = [];
  };
  for (const block of blocks) {
    if (isNavigation(block)) run.push(block);
    else {
      closeRun();
      kept.push(block);
    }
  }
  closeRun();
  return kept.length === 0 ? [...blocks] : kept;
}

/** The article finder takes the page's first heading away and lowers the others, as browsers show them elsewhere; here they are text. */
function withPageHeadings(article: readonly HtmlBlock[], bodyBlocks: readonly HtmlBlock[]): readonly HtmlBlock[] {
  const headings = new Map(bodyBlocks.filter((block) => block.kind === 'heading').map((block) => [block.text, block]));
  const first = [...headings.values()].find((block) => block.level === 1);
  const restored = article.map((block) => (block.kind === 'heading' ? (headings.get(block.text) ?? block) : block));
  return first === undefined || restored.includes(first) ? restored : [first, ...restored];
}

function pageTitle(title: string, blocks: readonly DocumentBlock[]): string | null {
  return title.trim() === '' ? (blocks.find((block) => block.kind === 'heading')?.text ?? null) : title;
}

function pageMetadata(document: HtmlDocument): Record<string, string> {
  const metadata: Record<string, string> = {};
  for (const [key, selector] of [
    ['description', 'meta[name="description"]'],
    ['author', 'meta[name="author"]'],
    ['published', 'meta[property="article:published_time"]'],
    ['language', 'html[lang]'],
  ] as const) {
    const value = document.querySelector(selector)?.getAttribute(key === 'language' ? 'lang' : 'content');
    if (value !== null && value !== undefined) metadata[key] = value;
  }
  return metadata;
}
