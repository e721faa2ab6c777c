import { FAMILY_NAME, GIVEN_NAME, isoDays } from '../../common/text/language/columns.ts';
import { isConversation, turnsOf } from '../../common/text/language/turns.ts';
import type { ReadPassage } from './rank-sentences.ts';
import { cellsOf, rowText } from './statements.ts';
import { stems } from './table-cells.ts';

/** Rows of a table, records with fields, or the items of a list, which have one column without a name. */
export interface Table {
  readonly kind: 'table' | 'records' | 'list';
  /** The heading right above it. */
  readonly heading: string;
  /** Stems of the words of its document's name and of the headings above it. */
  readonly subject: ReadonlySet<string>;
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

export interface Row {
  /** In the order of the columns; '' where it has none. */
  readonly cells: readonly string[];
  /** As it is quoted. */
  readonly line: string;
  readonly passage: ReadPassage;
}

const LIST_ITEM = /^[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]+(.+)$/u;
const MARKDOWN_ROW = /^[ \t]*\|(.*)\|[ \t]*$/u;
const MARKDOWN_RULE = /^[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$/u;
const KEY_VALUES = /^[^,:|]{1,40}: [^\n]*?, [^,:|]{1,40}: /u;
/** Also of a printed page, whose columns have a gap between them. */
const FIELD =
  /^([\p{L}][^,:|.]{0,30}?|[\p{L}_][\p{L}\p{N}_-]{0,40}(?:\.[\p{L}\p{N}_-]{1,40}){1,5})(?:: | {3,}|\t+)(\S.*)$/u;
const HEADING = /^[ \t]*(#{1,6})[ \t]+(.+)$/u;
const MAX_HEADING = 100;
/** Level of a heading without marks. */
const LOWEST_LEVEL = 7;
/** Fields of the headers of a mail, of which the subject is a heading. */
const MAIL_FIELD = /^(?:from|subject)$/iu;

/** A release in a changelog: `2.4.0 - 2025-02-11`, `[v1.3] (2024-05-01)`. */
const RELEASE = /^(?:version )?\[?v?(\d+(?:\.\d+)+[\w.-]*)\]?(?:\([^)]*\))?\s*[-–—(:]?\s*\(?(\d{4}-\d\d-\d\d)\)?$/iu;
const RELEASE_COLUMNS = ['version', 'released'];

/** The key of rows that name their columns. */
const PAIRS = 'pairs';

interface ReadRow {
  readonly kind: Table['kind'];
  /** Rows of a document with the same key are one table; null: those below the same headings. */
  readonly key: string | null;
  readonly columns: readonly string[];
  readonly values: readonly string[];
  readonly line: string;
}

type WritableTable = { -readonly [Key in keyof Table]: Table[Key] } & { rows: Row[] };

/** Returns the tables, records and lists of passages; passages of one document continue each other. */
export function tablesOf(passages: readonly ReadPassage[]): readonly Table[] {
  const tables = new Map<string, WritableTable>();
  const columnsOf = new Map<string, readonly string[]>();
  for (const passage of passages) {
    const { text, documentId, documentName, headings } = passage.payload;
    const document = documentId ?? documentName;
    const lines = text.split('\n').map((line) => line.trim());
    const mayHaveRecords = !isConversation(turnsOf(text));
    let path = headings.map((title, at) => ({ level: at + 1, text: title }));
    for (let at = 0; at < lines.length; at++) {
      const line = lines[at] ?? '';
      if (line === '' || MARKDOWN_RULE.test(line)) continue;
      const fields = mayHaveRecords ? fieldsAt(lines, at) : [];
      at += Math.max(0, fields.length - 1);
      if (fields.some(([key]) => MAIL_FIELD.test(key))) {
        const subject = fields.find(([key]) => /^subject$/iu.test(key))?.[1];
        if (subject !== undefined) path = [{ level: 0, text: subject }];
        continue;
      }
      const heads = MARKDOWN_ROW.exec(line)?.[1];
      if (heads !== undefined && MARKDOWN_RULE.test(lines[at + 1] ?? '')) {
        columnsOf.set(document, cellsOf(heads));
        continue;
      }
      let row = fields.length > 0 ? recordOf(fields) : rowAt(line, columnsOf.get(document) ?? []);
      if (row === null) {
        const [, marks, title] = HEADING.exec(line) ?? [];
        const isHeading = title !== undefined || (line.length < MAX_HEADING && !/[.!?,]$/u.test(line));
        const level = marks === undefined ? LOWEST_LEVEL : marks.length;
        if (isHeading) path = [...path.filter((above) => above.level < level), { level, text: title ?? line }];
        const [, ...release] = RELEASE.exec(title ?? '') ?? [];
        if (release.length > 0)
          row = { kind: 'table', key: 'releases', columns: RELEASE_COLUMNS, values: release, line: title ?? '' };
      }
      if (row === null || row.columns.length === 0) continue;
      const heading = path.at(-1)?.text ?? '';
      const above = path.map(({ text: title }) => title).join(' ');
      // Records below keys of a settings file are of different kinds.
      const place = heading.endsWith(':') ? `${heading} ${row.key ?? ''}` : (row.key ?? above);
      const key = keyOfTable(tables, `${document} ${row.kind} ${place}`, row);
      const table: WritableTable = tables.get(key) ?? {
        kind: row.kind,
        heading,
        subject: stems(`${documentName} ${headings.join(' ')} ${above}`),
        columns: row.columns,
        rows: [],
      };
      table.columns = [...new Set([...table.columns, ...row.columns])];
      const cells = table.columns.map((column) => row.values[row.columns.indexOf(column)] ?? '');
      table.rows.push({ cells, line: row.line, passage });
      tables.set(key, table);
    }
  }
  const found = [...tables.values()].filter(({ kind, rows }) => rows.length > (kind === 'records' ? 0 : 1));
  return found.map((table) => withNames(withIsoDays(withoutPath(table))));
}

/** `tickets id`, `tickets title`: what the keys of all records begin with is what the records are. */
function withoutPath(table: Table): Table {
  const [first = ''] = table.columns[0]?.split(' ') ?? [];
  const isShared = table.kind === 'records' && table.columns.every((name) => name.startsWith(`${first} `));
  if (!isShared) return table;
  const columns = table.columns.map((name) => name.slice(first.length + 1));
  return { ...table, columns, subject: new Set([...table.subject, ...stems(first)]) };
}

/** Rows of another sheet have other columns: they are another table of the document. */
function keyOfTable(tables: ReadonlyMap<string, Table>, place: string, { key, columns }: ReadRow): string {
  if (key !== PAIRS) return place;
  for (let at = 0; ; at++) {
    const found = `${place} ${at}`;
    const table = tables.get(found);
    if (table === undefined || columns.filter((name) => table.columns.includes(name)).length * 2 > columns.length)
      return found;
  }
}

/** Cells of days in figures are compared as ISO days; what is quoted stays as written. */
function withIsoDays(table: Table): Table {
  if (table.kind === 'list') return table;
  const readers = table.columns.map((_, at) => isoDays(table.rows.map(({ cells }) => cells[at] ?? '')));
  if (readers.every((reader) => reader === null)) return table;
  const rows = table.rows.map((row) => ({ ...row, cells: row.cells.map((cell, at) => readers[at]?.(cell) ?? cell) }));
  return { ...table, rows };
}

/** Persons whose names are in two columns get one of the whole name before all others. */
function withNames(table: Table): Table {
  const [given, family] = [GIVEN_NAME, FAMILY_NAME].map((name) => table.columns.findIndex((one) => name.test(one)));
  if (given === undefined || family === undefined || given < 0 || family < 0) return table;
  const nameOf = ({ cells }: Row) => [cells[given], cells[family]].filter(Boolean).join(' ');
  const rest = <Value>(values: readonly Value[]) => values.filter((_, at) => at !== given && at !== family);
  const rows = table.rows.map((row) => ({ ...row, cells: [nameOf(row), ...rest(row.cells)] }));
  return { ...table, columns: ['name', ...rest(table.columns)], rows };
}

type Field = readonly [key: string, value: string];

/** Returns the fields that begin at a line: at least two lines of `key: value`. */
function fieldsAt(lines: readonly string[], start: number): readonly Field[] {
  const fields: Field[] = [];
  for (const [at, whole] of lines.slice(start).entries()) {
    // The first field of an item of a list has its mark: `- name: slow-bookings`
    const line = at === 0 ? whole.replace(/^- /u, '') : whole;
    const [, key, value] = KEY_VALUES.test(line) ? [] : (FIELD.exec(line) ?? []);
    if (key === undefined || value === undefined) break;
    fields.push([key, value]);
  }
  return fields.length > 1 ? fields : [];
}

/** The column that says what a row is about. */
export const NAMING =
  /^(?:(?:(?:full|product|item|company)[ _])?name|title|summary|bezeichnung|nombre|titel|título|titre)$/iu;

/** Several values of one key are joined. */
function recordOf(fields: readonly Field[]): ReadRow {
  // `customer.name` of a nested record
  const values = Map.groupBy(fields, ([key]) => key.replaceAll('.', ' '));
  const columns = [...values.keys()];
  return {
    kind: 'records',
    // Cards and events in one document are two tables.
    key: columns.find((column) => NAMING.test(column)) ?? columns[0] ?? '',
    columns,
    values: [...values.values()].map((same) => same.map(([, value]) => value).join(', ')),
    line: fields.map(([key, value]) => `${key}: ${value}`).join(', '),
  };
}

/** Reads a row of a table or an item of a list; null when a line is neither. */
function rowAt(line: string, heads: readonly string[]): ReadRow | null {
  const row = MARKDOWN_ROW.exec(line)?.[1];
  if (row !== undefined) {
    const values = cellsOf(row);
    return { kind: 'table', key: heads.join('|'), columns: heads, values, line: rowText(heads, values) };
  }
  if (KEY_VALUES.test(line)) {
    const pairs = line.split(/, (?=[^,:]{1,40}: )/u).map((part) => part.split(/: (.*)/su));
    const columns = pairs.map(([key = '']) => key.trim());
    return { kind: 'table', key: PAIRS, columns, values: pairs.map(([, value = '']) => value.trim()), line };
  }
  const item = LIST_ITEM.exec(line)?.[1]?.trim();
  return item === undefined ? null : { kind: 'list', key: null, columns: [''], values: [item], line };
}
