import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { withoutExclusion, wordsOf } from './question.ts';
import { sectionsNamed } from './section-answer.ts';
import { NUMERALS } from './spans.ts';
import {
  cellsAt,
  compares,
  dayOfCell,
  flagOf,
  hasAll,
  isDated,
  isNamedIn,
  isNumeric,
  MONTH_NAMES,
  numberOf,
  order,
  stems,
  unitOf,
  valuesOf,
  yearsBetween,
} from './table-cells.ts';
import {
  ASKS_FOR_ONE,
  askedColumn,
  columnStems,
  DATED_QUESTION,
  HOW_LONG,
  isIdColumn,
  MONEY,
  matching,
  mayAnswer,
  type ReadWords,
  readWords,
  wordSet,
} from './table-columns.ts';
import { asksForOperation, operatedRows } from './table-operations.ts';
import { NAMING, type Row, type Table } from './table-rows.ts';
import { type AskedTime, monthColumn, readTime, rowsInTime } from './table-times.ts';

interface TableAnswer {
  /** '' when no row has the time that the question asks for. */
  readonly text: string;
  readonly rows: readonly Row[];
  /** The table of which no row fulfils all conditions. */
  readonly of?: Table;
  /** Whole lists: their items are the answer. */
  readonly lists?: readonly Table[];
}

const AUXILIARY = '(?:are|were|do|does|did|have|has|had|can|will)\\b';
/** `phone number of Ada` counts nothing; `worker replicas are` counts replicas. */
const COUNT = new RegExp(
  `\\bhow many\\s+(?:(?!${AUXILIARY})\\p{L}+\\s+(?=\\p{L}+ ${AUXILIARY}))?(\\p{L}+)|(?<=^|\\b(?:the|total|exact|current|my|our)\\s)(?:number|count) of\\s+(\\p{L}+)`,
  'iu',
);
const TOTAL = /\b(?:total|sum|altogether|in all)\b/iu;
const AVERAGE = /\b(?:average|mean)\b/iu;
const MOST = /\b(?:most|highest|largest|biggest|greatest|newest|latest|longest|maximum)\b/iu;
const LEAST = /\b(?:least|lowest|smallest|fewest|cheapest|oldest|earliest|shortest|minimum)\b/iu;
const LISTS =
  /^(?:(?:on|in|at|for|to|from|by|until|with|of) )?(?:which|what|who|whom|whose|list|show|name|where|when|how much|how many|how old|how long|wie lange|was|welche[rsmn]?|wer|wann|wo|liste|zeige?)\b/iu;
const COMPARED =
  /\b(more than|over|above|at least|after|since|fewer than|less than|under|below|at most|before|until)\s+[$€£]?(\d[\d.,:-]*\d|\d)/iu;
const COUNTED = wordSet('thing things item items entry entries row rows people person record records line lines');

const PEOPLE = wordSet('people person');
const IS_NAME = /^\p{Lu}[\p{L}'’-]*(?: \p{Lu}[\p{L}.'’-]*){0,3}(?=$|[,;(:]| [–—-])/u;

const MAX_LISTED = 80;
/** Values that are listed for a question after one: `What is the default port?` */
const MAX_OF_ONE = 3;

/**
 * Answers a question from the first table that has everything the question names, or with the items of the lists that it names
 * most of; null when none has. `now`: what relative times count from.
 */
export function tableAnswer(whole: string, all: readonly Table[], now?: Date): TableAnswer | null {
  if (!asksForRows(whole)) return null;
  const { rest: question, excluded } = withoutExclusion(whole);
  const isExcluded = (row: Row) => excluded.size > 0 && hasAll(row, [...excluded]);
  const tables = all.map((table) => ({ ...table, rows: table.rows.filter((row) => !isExcluded(row)) }));
  const lists = COUNT.test(question) ? [] : sectionsNamed(question, tables);
  if (lists.length > 0) {
    const rows = lists.flatMap((list) => list.rows);
    const items = rows.map(({ cells }) => (cells[0] ?? '').replace(/[.;,]$/u, ''));
    return { text: joined(items), rows, lists };
  }
  const operated = excluded.size > 0 ? null : operatedRows(question, tables, now);
  if (operated !== null) return operated;
  const time = readTime(question, now);
  const answers = tables.map((table) => answerFrom(question, table, { time, now })).filter((answer) => answer !== null);
  const unnamed = answers.filter(({ isOfUnnamed }) => isOfUnnamed === true);
  // `What is the status?` of one record among several is not known.
  const told = unnamed.length > 1 ? answers.filter((answer) => !unnamed.includes(answer)) : answers;
  const most = Math.max(0, ...told.map(({ named }) => named));
  const first = told.find(({ named }) => named === most);
  // `What is due in December?` names no table.
  if (first?.isOfTime !== true) return first ?? null;
  const timed = answers.filter(({ isOfTime }) => isOfTime);
  return { text: joined(timed.map(({ text }) => text).filter(Boolean)), rows: timed.flatMap(({ rows }) => rows) };
}

/** The number of a thing: `delivery 5599`, `order no. 12-88`, `ticket HB-99`. */
const NUMBERED =
  /\b(\p{L}{3,})(?: (?:no\.?|nr\.?|number|#))? #?(\p{Lu}{0,4}-?\d{2,}(?:-\d+)*)(?=\s*[?.,]|\s+(?!percent|euros?|dollars?|days?|years?)\p{Ll}|$)/u;

/** The number by which a question names a thing, when no row of the tables of such things has it; null else. */
export function unknownNumber(question: string, tables: readonly Table[]): string | null {
  const [, noun = '', number = ''] = NUMBERED.exec(question) ?? [];
  if (noun === '') return null;
  const stem = stemOf(noun.toLowerCase());
  const isYear = /^(?:19|20)\d\d$/u.test(number);
  const isNumbered = ({ kind, subject, columns, rows }: Table) => {
    const at = columns.findIndex(isIdColumn);
    const isOfNoun = columnStems(columns[at] ?? '').has(stem) || (!isYear && subject.has(stem));
    return kind !== 'list' && rows.length > 1 && at >= 0 && isOfNoun;
  };
  const isHeld = tables.some(({ rows }) => rows.some(({ line }) => line.includes(number)));
  return !isHeld && tables.some(isNumbered) ? number : null;
}

/** Whether rows may answer a question: it asks for a number, a list, or the value of something. */
export function asksForRows(question: string): boolean {
  return LISTS.test(question.trim()) || COUNT.test(question) || asksForOperation(question.trim());
}

interface FoundRows {
  readonly text: string;
  readonly rows: readonly Row[];
  /** Nothing but their time chooses them. */
  readonly isOfTime: boolean;
  /** Of the only record below a heading, which the question does not name. */
  readonly isOfUnnamed?: boolean;
}

interface FoundInTable extends FoundRows {
  /** How many words of the question name the table. */
  readonly named: number;
}

interface Moment {
  readonly time: AskedTime | null;
  readonly now: Date | undefined;
}

function answerFrom(question: string, table: Table, moment: Moment): FoundInTable | null {
  const { time } = moment;
  // A table that says itself what is overdue is not asked by its dates.
  const isSaid = time?.isOverdue === true && table.rows.some((row) => hasAll(row, [stemOf('overdue')]));
  const timed = time === null || isSaid ? null : rowsInTime(table, time);
  const comparison = timed === null ? COMPARED.exec(question) : null;
  const untimed = comparison === null ? question : question.replace(comparison[0], ' ');
  const asked = timed !== null && time !== null ? time.bare : untimed;
  const read = readWords(asked, table, timed !== null);
  const found = read === null ? null : rowsAsked(asked, table, { read, timed, comparison, now: moment.now });
  return found === null || read === null ? null : { ...found, named: read.named.length };
}

interface Reading {
  readonly read: ReadWords;
  readonly timed: ReturnType<typeof rowsInTime>;
  readonly comparison: RegExpExecArray | null;
  readonly now: Date | undefined;
}

function rowsAsked(asked: string, table: Table, { read, timed, comparison, now }: Reading): FoundRows | null {
  const { column, key } = askedColumn(asked, table, read);
  const flagged = (timed?.rows ?? table.rows).filter((row) =>
    [...read.flags].every(([at, is]) => flagOf(row, at) === is),
  );
  const whole = matching(flagged, read.conditions);
  // `Stays` of another row is not the verb of `did we stay at Ada's`.
  const names = new Map([...read.conditions].filter(([stem]) => read.names.has(stem)));
  const held = whole.length > 0 || names.size === 0 ? whole : matching(flagged, names);
  const named = held.filter(({ cells }) => cells.some((cell) => cell.includes(' ') && isNamedIn(asked, cell)));
  let rows = named.length > 0 && table.kind === 'table' ? named : held;
  if (comparison !== null) {
    const numeric = column ?? table.columns.findIndex((_, at) => at !== key && isNumeric(table.rows, at));
    if (numeric < 0) return null;
    rows = rows.filter((row) => compares(row.cells[numeric] ?? '', comparison));
  }
  // `Who owns the dispatcher?` does not ask whose `Make the dispatcher work without Redis` is.
  if (table.kind === 'table' && column !== null && WHO.test(asked))
    rows = rows.filter(({ cells }) => isTold(cells[key], read, key));
  const timeColumn = timed?.column ?? monthColumn(table, read);
  const isOnly = table.rows.length === 1 && read.conditions.size === 0 && read.named.length === 0;
  let isBelowName = false;
  const hasName = table.columns.some((name) => NAMING.test(name));
  if (table.kind === 'records') {
    isBelowName = !hasName && sharesHalf(table.heading.split(/:(?: |$)/u)[0], read);
    const isIdentified = [...read.conditions.values()].some((of) =>
      [...of].some((at) => isIdColumn(table.columns[at])),
    );
    const isNamed = ({ cells }: Row) =>
      timeColumn !== null || isOnly || isBelowName || isIdentified || sharesHalf(cells[key], read);
    rows = rows.filter((row) => isNamed(row) && hasAll(row, [...read.conditions.keys()]));
  }
  const isOfRecord =
    table.kind === 'records' && (isOnly || isBelowName) && column !== null && (column !== key || !hasName);
  const isNarrowed = read.conditions.size + read.flags.size > 0 || comparison !== null || timed !== null || isOfRecord;
  const focus = FOCUS.exec(asked.trim())?.[1]?.toLowerCase();
  const isOf = (words: ReadonlySet<string>) => focus !== undefined && words.has(stemOf(focus));
  // `What is due in December?` asks for what the rows are about.
  const isTime = timeColumn !== null && isOf(stems(table.columns[timeColumn]));
  // A list that is empty says so; other rows are no answer.
  if (rows.length === 0) return isTime && read.conditions.size === 0 ? { text: '', rows, isOfTime: true } : null;
  if (HOW_LONG.test(asked) && (column === null || column === key)) return null;
  if (HOW_OLD.test(asked)) return ageOf(rows, column, now);
  const value = computedValue({ asked, table, rows, read, column, key, isNarrowed });
  const isOfUnnamed = isOfRecord && isOnly;
  if (isOfUnnamed && !read.others.some((word) => table.columns.some((name) => stems(name).has(stemOf(word)))))
    return null;
  if (value !== undefined) return value === null ? null : { ...value, isOfUnnamed };
  const isKey =
    isTime ||
    (WHO.test(asked) && read.flags.size > 0 && NAMING.test(table.columns[key] ?? '')) ||
    isOf(table.subject) ||
    isOf(stems(table.columns[key]));
  if (!isNarrowed || table.kind === 'list' || (column === null && !isKey)) return null;
  // The first field of a record without a name names no row.
  const shown = column === null || (isKey && !(isOfRecord && !hasName)) ? key : column;
  if (!mayAnswer(asked)(rows, shown)) return null;
  const values = valuesOf(rows, shown);
  const isTooMany = !isTime && values.length > MAX_OF_ONE && ASKS_FOR_ONE.test(asked.trim());
  return values.length === 0 || isTooMany ? null : { text: joined(values), rows, isOfTime: isTime, isOfUnnamed };
}

/** `How much rent do we pay?` asks for the latest of a series of payments. */
const PAID_NOW = /\b(?:now|currently|nowadays|these days)\b|\b(?:do|does) (?:I|we|\p{L}+) pay\b/iu;

/** Whether rows are about the same but for the month in their names: `Rent January`, `Rent February`. */
function isSeries(rows: readonly Row[], key: number): boolean {
  const nameOf = ({ cells }: Row) =>
    wordsOf(cells[key] ?? '')
      .filter((word) => !MONTH_NAMES.includes(word) && !/\d/u.test(word))
      .join(' ');
  return new Set(rows.map(nameOf)).size === 1;
}

const HOW_OLD = /^how old (?:is|are|am)\b/iu;

/** Years since the day in the one row that fits: `11 (2015-05-09)`. */
function ageOf(rows: readonly Row[], column: number | null, now: Date | undefined): FoundRows | null {
  const cell = column === null || rows.length !== 1 ? '' : (rows[0]?.cells[column] ?? '');
  const day = cell.length < 'yyyy-mm-dd'.length ? undefined : dayOfCell(cell);
  if (day === undefined || now === undefined) return null;
  return { text: `${yearsBetween(day, now)} (born ${cell})`, rows, isOfTime: false };
}

const BY_DEFAULT = /\bby default\b/iu;
const WHO = /^(?:who|whose|wer)\b/iu;

/** Whether a name that words of a question choose has half of its words in the question. */
const isTold = (name: string | undefined, read: ReadWords, key: number) =>
  read.conditions.size === 0 ||
  ![...read.conditions.values()].every((of) => of.size === 1 && of.has(key)) ||
  sharesHalf(name, read);

/** Whether a question has half of the words of a name: `Atlas` alone does not name `Atlas review with Jane`. */
function sharesHalf(name: string | undefined, { conditions, named }: ReadWords): boolean {
  const words = [...stems(name)].filter((stem) => !STOP_WORDS.has(stem) && !/^\d/u.test(stem));
  const shared = words.filter((stem) => conditions.has(stem) || named.includes(stem)).length;
  return shared > 0 && shared * 2 >= words.length;
}

/** Words of a question that is answered by a number of rows, their sum, or one of them. */
function computedValue({
  asked,
  table,
  rows,
  read,
  column,
  key,
  isNarrowed,
}: {
  readonly asked: string;
  readonly table: Table;
  readonly rows: readonly Row[];
  readonly read: ReadWords;
  readonly column: number | null;
  readonly key: number;
  readonly isNarrowed: boolean;
}): FoundRows | null | undefined {
  const answer = (text: string, of = rows): FoundRows => ({ text, rows: of, isOfTime: false });
  const counted = COUNT.exec(asked);
  const noun = stemOf((counted?.[1] ?? counted?.[2] ?? '').toLowerCase());
  const isNumber = column !== null && isNumeric(table.rows, column);
  const isNamed = isNumber && counted !== null && stems(table.columns[column]).has(noun);
  if (isNumber && (isNamed || [AVERAGE, TOTAL, MONEY].some((asks) => asks.test(asked)))) {
    const cells = cellsAt(rows, column);
    const [dated, ...others] = table.columns.flatMap((_, at) => (at !== column && isDated(rows, at) ? [at] : []));
    if (dated !== undefined && others.length === 0 && isSeries(rows, key) && PAID_NOW.test(asked)) {
      const latest = rows.toSorted((a, b) => order(a.cells[dated] ?? '', b.cells[dated] ?? '')).at(-1);
      if (latest !== undefined) return answer(latest.cells[column] ?? '', [latest]);
    }
    if (rows.length === 1) return answer(cells[0] ?? '');
    const sum = cells.map(numberOf).reduce((total, value) => total + value, 0);
    const value = Number((AVERAGE.test(asked) ? sum / cells.length : sum).toFixed(2));
    return answer(`${value}${unitOf(cells)}`);
  }
  const [only, ...more] = column === null || column === key ? [] : cellsAt(rows, column);
  // `How many retries are there by default?`
  if (
    counted !== null &&
    read.conditions.size > 0 &&
    only !== undefined &&
    more.length === 0 &&
    /^\D?\d/u.test(only) &&
    !isDated(rows, column ?? 0)
  )
    return answer(only);
  // `500 by default` is no number of rows.
  if (counted !== null && BY_DEFAULT.test(asked)) return null;
  const listed = counted === null || rows.length !== 1 ? null : listedIn(rows[0] as Row, table, asked);
  if (listed !== null) return answer(String(listed));
  if (counted !== null) {
    // Items of a list are people when each is a name.
    if (table.kind === 'list' && PEOPLE.has(noun) && !rows.every(({ cells }) => IS_NAME.test(cells[0] ?? '')))
      return null;
    const isOfTable = table.subject.has(noun) || stems(table.columns[key]).has(noun) || COUNTED.has(noun);
    // `attempts` in a description counts nothing.
    const isValue = rows.some(({ cells }) => cells.some((cell) => wordsOf(cell).length <= 2 && stems(cell).has(noun)));
    if (!isOfTable && !(isNarrowed && isValue)) return null;
    // `5 eggs` says itself how many there are.
    const isCounted = new RegExp(`(?<![\\p{L}\\p{N}])(?:\\d[\\d,.]*|${NUMERALS}) (?:\\p{L}+ )?${noun}`, 'iu');
    if (table.kind === 'list' && rows.some(({ cells }) => isCounted.test(cells[0] ?? ''))) return null;
    return isNarrowed || read.named.length > 0 ? answer(String(rows.length)) : null;
  }
  // `How long does it last?`
  const isOfSeries = SERIES.test(asked) && !HOW_LONG.test(asked);
  const isMost = MOST.test(asked) || (isOfSeries && !/\bfirst\b/iu.test(asked));
  if (!isMost && !isOfSeries && !LEAST.test(asked)) return undefined;
  const dates = table.columns.flatMap((name, at) => (name !== '' && isDated(table.rows, at) ? [at] : []));
  const isOrdered = column !== null && (isNumber || dates.includes(column));
  const by = isOrdered ? column : dates.length === 1 ? dates[0] : undefined;
  if (by === undefined) return isOfSeries ? undefined : null;
  const sorted = rows.toSorted((a, b) => order(a.cells[by] ?? '', b.cells[by] ?? ''));
  const best = isMost ? sorted.at(-1) : sorted[0];
  // `When was the last oil change?` asks for the date by which the rows are ordered.
  const shown = isOfSeries && column !== null && (column !== by || DATED_QUESTION.test(asked)) ? column : key;
  return best === undefined ? null : answer(best.cells[shown] ?? '', [best]);
}

const SEPARATOR = /[,;]\s+(?:and\s+)?|\s+(?:and|&)\s+/u;
const MAX_LISTED_LENGTH = 40;
/** Beginnings of words of this length are of one root: `attended` and `attendees`. */
const MIN_ROOT = 5;

/** Returns how many values a row lists in the column that a question names: `Attendees: Ada, Ben`; null where it lists none. */
function listedIn({ cells }: Row, { columns }: Table, asked: string): number | null {
  const roots = wordsOf(asked)
    .map(stemOf)
    .filter((stem) => stem.length >= MIN_ROOT);
  const isNamed = (column: string | undefined) =>
    [...stems(column)].some((stem) => roots.some((root) => stem.startsWith(root) || root.startsWith(stem)));
  const at = columns.findIndex((column, place) => isNamed(column) && SEPARATOR.test(cells[place] ?? ''));
  const values = (cells[at] ?? '').split(SEPARATOR);
  return values.length > 1 && values.every(({ length }) => length <= MAX_LISTED_LENGTH) ? values.length : null;
}

/** Asks for one of several by its date. */
const SERIES = /\b(?:last|latest|most recent|newest|first)\b/iu;

const FOCUS =
  /^(?:which|what|who|whose|was|welche[rs]?)\s+(?:(?:is|are|were|was|ist|sind)\s+)?(?:(?:the|my|our)\s+)?(\p{L}+)/iu;

function joined(values: readonly string[]): string {
  let text = '';
  for (const [at, value] of values.entries()) {
    const next = text === '' ? value : `${text}, ${value}`;
    if (next.length > MAX_LISTED && at > 0) return `${text} and ${values.length - at} more`;
    text = next;
  }
  return text;
}
