/** Cells of the rectangle for each cell that is there. */
const MAX_FILLING = 20;

/**
 * A table as Markdown text: readable, and every reader and model knows it. Empty rows and empty columns at the right go; cells lose
 * line breaks. Null when nothing is left.
 */
export function markdownTable(rows: readonly (readonly string[])[]): string | null {
  const clean = rows.map((row) => row.map(cellText)).filter((row) => row.some((cell) => cell !== ''));
  const width = clean.reduce((widest, row) => Math.max(widest, row.findLastIndex((cell) => cell !== '') + 1), 0);
  const [header, ...body] = clean;
  if (header === undefined) return null;
  if (width === 1) return clean.map((row) => row[0] ?? '').join('\n');
  // A table with one very long row would become much larger than it is by empty cells.
  const cells = clean.reduce((sum, row) => sum + row.length, 0);
  const isFilled = width * clean.length <= MAX_FILLING * cells;
  const line = (row: readonly string[]): string => {
    const length = isFilled ? width : Math.min(width, row.length);
    return `| ${Array.from({ length }, (_, index) => (row[index] ?? '').replaceAll('|', '\\|')).join(' | ')} |`;
  };
  if (body.length === 0) return line(header);
  return [line(header), `|${' --- |'.repeat(width)}`, ...body.map(line)].join('\n');
}

/**
 * Rows of data as lines that each tell their own columns: `city: Oslo, population: 709037`. The first row is taken as the header when
 * it looks like one; else columns are numbered.
 */
export function selfDescribingRows(rows: readonly (readonly string[])[]): {
  readonly header: readonly string[];
  readonly lines: string[];
} {
  const filled = rows.filter((row) => row.some((cell) => cell.trim() !== ''));
  const hasHeader = isHeader(filled);
  const width = filled.reduce((widest, row) => Math.max(widest, row.length), 0);
  const first = filled[0] ?? [];
  const header = Array.from({ length: width }, (_, index) => {
    const name = hasHeader ? cellText(first[index] ?? '') : '';
    return name === '' ? `column ${index + 1}` : name;
  });
  const data = hasHeader && filled.length > 1 ? filled.slice(1) : filled;
  const lines = data.map((row) => {
    const cells: string[] = [];
    for (const [index, cell] of row.entries()) {
      const value = cellText(cell);
      if (value !== '') cells.push(`${header[index]}: ${value}`);
    }
    return cells.join(', ');
  });
  return { header, lines };
}

/** A header names its columns: every cell filled (but for trailing ones), no two alike, none a number or a date, none very long. */
function isHeader(rows: readonly (readonly string[])[]): boolean {
  const first = rows[0];
  if (first === undefined || rows.length < 2) return false;
  const names = first.map((cell) => cell.trim()).filter((cell) => cell !== '');
  const widest = rows
    .slice(0, 50)
    .reduce((most, row) => Math.max(most, row.filter((cell) => cell.trim() !== '').length), 0);
  return (
    names.length * 2 > widest &&
    new Set(names).size === names.length &&
    names.every((name) => name.length <= 120 && !/^[\s\d.,:/%+-]+$/.test(name) && !/^[$€£¥]\s*\d/.test(name))
  );
}

function cellText(cell: string): string {
  return /[\r\n\t]| {2}|^ | $/.test(cell) ? cell.replaceAll(/\s+/g, ' ').trim() : cell;
}
