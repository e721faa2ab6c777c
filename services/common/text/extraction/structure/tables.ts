import { FAMILY_NAME, GIVEN_NAME, isoDays } from '../../language/columns.ts';
import { CALENDAR_WORDS } from '../../language/name-words.ts';
import { typeByGuess } from '../rules/entity-type.ts';
import { type Fact, type Named, type Reading, relationOf, type Span } from './fact.ts';
import { isNothing, isProse, isYes, literalOf, nameOf, plainText, valueNamed } from './values.ts';

interface Cell extends Span {
  readonly column: string;
  readonly text: string;
}

type Row = readonly Cell[];

/** Reads a table: Markdown, or one line per row that names its columns (`city: Oslo, population: 709037`). */
export function readTable(text: string): Reading {
  const isMarkdown = text.trimStart().startsWith('|');
  const written = isMarkdown ? markdownRows(text) : describedRows(text);
  const rows = withWholeNames(withIsoDays(written));
  const skipped: Span[] = [];
  let start = 0;
  for (const cell of written.flat()) {
    if (!isProse(cell.text)) continue;
    skipped.push({ start, end: cell.start });
    start = cell.end;
  }
  skipped.push({ start, end: text.length });
  const column = subjectColumn(rows);
  return { facts: column === null ? [] : withPersons(rows.flatMap((row) => factsOf(row, column))), skipped };
}

/** Rows of persons, as far as their names tell, are about persons in all that look like one: `Ola Nordmann`. */
function withPersons(facts: readonly Fact[]): readonly Fact[] {
  const known = facts.filter(({ subject }) => subject.type === 'Person');
  if (known.length * 2 < facts.length) return facts;
  return facts.map((fact) => {
    const { name, type } = fact.subject;
    const isPerson = type === 'Concept' && typeByGuess(name) === 'Person';
    return isPerson ? { ...fact, subject: { name, type: 'Person' } } : fact;
  });
}

/** Days in figures are of the custom of their column: `03/09/2012` beside `14/02/2017` is in September. */
function withIsoDays(rows: readonly Row[]): readonly Row[] {
  const cells = Map.groupBy(rows.flat(), ({ column }) => column);
  const readers = new Map([...cells].map(([column, own]) => [column, isoDays(own.map(({ text }) => text))]));
  return rows.map((row) => row.map((cell) => ({ ...cell, text: readers.get(cell.column)?.(cell.text) ?? cell.text })));
}

/** The name of a person in two columns is one. */
function withWholeNames(rows: readonly Row[]): readonly Row[] {
  const partOf = (row: Row, name: RegExp): Cell | undefined => row.find(({ column }) => name.test(column.trim()));
  if (!rows.some((row) => partOf(row, GIVEN_NAME) && partOf(row, FAMILY_NAME))) return rows;
  return rows.map((row) => {
    const parts = [partOf(row, GIVEN_NAME), partOf(row, FAMILY_NAME)].filter((part) => part !== undefined);
    const [first] = parts;
    if (first === undefined) return row;
    const whole = { ...first, column: FULL_NAME, text: parts.map(({ text }) => text).join(' ') };
    return [whole, ...row.filter((cell) => !parts.includes(cell))];
  });
}

/** The column of names that are joined of two. */
const FULL_NAME = 'full name';

function markdownRows(text: string): Row[] {
  let header: string[] | null = null;
  const rows: Row[] = [];
  for (const { 0: line, index } of text.matchAll(/^[^\n]*\S[^\n]*$/gmu)) {
    const cells: (Span & { readonly text: string })[] = [];
    let at = line.indexOf('|') + 1;
    for (const cell of line.slice(at).split(/(?<!\\)\|/u)) {
      if (at >= line.length) break;
      cells.push({ text: plainText(cell.replaceAll('\\|', '|')), start: index + at, end: index + at + cell.length });
      at += cell.length + 1;
    }
    if (cells.every(({ text: cell }) => /^:?-+:?$/u.test(cell))) continue;
    if (header === null) header = cells.map(({ text: cell }) => cell);
    else rows.push(cells.flatMap((cell, column) => cellOf(cell, header?.[column] ?? '')));
  }
  return rows;
}

function cellOf(cell: Span & { readonly text: string }, column: string): Cell[] {
  return cell.text === '' ? [] : [{ ...cell, column }];
}

/** `Total of Amount: 4958` is about all rows. */
const TOTALS =
  /^(?:\p{L}+[ -])?(?:totals?|totale?|sum|\p{L}*summe|gesamt|insgesamt|suma|somme)(?: général| general)? of [^:\n]+: /iu;

/** Columns are the words before a colon at the beginning or behind a comma. */
const COLUMN = /(?:^|, )([^,:\n]{1,60}): /gu;

function describedRows(text: string): Row[] {
  const lines = [...text.matchAll(/^[^\n]*\S[^\n]*$/gmu)].filter(({ 0: line }) => !TOTALS.test(line));
  const counts = new Map<string, number>();
  for (const { 0: line } of lines) {
    for (const { 1: column = '' } of line.matchAll(COLUMN)) counts.set(column, (counts.get(column) ?? 0) + 1);
  }
  // A colon within a cell makes no column.
  const isColumn = (name: string): boolean => (counts.get(name) ?? 0) * 4 >= lines.length;
  return lines.map(({ 0: line, index }) => {
    const marks = [...line.matchAll(COLUMN)].filter(({ 1: column = '' }) => isColumn(column));
    return marks.flatMap((mark, at): Cell[] => {
      const start = index + mark.index + mark[0].length;
      const end = index + (marks[at + 1]?.index ?? line.length);
      const cell = { text: plainText(text.slice(start, end)), start, end };
      return cellOf(cell, mark[1] ?? '');
    });
  });
}

const NAME = /^(?:full_?)?name$|^title$|^label$|^subject$/u;
const ID = /^(?:id|key|uuid|guid|no|nr|index|row|rank|pos|position|column_\d+)?$/u;

/** The column that names the rows: called a name, else the first one with words, else the first. */
function subjectColumn(rows: readonly Row[]): string | null {
  const columns = [...new Set(rows.flatMap((row) => row.map(({ column }) => column)))];
  const isWords = ({ text }: Cell): boolean => !isProse(text) && literalOf(text, '') === null && !isTime(text);
  const withWords = new Set(rows.flatMap((row) => row.filter(isWords).map(({ column }) => column)));
  const hasWords = (column: string): boolean => withWords.has(column);
  if (columns.includes(FULL_NAME)) return FULL_NAME;
  const number = numberColumn(rows, columns);
  if (number !== null) return number;
  const named = columns.find((column) => NAME.test(relationOf(column)) && hasWords(column));
  return named ?? columns.find((column) => !ID.test(relationOf(column)) && hasWords(column)) ?? columns[0] ?? null;
}

/** A day of the week, a month or a time of day. */
function isTime(text: string): boolean {
  return CALENDAR_WORDS.has(text.toLowerCase()) || /^\d{1,2}[:.]\d\d(?: ?[ap]m| Uhr)?$/iu.test(text);
}

/** `order_id` of a table of orders: customers return in it, orders do not; null where another column names the rows. */
function numberColumn(rows: readonly Row[], columns: readonly string[]): string | null {
  const relations = columns.map(relationOf);
  const [first = ''] = columns;
  const thing = /^(.+)_(?:id|no|nr|number)$/u.exec(relationOf(first))?.[1];
  if (thing === undefined || relations.includes(thing) || relations.some((relation) => NAME.test(relation)))
    return null;
  const values = rows.flatMap((row) => row.filter(({ column }) => column === first).map(({ text }) => text));
  // Totals and titles are lines without columns.
  const filled = rows.filter((row) => row.length > 0).length;
  return new Set(values).size === filled ? first : null;
}

const MAX_EVIDENCE = 400;
/** Heads of columns that only say that the rows are described. */
const SAYS_NO_RELATION = /^(?:what|why|how|which)$/u;

function factsOf(row: Row, subjectColumnName: string): Fact[] {
  const cell = row.find(({ column }) => column === subjectColumnName);
  if (cell === undefined || isNothing(cell.text)) return [];
  const evidence = row
    .map(({ column, text }) => (column === '' ? text : `${column}: ${text}`))
    .join(', ')
    .slice(0, MAX_EVIDENCE);
  const names = namesOf(cell.text);
  return names.flatMap((name, at) => {
    const subject = subjectOf(name, relationOf(subjectColumnName));
    return row.flatMap((one): Fact[] => {
      const relation = relationOf(one.column);
      if (one === cell || relation === '' || SAYS_NO_RELATION.test(relation) || subject === null) return [];
      if (isYes(one.text))
        return [{ subject, relation: 'has', value: { name: one.column, type: 'Concept' }, evidence }];
      const values = one.text.split(/,\s*/u);
      // `8000, 127.0.0.1` of `HTTP_API_PORT, HTTP_API_HOST`
      const isOwn =
        names.length > 1 && values.length === names.length && values.every((part) => /^[^\s()]+$/u.test(part));
      const own = isOwn ? (values[at] ?? '') : one.text;
      const value = valueNamed(own, relation);
      return value === null ? [] : [{ subject, relation, value, evidence }];
    });
  });
}

/** Several names of code in one cell are several rows: `HTTP_API_HOST, HTTP_API_PORT`. */
function namesOf(text: string): readonly string[] {
  const parts = text.length > MAX_EVIDENCE ? [] : text.split(/,\s*/u);
  return parts.length > 1 && parts.every((part) => /^[\p{L}\d]+(?:[_.][\p{L}\d]+)+$/u.test(part)) ? parts : [text];
}

function subjectOf(name: string, column: string): Named | null {
  if (isProse(name)) return null;
  // `order 2041` is of no year.
  const literal = literalOf(name, /_(?:id|no|nr|number)$/u.test(column) ? column : '');
  if (literal?.type === 'Date') return literal;
  if (literal !== null)
    return {
      name: `${column.replace(/_?(?:id|no|nr|number)$/u, '').replaceAll('_', ' ')} ${name}`.trim(),
      type: 'Concept',
    };
  const named = nameOf(name, column);
  return column === relationOf(FULL_NAME) && named.type === 'Concept' ? { ...named, type: 'Person' } : named;
}
