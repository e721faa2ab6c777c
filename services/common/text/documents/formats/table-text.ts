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

export interface DescribedRows {
  readonly header: readonly string[];
  /** What stands above the header: a title, the day of the data. */
  readonly above: readonly string[];
  readonly lines: string[];
}

/**
 * Returns rows of data as lines with column names: `city: Oslo, population: 709037`. The header is the first row that looks like
 * one, below narrow rows of a title; without one, columns are numbered. Rows of totals are sentences of their own
 * (`Total of Amount: 4958`), because they are about all rows and are none.
 */
export function selfDescribingRows(rows: readonly (readonly string[])[]): DescribedRows {
  const filled = rows.filter((row) => filledCells(row) > 0);
  const at = headerRow(filled);
  const first = filled[at] ?? [];
  const width = filled.reduce((widest, row) => Math.max(widest, row.length), 0);
  const header = Array.from({ length: width }, (_, index) => {
    const name = at < 0 ? '' : cellText(first[index] ?? '');
    return name === '' ? `column ${index + 1}` : name;
  });
  const data = at >= 0 && filled.length > at + 1 ? filled.slice(at + 1) : filled;
  const hasTotals = at >= 0;
  const lines = data.map((row) => (hasTotals ? totalsOf(row, header) : null) ?? describedRow(row, header));
  const above = filled.slice(0, Math.max(0, at)).map((row) => row.map(cellText).filter(Boolean).join(': '));
  return { header, above, lines };
}

function describedRow(row: readonly string[], header: readonly string[]): string {
  const cells: string[] = [];
  for (const [index, cell] of row.entries()) {
    const value = cellText(cell);
    if (value !== '') cells.push(`${header[index]}: ${value}`);
  }
  return cells.join(', ');
}

const TOTAL =
  /^(?:(?:grand|sub|overall)[ -]?)?(?:totals?|sum)$|^(?:(?:gesamt|zwischen|end)?summe|gesamt|insgesamt|totale|sous-total|total général|total general|suma|somme)$/iu;
const NUMERIC = /^[^\p{L}]*\d[^\p{L}]*\p{L}{0,3}$/u;

/** Reads a row of totals: one cell says so, and all others are numbers; null for another row. */
function totalsOf(row: readonly string[], header: readonly string[]): string | null {
  const cells = row.map((cell, index) => ({ text: cellText(cell).replace(/:$/u, ''), index }));
  const [label, ...others] = cells.filter(({ text }) => text !== '');
  if (label === undefined || others.length === 0 || !TOTAL.test(label.text)) return null;
  if (!others.every(({ text }) => NUMERIC.test(text))) return null;
  return others.map(({ text, index }) => `${label.text} of ${header[index]}: ${text}`).join('; ');
}

const filledCells = (row: readonly string[]): number => row.filter((cell) => cell.trim() !== '').length;

/** Rows above a header: a title, a date, who made it. */
const MAX_ABOVE = 8;

/** Returns the place of the header; -1 without one. Rows above it are narrower than the table. */
function headerRow(rows: readonly (readonly string[])[]): number {
  const widest = rows.slice(0, 50).reduce((most, row) => Math.max(most, filledCells(row)), 0);
  for (const [at, row] of rows.slice(0, MAX_ABOVE + 1).entries()) {
    if (isHeader(rows.slice(at), widest)) return at;
    if (filledCells(row) >= widest) return -1;
  }
  return -1;
}

/** Whether the first row is a header: all cells but trailing ones are filled, distinct, short, and neither numbers nor dates. */
function isHeader(rows: readonly (readonly string[])[], widest: number): boolean {
  const first = rows[0];
  if (first === undefined || rows.length < 2) return false;
  const names = first.map((cell) => cell.trim()).filter((cell) => cell !== '');
  return (
    names.length * 2 > widest &&
    new Set(names).size === names.length &&
    names.every((name) => name.length <= 120 && !/^[\s\d.,:/%+-]+$/.test(name) && !/^[$€£¥]\s*\d/.test(name))
  );
}

function cellText(cell: string): string {
  return /[\r\n\t]| {2}|^ | $/.test(cell) ? cell.replaceAll(/\s+/g, ' ').trim() : cell;
}
