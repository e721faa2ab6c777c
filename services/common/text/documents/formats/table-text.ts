/** Maximum cells of the full rectangle for each existing cell. */
const MAX_FILLING = 20;

/**
 * Returns a table as Markdown, without empty rows, trailing empty columns and line breaks in cells; null when nothing is left.
 */
export function markdownTable(rows: readonly (readonly string[])[]): string | null {
  const clean = rows.map((row) => row.map(cellText)).filter((row) => row.some((cell) => cell !== ''));
  const width = clean.reduce((widest, row) => Math.max(widest, row.findLastIndex((cell) => cell !== '') + 1), 0);
  const [header, ...body] = clean;
  if (header === undefined) return null;
  if (width === 1) return clean.map((row) => row[0] ?? '').join('\n');
  // Empty cells would enlarge a table with one very long row.
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
 * Returns rows of data as lines with column names: `city: Oslo, population: 709037`. The first row is the header when it looks like
 * one; else columns are numbered.
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

/** Whether a row is a header: all cells but trailing ones are filled, distinct, short, and neither numbers nor dates. */
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
