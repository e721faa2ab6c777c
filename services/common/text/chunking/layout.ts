import type { ChunkableBlock, ChunkableDocument } from './chunk-draft.ts';
import { markedText } from './marked-text.ts';
import { headingPath } from './release-headings.ts';

/** A block with its place in the text: it reaches up to the next block, so that all of them tile the document. */
export interface PlacedBlock {
  readonly block: ChunkableBlock;
  readonly text: string;
  readonly start: number;
  readonly headings: readonly string[];
  readonly page: number | undefined;
  /** 1-based, of a block that is one row of a table or sheet. */
  readonly row: number | undefined;
}

interface Layout {
  readonly blocks: readonly PlacedBlock[];
  /** False: a block's text does not occur in the derived text in order, so offsets would lie. */
  readonly hasOffsets: boolean;
}

/** Locates every block in the text, with its headings and page. */
export function layoutOf(document: ChunkableDocument): Layout {
  const blocks = document.blocks.filter((block) => block.text.trim() !== '' || block.kind === 'page-break');
  const starts = startsOf(document.text, blocks);
  const hasOffsets = starts !== null;
  const placed: PlacedBlock[] = [];
  let path: readonly { readonly level: number; readonly text: string }[] = [];
  let page: number | undefined;
  let rows = 0;
  for (const [index, block] of blocks.entries()) {
    if (block.kind === 'heading' || (block.page ?? page) !== page) rows = 0;
    page = block.page ?? page;
    const isRow = block.kind === 'table' && !block.text.includes('\n') && !block.text.startsWith('|');
    if (isRow) rows += 1;
    if (block.kind === 'heading') {
      const level = block.level ?? 1;
      path = headingPath(path, { level, text: headingText(block.text) });
    }
    if (block.text.trim() === '') continue;
    const start = index === 0 ? 0 : (starts?.[index] ?? 0);
    const end = starts?.[index + 1] ?? document.text.length;
    placed.push({
      block,
      start: placed.length === 0 ? 0 : start,
      text: hasOffsets
        ? document.text.slice(placed.length === 0 ? 0 : start, end)
        : markedText(block, blocks[index + 1]),
      headings: path.map((heading) => heading.text),
      page,
      row: isRow ? rows : undefined,
    });
  }
  return { blocks: placed, hasOffsets };
}

function startsOf(text: string, blocks: readonly ChunkableBlock[]): number[] | null {
  const starts: number[] = [];
  let cursor = 0;
  for (const block of blocks) {
    const start = text.indexOf(block.text, cursor);
    if (start === -1) return null;
    // A title at the beginning of a paragraph, which becomes a line of its own.
    const isRunIn = block.kind === 'heading' && block.level === LOWEST_HEADING;
    if (isRunIn && /[.*_]/u.test(text.charAt(start + block.text.length))) return null;
    const line = Math.max(cursor, text.lastIndexOf('\n', start - 1) + 1);
    const isMarked = start - line <= MAX_MARKS && MARKS.test(text.slice(line, start));
    starts.push(isMarked ? line : start);
    cursor = start + block.text.length;
  }
  return starts;
}

/** Marks of a heading or a list item in front of its text. */
const MARKS = /^[ \t>]*(?:#{1,6}|[-*+•]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?$/u;
const MAX_MARKS = 60;
/** Of titles that paragraphs begin with. */
const LOWEST_HEADING = 6;

/** Without Markdown signs: the text of a heading as a reader sees it. */
function headingText(text: string): string {
  const bare = text.replace(/^\s*#{1,6}\s+/u, '').trim();
  const underline = bare.lastIndexOf('\n');
  const title = underline !== -1 && /^[=-]+$/u.test(bare.slice(underline + 1)) ? bare.slice(0, underline) : bare;
  return withoutClosingMarks(title.replace(/\s+/gu, ' ').trim());
}

/** `Title ##` → `Title`. */
function withoutClosingMarks(title: string): string {
  let end = title.length;
  while (title[end - 1] === '#') end--;
  return end < title.length && title[end - 1] === ' ' ? title.slice(0, end - 1) : title;
}
