import { Lexer, type Token, type Tokens, type TokensList } from 'marked';
import type { DocumentBlock } from '../../../ports/documents.ts';
import type { DocumentDraft } from './draft.ts';
import { paragraphBlocks } from './plain-text.ts';
import { markdownTable } from './table-text.ts';

/**
 * Reads Markdown: headings with level, paragraphs, list items, tables, code, quotes. Blocks hold readable text: emphasis marks are
 * removed, a link becomes its words with the address in brackets, an image its description. Where several paragraphs begin with a
 * title of their own in bold type, these are headings of the lowest level. Items that are nothing but a link to
 * a heading of the document repeat that heading, and are left out. The text of the document is verbatim.
 */
export function readMarkdown(text: string): DocumentDraft {
  const { body, metadata } = splitFrontMatter(text);
  const blocks: DocumentBlock[] = Object.entries(metadata).length === 0 ? [] : [frontMatterBlock(metadata)];
  collect(withRunInHeadings(tokensOf(body)), 'paragraph', blocks);
  const title =
    metadata['title'] ?? blocks.find((block) => block.kind === 'heading' && block.level === 1)?.text ?? null;
  return { text, blocks, title, metadata };
}

/** Characters of inline text above which marks stay: prose is never that long, and matching marks is not linear. */
const MAX_INLINE_CHARACTERS = 32_768;

/** Maximum nesting of quotes and lists on one line; further marks are dropped, since each level costs a pass over the rest. */
const DEEP_MARKS = /^((?:[ \t]{0,3}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])){8})(?:[> \t]|[-*+][ \t]|\d{1,9}[.)][ \t])+/gm;

/** Parses in sections: the parser searches for some marks in all remaining text, and restarts at each line for others. */
function tokensOf(source: string): TokensList {
  const normal = source.replaceAll(/\r\n?/g, '\n').replaceAll(DEEP_MARKS, '$1 ');
  const lexer = new Lexer({ gfm: true });
  for (const section of sectionsOf(normal)) {
    if (isTooLong(section)) for (const { text } of paragraphBlocks(section)) lexer.tokens.push(plainToken(text));
    else lexer.blockTokens(section, lexer.tokens);
  }
  for (const { src, tokens } of lexer.inlineQueue) {
    if (src.length <= MAX_INLINE_CHARACTERS) lexer.inlineTokens(src, tokens);
    else tokens.push({ type: 'text', raw: src, text: src });
  }
  return lexer.tokens;
}

/** Length of a section when the text can be cut. */
const SECTION_CHARACTERS = 8_192;
/** Length above which a section that cannot be cut is read as plain text, except for code and tables, which take linear time. */
const MAX_SECTION_CHARACTERS = 16_384;

/** Length of a section when an indented list can be cut, too: read as plain text it would keep its marks. */
const LONG_SECTION_CHARACTERS = 12_288;
const STARTS_ITEM = /^ {1,3}(?:[-*+]|\d{1,9}[.)])[ \t]/;

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** Matches the beginning of a block that never continues the previous one. */
const STARTS_BLOCK = /^(?:#{1,6}[ \t]|[-*+][ \t]|\d{1,9}[.)][ \t])/;

function* sectionsOf(text: string): Generator<string> {
  let start = 0;
  let fence: string | null = null;
  let isAfterBlank = false;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const next = newline === -1 ? text.length : newline + 1;
    const line = text.slice(at, Math.min(next, at + 100));
    const mark = FENCE.exec(line)?.[1] ?? null;
    const isLong = at - start >= LONG_SECTION_CHARACTERS;
    const startsBlock =
      (isAfterBlank && /^\S/.test(line)) || STARTS_BLOCK.test(line) || (isLong && STARTS_ITEM.test(line));
    if (fence === null && startsBlock && at - start >= SECTION_CHARACTERS) {
      yield text.slice(start, at);
      start = at;
    }
    if (fence === null) fence = mark;
    else if (mark?.startsWith(fence) === true && line.trim() === mark) fence = null;
    isAfterBlank = line.trim() === '';
    at = next;
  }
  if (start < text.length) yield text.slice(start);
}

function isTooLong(section: string): boolean {
  if (section.length <= MAX_SECTION_CHARACTERS) return false;
  const [first = '', second = ''] = section.slice(0, 4_000).split('\n');
  return !FENCE.test(first) && !/^ {0,3}\|?[ \t]*:?-+:?[ \t]*\|[-:| \t]*$/.test(second);
}

function plainToken(text: string): Tokens.Paragraph {
  return { type: 'paragraph', raw: text, text, tokens: [{ type: 'text', raw: text, text }] };
}

/** Characters of a title at the beginning of a paragraph. */
const MAX_RUN_IN = 80;
/** Paragraphs with such a title that make them headings: one alone stresses what it says. */
const MIN_RUN_INS = 2;

/** Returns the title in bold type that a paragraph begins with, as in `**Port in use.** Stop the other server.`; null without one. */
function runInTitle(token: Token): string | null {
  const [first, second] = token.type === 'paragraph' ? ((token as Tokens.Paragraph).tokens ?? []) : [];
  if (first?.type !== 'strong' || second === undefined) return null;
  const title = inlineText((first as Tokens.Strong).tokens);
  return title.length <= MAX_RUN_IN && /[\p{L}\p{N}]/u.test(title) && /[.?!]$/u.test(title) && /^\s/u.test(second.raw)
    ? title.replace(/\.$/u, '')
    : null;
}

/** Parts paragraphs from the titles that they begin with. */
function withRunInHeadings(tokens: readonly Token[]): readonly Token[] {
  const titles = tokens.map(runInTitle);
  if (titles.filter((title) => title !== null).length < MIN_RUN_INS) return tokens;
  return tokens.flatMap((token, at): Token[] => {
    const title = titles[at] ?? null;
    if (title === null) return [token];
    const [, second, ...rest] = (token as Tokens.Paragraph).tokens ?? [];
    const heading = {
      type: 'heading',
      raw: title,
      depth: LOWEST_HEADING,
      text: title,
      tokens: [{ type: 'text', raw: title, text: title }],
    };
    const text = second?.type === 'text' ? { ...second, text: (second as Tokens.Text).text.trimStart() } : second;
    return [heading, { ...token, tokens: [...(text === undefined ? [] : [text]), ...rest] }];
  });
}

const LOWEST_HEADING = 6;

type Container = 'paragraph' | 'list-item' | 'quote';

/** `depth`: of the lists around. */
function collect(tokens: readonly Token[], container: Container, blocks: DocumentBlock[], depth = 0): void {
  for (const token of tokens) collectOne(token as Tokens.Generic, container, blocks, depth);
}

function collectOne(token: Tokens.Generic, container: Container, blocks: DocumentBlock[], depth: number): void {
  switch (token.type) {
    case 'heading':
      blocks.push({ kind: 'heading', level: (token as Tokens.Heading).depth, text: inlineText(token.tokens ?? []) });
      break;
    case 'paragraph':
    case 'text':
      blocks.push({
        kind: container,
        text: token.tokens === undefined ? decodeHtml(token.raw) : inlineText(token.tokens),
      });
      break;
    case 'code': {
      const { raw, text, lang = '', codeBlockStyle } = token as Tokens.Code;
      const language = /^[\w+#.-]+/.exec(lang)?.[0];
      const code = codeBlockStyle === 'indented' ? text : raw.trimEnd();
      blocks.push({ kind: 'code', text: code, ...(language === undefined ? {} : { language }) });
      break;
    }
    case 'blockquote':
      collect(token.tokens ?? [], 'quote', blocks);
      break;
    case 'list':
      collectList(token as Tokens.List, blocks, depth + 1);
      break;
    case 'table': {
      const table = token as Tokens.Table;
      const rows = [table.header, ...table.rows].map((row) => row.map((cell) => inlineText(cell.tokens)));
      const rendered = markdownTable(rows);
      if (rendered !== null) blocks.push({ kind: 'table', text: rendered });
      break;
    }
    case 'html':
      blocks.push({ kind: container, text: stripTags(token.raw) });
      break;
    default:
      break; // space, rules and link definitions have no text
  }
}

/** Reads a list item: its own words as one block, then its lists, code and tables. */
function collectList(list: Tokens.List, blocks: DocumentBlock[], depth: number): void {
  let number = typeof list.start === 'number' ? list.start : 1;
  for (const item of list.items) {
    const own: string[] = [];
    const inner: Token[] = [];
    for (const token of item.tokens) {
      const isWords = token.type === 'text' || token.type === 'paragraph' || token.type === 'checkbox';
      if (isWords && inner.length === 0) {
        if (token.type !== 'checkbox') own.push(inlineText((token as Tokens.Generic).tokens ?? [token]));
      } else inner.push(token);
    }
    const mark = item.task ? (item.checked === true ? '[x] ' : '[ ] ') : list.ordered ? `${number}. ` : '';
    const words = own.join('\n').trim();
    if (words !== '' && !isEntryOfContents(item))
      blocks.push({ kind: 'list-item', text: mark + words, ...(depth > 1 && { level: depth }) });
    number += 1;
    collect(inner, 'list-item', blocks, depth);
  }
}

/** Whether the words of an item are a link to a heading: an entry of a table of contents. */
function isEntryOfContents({ tokens: [first] }: Tokens.ListItem): boolean {
  const inline = (first as Tokens.Generic | undefined)?.tokens ?? [];
  const [link, ...others] = inline.filter((token) => token.raw.trim() !== '');
  return link?.type === 'link' && others.length === 0 && (link as Tokens.Link).href.startsWith('#');
}

function inlineText(tokens: readonly Token[]): string {
  let text = '';
  for (const token of tokens as readonly Tokens.Generic[]) {
    if (token.type === 'link') text += linkText(token as Tokens.Link);
    else if (token.type === 'image') text += (token as Tokens.Image).text;
    else if (token.type === 'br') text += '\n';
    else if (token.type === 'html') text += /^<br\b/i.test(token.raw) ? '\n' : '';
    else if (token.type === 'codespan' || token.type === 'escape') text += decodeHtml((token as Tokens.Codespan).text);
    else if (token.tokens !== undefined) text += inlineText(token.tokens);
    else text += decodeHtml(String(token['text'] ?? token.raw));
  }
  return text;
}

function linkText(link: Tokens.Link): string {
  const words = inlineText(link.tokens);
  const isAddress = /^https?:\/\//i.test(link.href) && words.trim() !== '' && !words.includes(link.href);
  return isAddress && link.tokens.every((token) => token.type !== 'image') ? `${words} (${link.href})` : words;
}

const NAMED: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: ' ',
    mdash: '—',
    ndash: '–',
    hellip: '…',
    copy: '©',
  }),
);

function decodeHtml(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi,
    (written, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return NAMED.get(name) ?? written;
      const code = decimal === undefined ? Number.parseInt(hex ?? '0', 16) : Number.parseInt(decimal, 10);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
    },
  );
}

/** Removes comments; an unclosed one stays, since searching its end from each mark would take quadratic time. */
function withoutComments(html: string): string {
  let kept = '';
  let from = 0;
  for (let open = html.indexOf('<!--'); open !== -1; open = html.indexOf('<!--', from)) {
    const close = html.indexOf('-->', open + 4);
    if (close === -1) break;
    kept += html.slice(from, open);
    from = close + 3;
  }
  return kept + html.slice(from);
}

function stripTags(html: string): string {
  return decodeHtml(withoutComments(html).replaceAll(/<[^<>]{1,2000}>/g, ' '))
    .replaceAll(/[ \t]+/g, ' ')
    .trim();
}

/** Reads front matter between `---` at the start; only simple `key: value` lines, the rest stays in the text. */
function splitFrontMatter(text: string): { readonly body: string; readonly metadata: Record<string, string> } {
  const found = /^---[ \t]*\r?\n([\s\S]{0,20000}?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text);
  if (found === null) return { body: text, metadata: {} };
  const pairs = new Map<string, string>();
  for (const line of (found[1] ?? '').split(/\r?\n/)) {
    const pair = /^([\w-]{1,60}):[ \t]+(.+)$/.exec(line);
    if (pair?.[1] !== undefined && pair[2] !== undefined)
      pairs.set(pair[1], pair[2].trim().replaceAll(/^["']|["']$/g, ''));
  }
  return pairs.size === 0
    ? { body: text, metadata: {} }
    : { body: text.slice(found[0].length), metadata: Object.fromEntries(pairs) };
}

function frontMatterBlock(metadata: Readonly<Record<string, string>>): DocumentBlock {
  const lines = Object.entries(metadata).map(([key, value]) => `${key}: ${value}`);
  return { kind: 'record', text: lines.join('\n') };
}
