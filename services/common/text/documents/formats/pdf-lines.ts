/** A run of text of the PDF library: `transform` is the text matrix, its last two numbers the position. */
export interface PdfTextRun {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly hasEOL: boolean;
}

export interface PdfLine {
  readonly text: string;
  /** The text, split at gaps as wide as those between table columns. */
  readonly cells: readonly string[];
  /** Left and right edge and the baseline in points; y grows upwards. */
  readonly left: number;
  readonly right: number;
  readonly baseline: number;
  /** Most frequent font size of the line, in points. */
  readonly size: number;
}

interface OpenLine {
  text: string;
  left: number;
  /** Right edge of the last letter; blanks have any width. */
  right: number;
  baseline: number;
  size: number;
  /** Characters in `size`: a superscript must not decide the size of its line. */
  sizeWeight: number;
}

/**
 * Joins the runs of a page to lines in the order of the content stream: programs write columns one after another, so this is the
 * reading order more often than an order by position.
 */
export function pdfLines(runs: readonly PdfTextRun[]): PdfLine[] {
  const lines: PdfLine[] = [];
  let open: OpenLine | null = null;
  const close = (): void => {
    const line = open === null ? null : closedLine(open);
    if (line !== null) lines.push(line);
    open = null;
  };
  for (const run of runs) {
    if (run.str !== '') open = addRun(open, run, close);
    if (run.hasEOL) close();
  }
  close();
  return lines;
}

function closedLine({ text, left, right, baseline, size }: OpenLine): PdfLine | null {
  const cells = text
    .split('\t')
    .map((cell) => cell.replaceAll(/\s+/g, ' ').trim())
    .filter((cell) => cell !== '');
  return cells.length === 0 ? null : { text: cells.join(' '), cells, left, right, baseline, size };
}

/** Minimum gap between columns, in font sizes; gaps in justified text are smaller. */
const COLUMN_GAP = 1.6;
const WORD_GAP = 0.18;

function addRun(open: OpenLine | null, run: PdfTextRun, close: () => void): OpenLine {
  const [, , c = 0, d = 0, x = 0, y = 0] = run.transform;
  const size = Math.hypot(c, d) || 1;
  const weight = run.str.trim().length;
  if (open !== null && isSameLine(open, { x, y, size })) {
    if (weight === 0) {
      open.text += ' ';
      return open;
    }
    const gap = (x - open.right) / Math.max(size, open.size);
    open.text += (gap > COLUMN_GAP ? '\t' : gap > WORD_GAP ? ' ' : '') + run.str.replaceAll('\t', ' ');
    open.right = Math.max(open.right, x + run.width);
    if (weight > open.sizeWeight) {
      open.size = size;
      open.baseline = y;
      open.sizeWeight = weight;
    }
    return open;
  }
  close();
  return {
    text: run.str.replaceAll('\t', ' '),
    left: x,
    right: weight === 0 ? x : x + run.width,
    baseline: y,
    size,
    sizeWeight: weight,
  };
}

/** Whether a run continues a line: the same baseline within half a letter, and not further left (next column). */
function isSameLine(open: OpenLine, run: { readonly x: number; readonly y: number; readonly size: number }): boolean {
  const size = Math.max(open.size, run.size);
  return Math.abs(run.y - open.baseline) < 0.5 * size && run.x >= open.right - size * 2;
}

/**
 * Removes running heads, feet and page numbers: lines at the edge of a page that recur on half of the pages (ignoring digits), or
 * on three at the height of the outermost lines of all pages, or that are only a number.
 */
export function withoutRunningLines(pages: readonly (readonly PdfLine[])[]): PdfLine[][] {
  if (pages.length < 3) return pages.map((lines) => [...lines]);
  const counts = new Map<string, number>();
  for (const lines of pages) {
    for (const key of new Set(outermost(lines).map(runningKey))) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const heights = pages.flat().map((line) => line.baseline);
  const top = heights.reduce((highest, height) => Math.max(highest, height), 0);
  const foot = heights.reduce((lowest, height) => Math.min(lowest, height), top);
  const isRunning = (line: PdfLine): boolean => {
    const isAtEdge = top - line.baseline < line.size || line.baseline - foot < line.size;
    const needed = isAtEdge ? 3 : Math.max(3, Math.ceil(pages.length * 0.5));
    return (counts.get(runningKey(line)) ?? 0) >= needed || (isAtEdge && PAGE_NUMBER.test(line.text));
  };
  return pages.map((lines) => {
    const running = new Set(outermost(lines).filter(isRunning));
    return lines.filter((line) => !running.has(line));
  });
}

const PAGE_NUMBER = /^[-–— ]*(\d{1,4}|[ivxlc]{1,7})[-–— ]*$/i;

function outermost(lines: readonly PdfLine[]): PdfLine[] {
  const byHeight = lines.toSorted((a, b) => b.baseline - a.baseline);
  return [...new Set([...byHeight.slice(0, 2), ...byHeight.slice(-2)])].filter((line) => line.text.length <= 150);
}

function runningKey(line: PdfLine): string {
  return `${line.text.replaceAll(/\d+/g, '#').toLowerCase()}@${Math.round(line.baseline / 6)}`;
}
