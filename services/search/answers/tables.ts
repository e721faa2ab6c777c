import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import { wordsOf } from './question.ts';
import type { ReadPassage } from './rank-sentences.ts';
import { MONTHS } from './spans.ts';
import { cellsOf, rowText } from './statements.ts';

/** Rows of a table, or the items of a list, which have one column without a name. */
export interface Table {
  readonly document: string;
  /** Stems of the words of its name and of the heading above it. */
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
const HEADING = /^[ \t]*#{1,6}[ \t]+(.+)$/u;

/** Returns the tables of passages; passages of one document continue each other. */
export function tablesOf(passages: readonly ReadPassage[]): readonly Table[] {
  const tables = new Map<string, { -readonly [Key in keyof Table]: Table[Key] } & { rows: Row[] }>();
  const columnsOf = new Map<string, readonly string[]>();
  for (const passage of passages) {
    const { text, documentId, documentName, headings } = passage.payload;
    const document = documentId ?? documentName;
    const lines = text.split('\n');
    let heading = headings.at(-1) ?? '';
    for (const [at, whole] of lines.entries()) {
      const plain = whole.trim();
      if (plain === '' || MARKDOWN_RULE.test(plain)) continue;
      const row = MARKDOWN_ROW.exec(plain)?.[1];
      const cells = row === undefined ? undefined : cellsOf(row);
      if (cells !== undefined && MARKDOWN_RULE.test(lines[at + 1] ?? '')) {
        columnsOf.set(document, cells);
        continue;
      }
      const pairs = KEY_VALUES.test(plain)
        ? plain.split(/, (?=[^,:]{1,40}: )/u).map((part) => part.split(/: (.*)/su) as [string, string])
        : undefined;
      const item = LIST_ITEM.exec(whole)?.[1];
      let columns: readonly string[] = [''];
      let values: readonly string[];
      if (cells !== undefined) {
        columns = columnsOf.get(document) ?? [];
        values = cells;
      } else if (pairs !== undefined) {
        columns = pairs.map(([key]) => key.trim());
        values = pairs.map(([, value]) => (value ?? '').trim());
      } else if (item !== undefined) {
        values = [item.trim()];
      } else {
        heading = HEADING.exec(whole)?.[1] ?? (plain.length < 100 && !/[.!?]$/u.test(plain) ? plain : heading);
        continue;
      }
      if (columns.length === 0) continue;
      const kind =
        item === undefined || pairs !== undefined ? (pairs ? 'pairs' : columns.join('|')) : `list ${heading}`;
      const key = `${document} ${kind}`;
      const table = tables.get(key) ?? {
        document,
        subject: new Set(wordsOf(`${documentName} ${headings.join(' ')} ${heading}`).map(stemOf)),
        columns,
        rows: [],
      };
      const known = [...new Set([...table.columns, ...columns])];
      table.columns = known;
      const line = cells === undefined ? plain : rowText(columns, cells);
      table.rows.push({ cells: known.map((column) => values[columns.indexOf(column)] ?? ''), line, passage });
      tables.set(key, table);
    }
  }
  return [...tables.values()].filter(({ rows }) => rows.length > 1);
}

export interface TableAnswer {
  readonly text: string;
  readonly rows: readonly Row[];
}

const COUNT = /\bhow many\s+(\p{L}+)|\b(?:number|count) of\s+(\p{L}+)/iu;
const TOTAL = /\b(?:total|sum|altogether|in all)\b/iu;
/** Asks for an amount of money over all rows that fit. */
const MONEY = /\bhow much\b.*\b(?:spend|spent|earn|earned|save|saved)\b/iu;
const AVERAGE = /\b(?:average|mean)\b/iu;
const MOST = /\b(?:most|highest|largest|biggest|greatest|newest|latest|longest|maximum)\b/iu;
const LEAST = /\b(?:least|lowest|smallest|fewest|cheapest|oldest|earliest|shortest|minimum)\b/iu;
const LISTS = /^(?:which|what|who|whose|list|show|name|where|when|how much|how many)\b/iu;
const COMPARED =
  /\b(more than|over|above|at least|after|since|fewer than|less than|under|below|at most|before|until)\s+[$€£]?(\d[\d.,:-]*\d|\d)/iu;
/** Words of questions that say nothing of a row. */
const EMPTY_WORDS = wordSet(
  'many much list show name number count total sum average mean there have has had own use live work run cost pay paid people person thing item entry row all called most highest largest biggest greatest newest latest longest maximum least lowest smallest fewest cheapest oldest earliest shortest minimum more fewer less than over above under below before after since until things items entries rows',
);
const COUNTED = wordSet('thing things item items entry entries row rows people person record records line lines');

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' ').map(stemOf));
}

const LIKE_COLUMN = 0.5;
const MAX_LISTED = 80;
const MAX_VALUE_WORDS = 8;
/** Values that are listed for a question after one: `What is the default port?` */
const MAX_OF_ONE = 3;
const ASKS_FOR_ONE = /^(?:what|which|who)\s+(?:is|was)\b/iu;

/** Answers a question from the first table that has everything the question names; null when none has. */
export function tableAnswer(question: string, tables: readonly Table[]): TableAnswer | null {
  for (const table of tables) {
    const answer = answerFrom(question, table);
    if (answer !== null) return answer;
  }
  return null;
}

/** Whether rows may answer a question: it asks for a number, a list, or the value of something. */
export function asksForRows(question: string): boolean {
  return LISTS.test(question.trim()) || COUNT.test(question);
}

function answerFrom(question: string, table: Table): TableAnswer | null {
  if (!asksForRows(question)) return null;
  const comparison = COMPARED.exec(question);
  const asked = comparison === null ? question : question.replace(comparison[0], ' ');
  const read = readWords(asked, table);
  if (read === null) return null;
  const { column, key } = askedColumn(asked, table, read);
  let rows = matching(table.rows, read.conditions);
  if (comparison !== null) {
    const numeric = column ?? table.columns.findIndex((_, at) => at !== key && isNumeric(table.rows, at));
    if (numeric < 0) return null;
    rows = rows.filter((row) => compares(row.cells[numeric] ?? '', comparison));
  }
  if (rows.length === 0) return null;
  const isNarrowed = read.conditions.size > 0 || comparison !== null;
  const of = (at: number) => rows.map((row) => row.cells[at] ?? '').filter((cell) => cell !== '');
  const counted = COUNT.exec(asked);
  const noun = stemOf((counted?.[1] ?? counted?.[2] ?? '').toLowerCase());
  const isNumber = column !== null && isNumeric(table.rows, column);
  if (
    isNumber &&
    (AVERAGE.test(asked) ||
      TOTAL.test(asked) ||
      MONEY.test(asked) ||
      (counted !== null && stems(table.columns[column]).has(noun)))
  ) {
    const numbers = of(column).map(numberOf);
    if (rows.length === 1) return { text: of(column)[0] ?? '', rows };
    const sum = numbers.reduce((total, value) => total + value, 0);
    const value = AVERAGE.test(asked) ? sum / numbers.length : sum;
    return { text: String(Number(value.toFixed(2))), rows };
  }
  if (counted !== null) {
    const isOfTable = table.subject.has(noun) || stems(table.columns[key]).has(noun) || COUNTED.has(noun);
    if (!isOfTable && !(isNarrowed && read.conditions.has(noun))) return null;
    return isNarrowed || read.named.length > 0 ? { text: String(rows.length), rows } : null;
  }
  const isMost = MOST.test(asked);
  if (isMost || LEAST.test(asked)) {
    const at = column ?? -1;
    if (at < 0 || !(isNumber || isDated(table.rows, at))) return null;
    const sorted = rows.toSorted((a, b) => order(a.cells[at] ?? '', b.cells[at] ?? ''));
    const best = isMost ? sorted.at(-1) : sorted[0];
    return best === undefined ? null : { text: best.cells[key] ?? '', rows: [best] };
  }
  const subject = [...table.subject].filter((word) => !STOP_WORDS.has(word));
  const isWholeList = table.columns.length === 1 && read.isAllNamed && read.named.length >= subject.length / 2;
  if (!isNarrowed && !isWholeList) return null;
  if (table.columns.length === 1 && !isWholeList) return null;
  const focus = /^(?:which|what|who)\s+(?:(?:is|are|were|was)\s+)?(?:(?:the|my|our)\s+)?(\p{L}+)/iu.exec(
    asked.trim(),
  )?.[1];
  const isKey =
    focus !== undefined &&
    (table.subject.has(stemOf(focus.toLowerCase())) || stems(table.columns[key]).has(stemOf(focus.toLowerCase())));
  if (column === null && !isKey && !isWholeList) return null;
  const values = [...new Set(of(column === null || (isKey && column !== null) ? key : column))];
  const isTooMany = values.length > MAX_OF_ONE && ASKS_FOR_ONE.test(asked.trim());
  return values.length === 0 || isTooMany ? null : { text: joined(values), rows };
}

function joined(values: readonly string[]): string {
  let text = '';
  for (const [at, value] of values.entries()) {
    const next = text === '' ? value : `${text}, ${value}`;
    if (next.length > MAX_LISTED && at > 0) return `${text} and ${values.length - at} more`;
    text = next;
  }
  return text;
}

interface ReadWords {
  /** Words that cells contain, with their columns. */
  readonly conditions: ReadonlyMap<string, ReadonlySet<number>>;
  /** Words of the table's name. */
  readonly named: readonly string[];
  /** Other words, which may name a column. */
  readonly others: readonly string[];
  readonly isAllNamed: boolean;
}

/** Returns null when the question names something that the table does not have. */
function readWords(question: string, table: Table): ReadWords | null {
  const conditions = new Map<string, Set<number>>();
  const named: string[] = [];
  const others: string[] = [];
  // A description has words of anything: it is no value by which rows are chosen.
  const isValue = (cell: string) => table.columns.length === 1 || wordsOf(cell).length <= MAX_VALUE_WORDS;
  const cells = table.rows.map((row) => row.cells.map((cell) => stems(isValue(cell) ? cell : '')));
  const columnNames = table.columns.map(stems);
  for (const [at, [word]] of [...question.matchAll(/[\p{L}\p{N}]+(?:[-.:'’][\p{L}\p{N}]+)*/gu)].entries()) {
    const text = word.replace(/['’]s$/u, '');
    const lower = text.toLowerCase();
    const stem = stemOf(lower);
    if (at === 0 || STOP_WORDS.has(lower)) continue;
    if (table.subject.has(stem)) {
      named.push(stem);
      continue;
    }
    if (columnNames.some((names) => names.has(stem))) {
      others.push(lower);
      continue;
    }
    const columns = new Set(cells.flatMap((row) => row.flatMap((words, column) => (words.has(stem) ? [column] : []))));
    if (columns.size > 0) conditions.set(stem, columns);
    else if (/^[\p{Lu}\p{N}]/u.test(text)) return null;
    else others.push(lower);
  }
  const unknown = others.filter(
    (word) =>
      !EMPTY_WORDS.has(stemOf(word)) &&
      !columnNames.some((names) => names.has(stemOf(word))) &&
      likeColumn(word, table.columns) < LIKE_COLUMN,
  );
  if (unknown.length > 1 || (unknown.length > 0 && conditions.size === 0)) return null;
  return { conditions, named, others, isAllNamed: others.every((word) => EMPTY_WORDS.has(stemOf(word))) };
}

function likeColumn(word: string, columns: readonly string[]): number {
  const words = columns.flatMap((column) => wordsOf(column.replaceAll('_', ' ')));
  return Math.max(0, ...words.map((other) => wordTable().similarity(word, other)));
}

const DATED_QUESTION = /^when\b|\b(?:what|which) (?:date|day|year)\b/iu;
const PLACES = ['city', 'country', 'region', 'location', 'place', 'address', 'town'];

/** Returns the column that the question asks for, and the one that names the rows. */
function askedColumn(question: string, { columns, rows }: Table, { conditions, others }: ReadWords) {
  const named = columns.findIndex((column) => /^(?:name|title)$/iu.test(column));
  const key = Math.max(0, named);
  const isUsed = (at: number) => [...conditions.values()].some((of) => of.size === 1 && of.has(at));
  const onlyNumber = columns.filter((_, at) => at !== key && isNumeric(rows, at)).length === 1;
  let column: number | null = null;
  let best = LIKE_COLUMN;
  for (const [at, name] of columns.entries()) {
    if (name === '' || isUsed(at)) continue;
    const words = wordsOf(name.replaceAll('_', ' '));
    let score = Math.max(
      0,
      ...others.map((word) =>
        words.some((other) => stemOf(other) === stemOf(word))
          ? 1
          : Math.max(0, ...words.map((other) => wordTable().similarity(word, other))),
      ),
    );
    if (at !== key && DATED_QUESTION.test(question) && isDated(rows, at)) score += 0.5;
    if (at !== key && /^where\b/iu.test(question) && words.some((word) => PLACES.includes(word))) score += 0.6;
    if (/^how (?:much|many)\b/iu.test(question) && isNumeric(rows, at)) score += 0.2;
    if (MONEY.test(question) && isNumeric(rows, at) && onlyNumber) score += LIKE_COLUMN;
    if (score > best) [column, best] = [at, score];
  }
  return { column, key };
}

/** Returns the rows that contain, of the words of each column, the most that any row does. */
function matching(rows: readonly Row[], conditions: ReadWords['conditions']): readonly Row[] {
  const groups = new Map<string, string[]>();
  for (const [word, columns] of conditions) {
    const key = [...columns].join();
    groups.set(key, [...(groups.get(key) ?? []), word]);
  }
  let left = rows;
  for (const [key, words] of groups) {
    const columns = key.split(',').map(Number);
    const count = (row: Row) =>
      Math.max(...columns.map((at) => words.filter((word) => stems(row.cells[at]).has(word)).length));
    const most = Math.max(...rows.map(count));
    left = left.filter((row) => count(row) === most);
  }
  return left;
}

/** Stems of the words of a cell; of a date also its year and the name of its month. */
function stems(text = ''): ReadonlySet<string> {
  const [, year = '', month] = ISO_DATE.exec(text) ?? [];
  const dated = month === undefined ? [] : [year, MONTH_NAMES[Number(month) - 1] ?? ''];
  return new Set([...wordsOf(text.replaceAll('_', ' ')), ...dated].map(stemOf));
}

const ISO_DATE = /^(\d{4})-(\d\d)(?:-\d\d)?(?:[T ].*)?$/u;
const MONTH_NAMES = MONTHS.toLowerCase().split('|');

const DATE = /^\d{4}(?:-\d\d){0,2}$|^\d{1,2}[./]\d{1,2}[./]\d{2,4}$/u;
const NUMBER = /^[$€£]?\s?-?\d[\d,]*(?:\.\d+)?\s?(?:%|\p{L}{1,4}|[$€£])?$/u;

function isDated(rows: readonly Row[], at: number): boolean {
  return rows.every(({ cells }) => cells[at] === '' || DATE.test(cells[at] ?? ''));
}

function isNumeric(rows: readonly Row[], at: number): boolean {
  return !isDated(rows, at) && rows.every(({ cells }) => cells[at] === '' || NUMBER.test(cells[at] ?? ''));
}

function numberOf(text: string): number {
  return Number.parseFloat(text.replace(/[^\d.-]/gu, ''));
}

function order(left: string, right: string): number {
  return DATE.test(left) || DATE.test(right) ? left.localeCompare(right) : numberOf(left) - numberOf(right);
}

function compares(cell: string, [, words = '', limit = '']: readonly string[]): boolean {
  const isDate = DATE.test(cell);
  const value = isDate ? cell.localeCompare(limit) : numberOf(cell) - numberOf(limit);
  const isSame = isDate ? cell.startsWith(limit) : value === 0;
  if (/least|since/iu.test(words)) return value >= 0 || isSame;
  if (/at most|until/iu.test(words)) return value <= 0 || isSame;
  return !isSame && (/more|over|above|after/iu.test(words) ? value > 0 : value < 0);
}
