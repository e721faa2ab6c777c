/** A run of text as the PDF library gives it: `transform` is the text matrix, its last two numbers the position. */
export interface PdfTextRun {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly hasEOL: boolean;
}

export interface PdfLine {
  readonly text: string;
  /** Left and right edge and the baseline in points; y grows upwards. */
  readonly left: number;
  readonly right: number;
  readonly baseline: number;
  /** Size of the letters that make up most of the line, in points. */
  readonly size: number;
}

interface OpenLine {
  text: string;
  left: number;
  right: number;
  baseline: number;
  size: number;
  /** Characters written in `size`; a superscript must not decide the size of its line. */
  sizeWeight: number;
}

/**
 * Puts the runs of a page together to lines, in the order of the content stream: writers emit columns one after another, so that order
 * is the reading order more often than any order by position.
 */
export function pdfLines(runs: readonly PdfTextRun[]): PdfLine[] {
  const lines: PdfLine[] = [];
  let open: OpenLine | null = null;
  const close = (): void => {
    if (open !== null && open.text.trim() !== '')
      lines.push({ ...open, text: open.text.replaceAll(/\s+/g, ' ').trim() });
    open = null;
  };
  for (const run of runs) {
    if (run.str !== '') open = addRun(open, run, close);
    if (run.hasEOL) close();
  }
  close();
  return lines;
}

function addRun(open: OpenLine | null, run: PdfTextRun, close: () => void): OpenLine {
  const [, , c = 0, d = 0, x = 0, y = 0] = run.transform;
  const size = Math.hypot(c, d) || 1;
  const weight = run.str.trim().length;
  if (open !== null && isSameLine(open, { x, y, size })) {
    const gap = x - open.right;
    const isApart = gap > 0.18 * Math.max(size, open.size) && !open.text.endsWith(' ') && !run.str.startsWith(' ');
    open.text += isApart ? ` ${run.str}` : run.str;
    open.right = Math.max(open.right, x + run.width);
    if (weight > open.sizeWeight) {
      open.size = size;
      open.baseline = y;
      open.sizeWeight = weight;
    }
    return open;
  }
  close();
  return { text: run.str, left: x, right: x + run.width, baseline: y, size, sizeWeight: weight };
}

/** The same baseline within half a letter (super- and subscripts), and not back to the left (next column). */
function isSameLine(open: OpenLine, run: { readonly x: number; readonly y: number; readonly size: number }): boolean {
  const size = Math.max(open.size, run.size);
  return Math.abs(run.y - open.baseline) < 0.5 * size && run.x >= open.right - size * 2;
}

/** Running heads, feet and page numbers: the outermost lines that come again on most pages, digits aside. */
export function withoutRunningLines(pages: readonly (readonly PdfLine[])[]): PdfLine[][] {
  if (pages.length < 3) return pages.map((lines) => [...lines]);
  const counts = new Map<string, number>();
  for (const lines of pages)
    for (const key of new Set(outermost(lines).map(runningKey))) counts.set(key, (counts.get(key) ?? 0) + 1);
  const needed = Math.max(3, Math.ceil(pages.length * 0.5));
  return pages.map((lines) => {
    const edge = new Set(outermost(lines).filter((line) => (counts.get(runningKey(line)) ?? 0) >= needed));
    return lines.filter((line) => !edge.has(line));
  });
}

function outermost(lines: readonly PdfLine[]): PdfLine[] {
  const byHeight = lines.toSorted((a, b) => b.baseline - a.baseline);
  return [...new Set([...byHeight.slice(0, 2), ...byHeight.slice(-2)])].filter((line) => line.text.length <= 150);
}

function runningKey(line: PdfLine): string {
  return `${line.text.replaceAll(/\d+/g, '#').toLowerCase()}@${Math.round(line.baseline / 6)}`;
}
