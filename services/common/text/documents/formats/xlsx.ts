import { engramError } from '../../../kernel/errors.ts';
import type { DocumentBlock } from '../../../ports/documents.ts';
import type { DocumentDraft } from './draft.ts';
import { type ParseContext, textBudget } from './limits.ts';
import { packageProperties, relationships } from './package-parts.ts';
import { selfDescribingRows } from './table-text.ts';
import {
  attribute,
  childElements,
  descendants,
  firstChild,
  firstDescendant,
  localName,
  parseXml,
  textOf,
  type XmlElement,
} from './xml-tree.ts';
import type { ZipArchive } from './zip-archive.ts';

interface Workbook {
  readonly strings: readonly string[];
  /** Whether a style shows dates, by style index. */
  readonly dateStyles: readonly boolean[];
  readonly startsIn1904: boolean;
  /** Counts the text of a cell. */
  readonly count: (text: string) => string;
}

/** Reads visible sheets in order: the name as heading, then one block per row with column names. Formulas give their last value. */
export function readXlsx(archive: ZipArchive, context: ParseContext): DocumentDraft {
  const source = archive.readText('xl/workbook.xml');
  if (source === null)
    throw engramError('UnreadableFileContentError', `'${context.fileName}' cannot be read: it has no workbook part`);
  const main = parseXml(source, context);
  const targets = relationships(archive, 'xl/workbook.xml', context);
  const sheets = [...descendants(main, 'sheet')].filter((sheet) => !/hidden/i.test(attribute(sheet, 'state') ?? ''));
  if (sheets.length > context.limits.maxPages) {
    throw engramError(
      'PayloadTooLargeError',
      `'${context.fileName}' has ${sheets.length} sheets; the limit is ${context.limits.maxPages}`,
    );
  }
  const properties = firstDescendant(main, 'workbookPr');
  const workbook: Workbook = {
    strings: sharedStrings(archive, context),
    dateStyles: dateStyles(archive, context),
    count: textBudget(context),
    startsIn1904: properties !== null && /^(1|true)$/.test(attribute(properties, 'date1904') ?? ''),
  };
  const blocks: DocumentBlock[] = [];
  const read = new Set<string>();
  let cells = 0;
  for (const [index, sheet] of sheets.entries()) {
    const path = targets.get(attribute(sheet, 'id', 'r') ?? '')?.path;
    const text = path === undefined || read.has(path) ? null : archive.readText(path);
    if (path === undefined || text === null) continue;
    read.add(path);
    const rows = sheetRows(text, workbook, { context, cellsLeft: context.limits.maxCells - cells });
    cells += rows.reduce((sum, row) => sum + row.length, 0);
    if (rows.length === 0) continue;
    const page = index + 1;
    blocks.push({ kind: 'heading', level: 1, text: attribute(sheet, 'name') ?? `Sheet ${page}`, page });
    const { above, lines } = selfDescribingRows(rows);
    for (const line of above) blocks.push({ kind: 'paragraph', text: line, page });
    for (const line of lines) blocks.push({ kind: 'table', text: line, page });
  }
  const metadata = packageProperties(archive, context);
  const hasCells = blocks.some((block) => block.kind === 'table');
  return {
    blocks: hasCells ? blocks : [],
    title: metadata['title'] ?? null,
    metadata: { ...metadata, sheets: String(sheets.length) },
  };
}

function sharedStrings(archive: ZipArchive, context: ParseContext): string[] {
  const source = archive.readText('xl/sharedStrings.xml');
  if (source === null) return [];
  const root = firstChild(parseXml(source, context), 'sst');
  return root === null ? [] : childElements(root, 'si').map(richText);
}

/** Returns the joined runs of a cell, without phonetic readings (`rPh`). */
function richText(element: XmlElement): string {
  let text = '';
  for (const child of childElements(element)) {
    const name = localName(child);
    if (name === 't') text += textOf(child);
    else if (name === 'r') text += childElements(child, 't').map(textOf).join('');
  }
  return text;
}

function dateStyles(archive: ZipArchive, context: ParseContext): boolean[] {
  const source = archive.readText('xl/styles.xml');
  if (source === null) return [];
  const root = parseXml(source, context);
  const codes = new Map(
    [...descendants(root, 'numFmt')].map((format) => [
      Number(attribute(format, 'numFmtId')),
      attribute(format, 'formatCode') ?? '',
    ]),
  );
  const styles = firstDescendant(root, 'cellXfs');
  return styles === null
    ? []
    : childElements(styles, 'xf').map((style) => {
        const id = Number(attribute(style, 'numFmtId') ?? 0);
        return isDateFormat(id, codes.get(id) ?? null);
      });
}

/** Reads rows in slices, so that a large sheet is never one tree in memory. */
function sheetRows(
  source: string,
  workbook: Workbook,
  { context, cellsLeft }: { readonly context: ParseContext; readonly cellsLeft: number },
): string[][] {
  const rows: string[][] = [];
  let cells = 0;
  for (const slice of rowSlices(source)) {
    for (const element of childElements(parseXml(slice, context), 'row')) {
      const row = rowCells(element, workbook);
      cells += row.length;
      if (row.length > 0) rows.push(row);
    }
    if (cells > cellsLeft)
      throw engramError('PayloadTooLargeError', `'${context.fileName}' has more than ${context.limits.maxCells} cells`);
  }
  return rows;
}

function rowCells(element: XmlElement, workbook: Workbook): string[] {
  const row: string[] = [];
  for (const cell of childElements(element, 'c')) {
    const value = workbook.count(cellValue(cell, workbook));
    if (value === '') continue;
    const column = columnIndex(attribute(cell, 'r')) ?? row.length;
    while (row.length < column) row.push('');
    row[column] = value;
  }
  return row;
}

/** Yields slices of about 64 KiB that end between rows: parsing each row alone would cost more. */
function* rowSlices(source: string): Generator<string> {
  const start = source.search(/<(\w+:)?sheetData[\s>]/);
  if (start === -1) return;
  const prefix = /^<(\w+:)?/.exec(source.slice(start, start + 40))?.[1] ?? '';
  const close = `</${prefix}row>`;
  let from = source.indexOf('>', start) + 1;
  for (;;) {
    const to = source.indexOf(close, from + 65_536);
    const end = to === -1 ? source.lastIndexOf(close) : to;
    if (end < from) return;
    yield source.slice(from, end + close.length);
    from = end + close.length;
  }
}

function cellValue(cell: XmlElement, workbook: Workbook): string {
  const type = attribute(cell, 't') ?? 'n';
  if (type === 'inlineStr') {
    const inline = firstChild(cell, 'is');
    return inline === null ? '' : richText(inline);
  }
  const stored = firstChild(cell, 'v');
  const raw = stored === null ? '' : textOf(stored);
  if (raw === '') return '';
  if (type === 's') return workbook.strings[Number(raw)] ?? '';
  if (type === 'b') return raw === '1' ? 'true' : 'false';
  if (type === 'n' && workbook.dateStyles[Number(attribute(cell, 's') ?? -1)] === true)
    return serialDate(Number(raw), workbook.startsIn1904) ?? raw;
  return type === 'n' ? shortNumber(raw) : raw;
}

/** Rounds numbers as written: files store 0.1 + 0.2 as 0.30000000000000004. */
function shortNumber(raw: string): string {
  const value = Number(raw);
  return raw.length > 15 && Number.isFinite(value) ? String(Number(value.toPrecision(15))) : raw;
}

/** Returns the column of a reference (`BC12` → 54), at most the 16384 of the format. */
function columnIndex(reference: string | null): number | null {
  let column = 0;
  for (const letter of reference ?? '') {
    const code = letter.charCodeAt(0) - 64;
    if (code < 1 || code > 26) break;
    column = column * 26 + code;
  }
  return column === 0 || column > 16_384 ? null : column - 1;
}
const DAY_MS = 86_400_000;

/** Number formats 14–22, 27–36, 45–47 and 50–58 are dates and times (ECMA-376 part 1, 18.8.30); own codes are read. */
function isDateFormat(id: number, code: string | null): boolean {
  if (code !== null) {
    const bare = code.replaceAll(/"[^"]*"|\\.|\[(?!h|m|s)[^\]]*\]/gi, '');
    return /[ymdhs]/i.test(bare) && !/general/i.test(bare);
  }
  return (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58);
}

/** Converts days since 1899-12-30 (or 1904-01-01), with the time as fraction, to ISO text; null outside the format's years. */
function serialDate(serial: number, startsIn1904: boolean): string | null {
  if (!Number.isFinite(serial) || serial < 0 || serial > 2_958_466) return null;
  const epoch = startsIn1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30);
  const at = new Date(epoch + Math.round((serial * DAY_MS) / 1_000) * 1_000).toISOString();
  const time = at.slice(11, 19);
  if (serial < 1 && !startsIn1904) return time;
  return time === '00:00:00' ? at.slice(0, 10) : `${at.slice(0, 10)} ${time}`;
}
