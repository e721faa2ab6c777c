import type { ChunkableBlock } from './chunk-draft.ts';

type Block = Pick<ChunkableBlock, 'kind' | 'text' | 'level'>;

/**
 * Returns the text of a block with the marks of Markdown for a heading or a list item, which is indented by its level, and the
 * blank line before the next block. Without marks a heading among others looks like a sentence.
 */
export function markedText({ kind, text, level = 1 }: Block, next: Block | undefined): string {
  if (kind === 'list-item') {
    const mark = `${'  '.repeat(Math.min(MAX_INDENT, level - 1))}${ITEM.test(text) ? '' : '- '}`;
    return `${mark}${text}${next?.kind === 'list-item' ? '\n' : '\n\n'}`;
  }
  const mark = kind === 'heading' && !HEADING.test(text) ? `${'#'.repeat(Math.min(6, level))} ` : '';
  return `${mark}${text}\n\n`;
}

/** Marked already, or underlined. */
const HEADING = /^\s*#{1,6}\s|\n/u;
const ITEM = /^\s*(?:[-*+•]|\d{1,9}[.)])\s/u;
const MAX_INDENT = 5;
