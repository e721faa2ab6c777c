import { append } from '../../../kernel/long-lists.ts';
import type { DocumentBlock } from '../../../ports/documents.ts';
import type { PdfLine } from './pdf-lines.ts';
import { markdownTable } from './table-text.ts';

/** Font size of headings relative to the body text. */
const HEADING_RATIO = 1.15;
const BULLET = /^[•●▪■◦‣⁃∙·–*-]\s+(?=\S)/;
const NUMBERED = /^(\d{1,3}|[a-z]|[ivx]{1,5})[.)]\s+\S/i;

/** Characters searched back for a hyphenated word: without a limit an endless word takes quadratic time. */
const MAX_WORD_LENGTH = 100;
const SENTENCE_END = /[.!?:;…]["'”’)\]]*$/;

interface Group {
  readonly kind: 'heading' | 'paragraph' | 'list-item' | 'table';
  readonly page: number;
  readonly size: number;
  readonly lines: PdfLine[];
}

/** Joins the lines of all pages to headings, paragraphs and list items with their page, and rejoins words hyphenated at line ends. */
export function pdfParagraphs(pages: readonly (readonly PdfLine[])[]): DocumentBlock[] {
  const bodySize = commonSize(pages.flat());
  const groups = joinAcrossPages(pages.flatMap((lines, index) => groupPage(lines, { bodySize, page: index + 1 })));
  const levels = headingLevels(groups);
  const words = wordsOf(pages);
  return groups.map((group): DocumentBlock => {
    const { page } = group;
    if (isTable(group))
      return { kind: 'table', text: markdownTable(group.lines.map((line) => line.cells)) ?? '', page };
    const text = joinLines(group.lines, words);
    if (group.kind === 'heading') return { kind: 'heading', level: levels.get(sizeKey(group.size)) ?? 1, text, page };
    return group.kind === 'list-item'
      ? { kind: 'list-item', text: text.replace(BULLET, ''), page }
      : { kind: 'paragraph', text, page };
  });
}

/** Minimum rows and maximum cell length of a table: long cells are columns of prose. */
function isTable({ kind, lines }: Group): boolean {
  const cells = lines.flatMap((line) => line.cells);
  return kind === 'table' && lines.length > 1 && cells.reduce((sum, cell) => sum + cell.length, 0) / cells.length < 60;
}

/** Returns the font size of most characters. */
function commonSize(lines: readonly PdfLine[]): number {
  const weights = new Map<number, number>();
  for (const line of lines) weights.set(sizeKey(line.size), (weights.get(sizeKey(line.size)) ?? 0) + line.text.length);
  let common = { size: 10, weight: 0 };
  for (const [size, weight] of weights) if (weight > common.weight) common = { size, weight };
  return common.size;
}

function sizeKey(size: number): number {
  return Math.round(size * 2) / 2;
}

function groupPage(
  lines: readonly PdfLine[],
  { bodySize, page }: { readonly bodySize: number; readonly page: number },
): Group[] {
  const groups: Group[] = [];
  const pitch = commonPitch(lines, bodySize);
  const rightEdge = columnEdges(lines);
  let current: Group | null = null;
  for (const line of lines) {
    const kind = lineKind(line, bodySize);
    const last = current?.lines.at(-1);
    if (
      current === null ||
      last === undefined ||
      isBreak({ last, line, current, kind }, { pitch, rightEdge: rightEdge(last) })
    ) {
      current = { kind, page, size: line.size, lines: [line] };
      groups.push(current);
    } else current.lines.push(line);
  }
  return groups;
}

/** Maximum distance of line starts within a column, in points. */
const COLUMN_REACH = 40;

/** Returns a function for the right edge of a line's column. */
function columnEdges(lines: readonly PdfLine[]): (line: PdfLine) => number {
  const edges = new Map<number, number>();
  for (const { left, right } of lines) {
    const at = Math.round(left);
    edges.set(at, Math.max(edges.get(at) ?? right, right));
  }
  return ({ left, right }) => {
    const middle = Math.round(left);
    let edge = right;
    for (let at = middle - COLUMN_REACH + 1; at < middle + COLUMN_REACH; at += 1) {
      edge = Math.max(edge, edges.get(at) ?? edge);
    }
    return edge;
  };
}

function lineKind(line: PdfLine, bodySize: number): Group['kind'] {
  if (line.size >= bodySize * HEADING_RATIO && line.text.length <= 200 && /\p{L}|\d/u.test(line.text)) return 'heading';
  if (line.cells.length > 1) return 'table';
  return BULLET.test(line.text) || NUMBERED.test(line.text) ? 'list-item' : 'paragraph';
}

function isBreak(
  {
    last,
    line,
    current,
    kind,
  }: { readonly last: PdfLine; readonly line: PdfLine; readonly current: Group; readonly kind: Group['kind'] },
  { pitch, rightEdge }: { readonly pitch: number; readonly rightEdge: number },
): boolean {
  if (kind === 'list-item') return true;
  if (kind === 'heading' || current.kind === 'heading') {
    const goesOn = kind === current.kind && sizeKey(line.size) === sizeKey(last.size);
    return !goesOn || last.baseline - line.baseline > line.size * 2 || line.baseline > last.baseline;
  }
  const drop = last.baseline - line.baseline;
  if (kind === 'table' || current.kind === 'table') return kind !== current.kind || drop < 0 || drop > pitch * 2.5;
  const endsSentence = SENTENCE_END.test(last.text);
  if (drop < 0) return endsSentence || !/^\p{Ll}/u.test(line.text); // next column
  if (drop > pitch * 1.4 && drop > line.size * 1.35) return true;
  const first = current.lines[0] ?? last;
  if (current.kind === 'list-item') return line.left < first.left - 1 || (endsSentence && line.left <= first.left + 1);
  const isIndented = line.left - last.left > line.size * 0.8;
  const width = rightEdge - last.left;
  const filled = width <= 0 ? 1 : (last.right - last.left) / width;
  return endsSentence ? isIndented || filled < 0.75 : filled < 0.6 && /^[\p{Lu}\d]/u.test(line.text);
}

/** Returns the median distance between neighbouring lines of body text. */
function commonPitch(lines: readonly PdfLine[], bodySize: number): number {
  const drops: number[] = [];
  for (let index = 1; index < lines.length; index += 1) {
    const drop = (lines[index - 1]?.baseline ?? 0) - (lines[index]?.baseline ?? 0);
    if (drop > bodySize * 0.5 && drop < bodySize * 3) drops.push(drop);
  }
  drops.sort((a, b) => a - b);
  return drops[Math.floor(drops.length / 2)] ?? bodySize * 1.2;
}

/** Joins a paragraph that stops in mid-sentence at the end of a page with its continuation on the next. */
function joinAcrossPages(groups: readonly Group[]): Group[] {
  const joined: Group[] = [];
  for (const group of groups) {
    const before = joined.at(-1);
    const lastText = before?.lines.at(-1)?.text ?? '';
    const goesOn =
      before !== undefined &&
      (before.kind === 'paragraph' || before.kind === 'list-item') &&
      group.kind === 'paragraph' &&
      group.page === before.page + 1 &&
      !SENTENCE_END.test(lastText) &&
      /^\p{Ll}/u.test(group.lines[0]?.text ?? '');
    if (goesOn) append(before.lines, group.lines);
    else joined.push(group);
  }
  return joined;
}

/** The largest size is level 1, the next 2, … */
function headingLevels(groups: readonly Group[]): Map<number, number> {
  const sizes = [
    ...new Set(groups.filter((group) => group.kind === 'heading').map((group) => sizeKey(group.size))),
  ].sort((a, b) => b - a);
  return new Map(sizes.map((size, index) => [size, Math.min(index + 1, 6)]));
}

/** Returns all words within lines in lower case, those with an inner hyphen whole and in parts. */
function wordsOf(pages: readonly (readonly PdfLine[])[]): ReadonlySet<string> {
  const words = new Set<string>();
  for (const lines of pages) {
    for (const line of lines) {
      const end = /\p{L}+-$/u.exec(line.text.slice(-MAX_WORD_LENGTH))?.[0] ?? '';
      for (const [word] of line.text.slice(0, line.text.length - end.length).matchAll(/\p{L}+(?:-\p{L}+)*/gu)) {
        words.add(word.toLowerCase());
        if (word.includes('-')) for (const part of word.toLowerCase().split('-')) words.add(part);
      }
    }
  }
  return words;
}

function joinLines(lines: readonly PdfLine[], words: ReadonlySet<string>): string {
  let text = '';
  for (const { text: line } of lines) {
    const cut = /(\p{L}+)[-\u00ad\u2010]$/u.exec(text.slice(-MAX_WORD_LENGTH));
    const rest = /^\p{Ll}+/u.exec(line)?.[0];
    if (text === '') text = line;
    else if (cut?.[1] === undefined || rest === undefined) {
      text += text.endsWith('-') && /^\p{L}/u.test(line) ? line : ` ${line}`;
    } else text = text.slice(0, -1) + (keepsHyphen(cut[1].toLowerCase(), rest, words) ? '-' : '') + line;
  }
  return text;
}

/** Whether a hyphen at a line end belongs to the word: the document writes it elsewhere, or both halves are words. */
function keepsHyphen(start: string, rest: string, words: ReadonlySet<string>): boolean {
  if (words.has(`${start}-${rest}`)) return true;
  if (words.has(start + rest)) return false;
  return start.length > 2 && rest.length > 2 && words.has(start) && words.has(rest);
}
