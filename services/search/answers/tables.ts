import { dates } from '../../common/text/language/dates.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import { analyseQuery, type TimeWindow } from '../retrieval/query-analysis.ts';
import { withoutExclusion, wordsOf } from './question.ts';
import { MONTHS } from './spans.ts';
import { NAMING, type Row, type Table } from './table-rows.ts';

export interface TableAnswer {
  /** '' when no row has the time that the question asks for. */
  readonly text: string;
  readonly rows: readonly Row[];
  /** Whole lists: their items are the answer. */
  readonly lists?: readonly Table[];
}

const COUNT = /\bhow many\s+(\p{L}+)|\b(?:number|count) of\s+(\p{L}+)/iu;
const TOTAL = /\b(?:total|sum|altogether|in all)\b/iu;
/** Asks for an amount of money over all rows that fit. */
const MONEY =
  /\bhow much\b.*\b(?:spend|spent|earn|earned|save|saved)\b|\bhow much (?:do|did|are|is)\b.*\b(?:costs?|pay|owe|due)\b/iu;
const AVERAGE = /\b(?:average|mean)\b/iu;
const MOST = /\b(?:most|highest|largest|biggest|greatest|newest|latest|longest|maximum)\b/iu;
const LEAST = /\b(?:least|lowest|smallest|fewest|cheapest|oldest|earliest|shortest|minimum)\b/iu;
const LISTS =
  /^(?:which|what|who|whose|list|show|name|where|when|how much|how many|was|welche[rs]?|wer|wann|wo|liste|zeige?)\b/iu;
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

/**
 * Answers a question from the first table that has everything the question names, or with the items of the lists that it names
 * most of; null when none has. `now`: what relative times count from.
 */
export function tableAnswer(whole: string, all: readonly Table[], now?: Date): TableAnswer | null {
  if (!asksForRows(whole)) return null;
  const { rest: question, excluded } = withoutExclusion(whole);
  const isExcluded = (row: Row) => excluded.size > 0 && hasAll(row, [...excluded]);
  const tables = all.map((table) => ({ ...table, rows: table.rows.filter((row) => !isExcluded(row)) }));
  const lists = sectionAnswer(question, tables);
  if (lists !== null) return lists;
  const time = readTime(question, now);
  const answers = tables.map((table) => answerFrom(question, table, time)).filter((answer) => answer !== null);
  const [first] = answers;
  // `What is due in December?` names no table.
  if (first?.isOfTime !== true) return first ?? null;
  const timed = answers.filter(({ isOfTime }) => isOfTime);
  return { text: joined(timed.map(({ text }) => text).filter(Boolean)), rows: timed.flatMap(({ rows }) => rows) };
}

/** Whether rows may answer a question: it asks for a number, a list, or the value of something. */
export function asksForRows(question: string): boolean {
  return LISTS.test(question.trim()) || COUNT.test(question);
}

/** Questions that name a section by a verb, and the headings of such sections. */
const SECTION_VERBS: readonly (readonly [RegExp, RegExp])[] = [
  [
    /\b(?:decided?|agreed?)\b/iu,
    /^(?:decisions?|agreements?|agreed|resolutions?|beschl[uü]ss\p{L}*|entscheidungen)\b/iu,
  ],
  [
    /\b(?:has|have|had|need|needs) to(?: do)?\b|\bto[- ]?dos?\b|\bsupposed to do\b/iu,
    /^(?:action (?:items|points)|actions|to[- ]?dos?|tasks|next steps|follow[- ]ups?|aufgaben|nächste schritte)\b/iu,
  ],
];
const SECTION_WORDS = wordSet(
  'section point points noted listed made take taken agenda minutes meeting about steht stehen gibt',
);
/** Asks for one thing or how many there are, which a list does not say. */
const ASKS_FOR_ITEMS = /^(?:which|what|list|show|name|was|welche|liste|zeige?|who (?:has|have|needs?) to)\b/iu;

/** Answers a question that names the headings of lists with their items, or those that it names: `What does Ada have to do?` */
function sectionAnswer(question: string, tables: readonly Table[]): TableAnswer | null {
  if (!ASKS_FOR_ITEMS.test(question.trim()) || COUNT.test(question)) return null;
  const found = tables
    .filter(({ kind }) => kind === 'list')
    .map((table) => ({ table, ...readSection(question, table) }));
  const most = Math.max(0, ...found.map(({ named }) => named));
  const lists = found.filter(({ named }) => named === most).map(({ table, rows }) => ({ ...table, rows }));
  const rows = lists.flatMap((list) => list.rows);
  return most === 0 ? null : { text: joined(rows.map(({ cells }) => cells[0] ?? '')), rows, lists };
}

/** How many words of a question name a list; 0 when its heading is not asked for. */
function readSection(
  question: string,
  { heading, subject, rows }: Table,
): { readonly named: number; readonly rows: readonly Row[] } {
  const none = { named: 0, rows: [] };
  const verb = SECTION_VERBS.find(([asks, isHeading]) => asks.test(question) && isHeading.test(heading));
  const words = questionWords(verb === undefined ? question : question.replace(verb[0], ' ')).filter(
    ({ stem }) => !EMPTY_WORDS.has(stem) && !SECTION_WORDS.has(stem),
  );
  const named = words.filter(({ stem }) => subject.has(stem));
  const headed = [...stems(heading)].filter((stem) => !STOP_WORDS.has(stem) && !/^\d+$/u.test(stem));
  const share = headed.filter((stem) => named.some((one) => one.stem === stem)).length / Math.max(1, headed.length);
  if (verb === undefined && share < 0.5) return none;
  const others = words.filter(({ stem }) => !subject.has(stem));
  const chosen = rows.filter(({ cells }) => others.every(({ stem }) => stems(cells[0]).has(stem)));
  if (chosen.length === 0 || (others.length > 0 && verb === undefined)) return none;
  return { named: named.length + others.length + Number(verb !== undefined), rows: chosen };
}

interface QuestionWord {
  readonly text: string;
  readonly stem: string;
}

/** The words of a question but the first and stop words. */
function questionWords(question: string): readonly QuestionWord[] {
  return [...question.matchAll(/[\p{L}\p{N}]+(?:[-.:'’][\p{L}\p{N}]+)*/gu)]
    .slice(1)
    .map(([word]) => word.replace(/['’]s$/u, ''))
    .filter((word) => !STOP_WORDS.has(word.toLowerCase()))
    .map((text) => ({ text, stem: stemOf(text.toLowerCase()) }));
}

interface FoundRows {
  readonly text: string;
  readonly rows: readonly Row[];
  /** Nothing but their time chooses them. */
  readonly isOfTime: boolean;
}

function answerFrom(question: string, table: Table, time: AskedTime | null): FoundRows | null {
  const timed = time === null ? null : rowsInTime(table, time);
  const comparison = timed === null ? COMPARED.exec(question) : null;
  const untimed = comparison === null ? question : question.replace(comparison[0], ' ');
  const asked = timed !== null && time !== null ? time.bare : untimed;
  const read = readWords(asked, table, timed !== null);
  if (read === null) return null;
  const { column, key } = askedColumn(asked, table, read);
  let rows = matching(timed?.rows ?? table.rows, read.conditions);
  if (comparison !== null) {
    const numeric = column ?? table.columns.findIndex((_, at) => at !== key && isNumeric(table.rows, at));
    if (numeric < 0) return null;
    rows = rows.filter((row) => compares(row.cells[numeric] ?? '', comparison));
  }
  if (table.kind === 'records') {
    const isAbout = timed !== null || [...read.conditions.values()].some((columns) => columns.has(key));
    rows = isAbout ? rows.filter((row) => hasAll(row, [...read.conditions.keys()])) : [];
  }
  const isNarrowed = read.conditions.size > 0 || comparison !== null || timed !== null;
  const focus = FOCUS.exec(asked.trim())?.[1]?.toLowerCase();
  const isOf = (words: ReadonlySet<string>) => focus !== undefined && words.has(stemOf(focus));
  const timeColumn = timed?.column ?? monthColumn(table, read);
  // `What is due in December?` asks for what the rows are about.
  const isTime = timeColumn !== null && isOf(stems(table.columns[timeColumn]));
  // A list that is empty says so; other rows are no answer.
  if (rows.length === 0) return isTime && read.conditions.size === 0 ? { text: '', rows, isOfTime: true } : null;
  const value = computedValue({ asked, table, rows, read, column, key, isNarrowed });
  if (value !== undefined) return value;
  const isKey = isTime || isOf(table.subject) || isOf(stems(table.columns[key]));
  if (!isNarrowed || table.kind === 'list' || (column === null && !isKey)) return null;
  const shown = column === null || (isKey && column !== null) ? key : column;
  const values = valuesOf(rows, shown);
  const isTooMany = !isTime && values.length > MAX_OF_ONE && ASKS_FOR_ONE.test(asked.trim());
  return values.length === 0 || isTooMany ? null : { text: joined(values), rows, isOfTime: isTime };
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
    if (rows.length === 1) return answer(cells[0] ?? '');
    const sum = cells.map(numberOf).reduce((total, value) => total + value, 0);
    const value = Number((AVERAGE.test(asked) ? sum / cells.length : sum).toFixed(2));
    return answer(`${value}${unitOf(cells)}`);
  }
  if (counted !== null) {
    const isOfTable = table.subject.has(noun) || stems(table.columns[key]).has(noun) || COUNTED.has(noun);
    if (!isOfTable && !(isNarrowed && read.conditions.has(noun))) return null;
    return isNarrowed || read.named.length > 0 ? answer(String(rows.length)) : null;
  }
  const isMost = MOST.test(asked);
  if (!isMost && !LEAST.test(asked)) return undefined;
  if (column === null || !(isNumber || isDated(table.rows, column))) return null;
  const sorted = rows.toSorted((a, b) => order(a.cells[column] ?? '', b.cells[column] ?? ''));
  const best = isMost ? sorted.at(-1) : sorted[0];
  return best === undefined ? null : answer(best.cells[key] ?? '', [best]);
}

const FOCUS =
  /^(?:which|what|who|was|welche[rs]?)\s+(?:(?:is|are|were|was|ist|sind)\s+)?(?:(?:the|my|our)\s+)?(\p{L}+)/iu;

function cellsAt(rows: readonly Row[], at: number): readonly string[] {
  return rows.map((row) => row.cells[at] ?? '').filter((cell) => cell !== '');
}

function valuesOf(rows: readonly Row[], at: number): readonly string[] {
  return [...new Set(cellsAt(rows, at))];
}

/** The unit behind all numbers; '' when they have none or several. */
function unitOf(cells: readonly string[]): string {
  const [unit = '', ...others] = new Set(cells.map((cell) => /\s?(?:\p{L}+|[%$€£])$/u.exec(cell)?.[0] ?? ''));
  return others.length === 0 ? unit : '';
}

function hasAll({ cells }: Row, wanted: readonly string[]): boolean {
  const words = new Set(cells.flatMap((cell) => [...stems(cell)]));
  return wanted.every((stem) => words.has(stem));
}

/** The column of dates whose month a question names. */
function monthColumn({ rows }: Table, { conditions }: ReadWords): number | null {
  for (const month of MONTH_NAMES) {
    const [column, ...others] = conditions.get(stemOf(month)) ?? [];
    if (column !== undefined && others.length === 0 && isDated(rows, column)) return column;
  }
  return null;
}

/** A time that chooses rows by their dates, and the question without it. */
interface AskedTime extends TimeWindow {
  readonly bare: string;
  readonly isOverdue: boolean;
}

const OVERDUE = /\b(?:overdue|past due|überfällig\p{L}*)/iu;
const TIME_PREPOSITION =
  /(?:\b(?:before|prior to|until|till|up to|by|after|since|from|in|on|during|within|at|vor|bis|nach|seit|im|am)\s+(?:the\s+|dem\s+)?)$/iu;
const BOUND = /\b(?:before|prior to|until|till|up to|by|after|since|from|vor|bis|nach|seit)\s+(?:the\s+|dem\s+)?$/iu;
const FUTURE = /\b(?:due|deadlines?|expires?|next|upcoming|will|must|have to|has to|fällig)\b/iu;
const DAY_MS = 86_400_000;

/** Reads the time that a question names; null for a month alone, which any year has. */
function readTime(question: string, now?: Date): AskedTime | null {
  if (now !== undefined && OVERDUE.test(question)) {
    const until = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
    return { from: null, until, bare: question.replace(OVERDUE, 'due'), isOverdue: true };
  }
  const { timeWindow } = analyseQuery(question, now === undefined ? {} : { now });
  const mention = dates(question, now)[0];
  if (timeWindow === null || mention === undefined || COMPARES_NUMBERS.test(question)) return null;
  const before = question.slice(0, mention.start);
  const isAnyYear = mention.isRelative && mention.precision === 'month' && /^\p{L}+$/u.test(mention.text);
  if (isAnyYear && !BOUND.test(before)) return null;
  const bare = `${before.replace(TIME_PREPOSITION, '')}${question.slice(mention.end)}`;
  const { from, until } = timeWindow;
  const isPast = isAnyYear && from === null && until !== null && now !== undefined && until <= now;
  const end = isPast && FUTURE.test(question) ? new Date(until) : until;
  if (end !== until) end?.setUTCFullYear(end.getUTCFullYear() + 1);
  return { from, until: end, bare, isOverdue: false };
}

const COMPARES_NUMBERS = /\b(?:(?:more|fewer|less) than|over|above|under|below|at least|at most)\s+[$€£]?\d/iu;
const TIME_COLUMN = /^(?:due|deadline|date|day|start|when|month|fällig|datum)\b/iu;
/** Values of what needs nothing more. */
const DONE = /^(?:done|paid|closed|completed?|finished|cancell?ed|resolved|erledigt|bezahlt|✓)$/iu;

/** Returns the rows with a date in a time, and the column that has it; null for a table without dates. */
function rowsInTime({ columns, rows }: Table, { from, until, bare, isOverdue }: AskedTime) {
  const dated = columns.flatMap((name, at) => (name !== '' && isDated(rows, at) ? [{ name, at }] : []));
  const asked = new Set(questionWords(bare).map(({ stem }) => stem));
  const chosen =
    dated.find(({ name }) => [...stems(name)].some((stem) => asked.has(stem))) ??
    dated.find(({ name }) => TIME_COLUMN.test(name)) ??
    dated[0];
  if (chosen === undefined) return null;
  const isIn = (cell: string) => {
    const day = dayOfCell(cell);
    return day !== undefined && (from === null || day >= from) && (until === null || day < until);
  };
  const isOpen = ({ cells }: Row) => !isOverdue || !cells.some((cell) => DONE.test(cell));
  return { rows: rows.filter((row) => isIn(row.cells[chosen.at] ?? '') && isOpen(row)), column: chosen.at };
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
}

/** Returns null when the question names something that the table does not have. */
function readWords(question: string, table: Table, isInTime: boolean): ReadWords | null {
  const conditions = new Map<string, Set<number>>();
  const named: string[] = [];
  const others: string[] = [];
  // A description has words of anything: it is no value by which rows are chosen.
  const isValue = (cell: string) => table.kind === 'list' || wordsOf(cell).length <= MAX_VALUE_WORDS;
  const cells = table.rows.map((row) => row.cells.map((cell) => stems(isValue(cell) ? cell : '')));
  const columnNames = table.columns.map(stems);
  const field = FIELDS.find(([asks, names]) => asks.test(question) && table.columns.some((name) => names.test(name)));
  for (const { text, stem } of questionWords(
    question.replace(field?.[0] ?? '', (words) => `${words.split(' ')[0]} `),
  )) {
    const lower = text.toLowerCase();
    if (field?.[0].test(lower) === true) continue;
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
  const isEmpty = (word: string) =>
    EMPTY_WORDS.has(stemOf(word)) || (/^(?:where|when)\b/iu.test(question) && EVENT_WORDS.has(stemOf(word)));
  const unknown = others.filter(
    (word) =>
      !isEmpty(word) &&
      !columnNames.some((names) => names.has(stemOf(word))) &&
      likeColumn(word, table.columns) < LIKE_COLUMN,
  );
  if (unknown.length > (table.kind === 'records' ? 0 : 1) || (unknown.length > 0 && conditions.size === 0 && !isInTime))
    return null;
  return { conditions, named, others };
}

/** Fields that are asked for by other words than their names; the first match counts. */
const FIELDS: readonly (readonly [asks: RegExp, names: RegExp])[] = (
  [
    [
      'attend(?:s|ed|ing)?|participat(?:es?|ed|ing)|takes? part|took part|(?:is|was) invited',
      'attendees?|participants?|guests?|present',
    ],
    ['organi[sz](?:es?|ed|ing)|host(?:s|ed)?', 'organi[sz]ers?|hosts?'],
    ['responsible(?: for)?|in charge(?: of)?', 'owner|responsible|assignee|assigned to|who|person'],
    ['(?:(?:tele)?phone|mobile|cell)(?: number)?|telefonnummer', 'phone|telephone|tel|mobile|cell|telefon|mobil'],
    ['e-?mail(?: address)?', 'e-?mail'],
    ['job|position|profession|role|work as', 'role|title|job|position'],
    ['employer|company|works? (?:for|at)', 'organi[sz]ation|company|employer'],
    ['born|birthday', 'birthday|born|date of birth'],
  ] as const
).map(([asks, names]) => [new RegExp(`\\b(?:${asks})\\b`, 'iu'), new RegExp(`^(?:${names})$`, 'iu')]);
/** Fields that the first word of a question asks for. */
const FIELDS_OF_FIRST: typeof FIELDS = [
  [/^(?:where|wo)\b/iu, /^(?:city|country|region|location|place|(?:office )?address|town|venue|room|ort)$/iu],
  [/^(?:who|wer)\b(?! (?:is|was) \p{Lu})/iu, /^(?:owner|responsible|assignee|assigned to|who|person)$/iu],
  [/^who (?:is|was) \p{Lu}/iu, /^(?:role|title|job|position)$/iu],
];
/** Verbs of what takes place somewhere. */
const EVENT_WORDS = wordSet('take place happen start begin leave depart held meet scheduled planned');

function likeColumn(word: string, columns: readonly string[]): number {
  const words = columns.flatMap((column) => wordsOf(column.replaceAll('_', ' ')));
  return Math.max(0, ...words.map((other) => wordTable().similarity(word, other)));
}

/** Scores of a column that a word of the question asks for, and its first word alone. */
const FIELD_SCORE = { word: 0.95, first: 0.6 } as const;
const AMOUNT = /^how (?:much|many)\b/iu;
const DATED_QUESTION = /^(?:when|wann)\b|\b(?:what|which) (?:date|day|year)\b/iu;

/** Returns the column that the question asks for, and the one that names the rows. */
function askedColumn(question: string, { columns, rows }: Table, { conditions, others }: ReadWords) {
  const named = columns.findIndex((column) => NAMING.test(column));
  const key = Math.max(0, named);
  const isUsed = (at: number) => [...conditions.values()].some((of) => of.size === 1 && of.has(at));
  const isField = (fields: typeof FIELDS, name: string) =>
    fields.some(([asks, names]) => asks.test(question) && names.test(name));
  const onlyNumber = columns.filter((_, at) => at !== key && isNumeric(rows, at)).length === 1;
  let column: number | null = null;
  let best = LIKE_COLUMN;
  for (const [at, name] of columns.entries()) {
    if (name === '' || isUsed(at) || (AMOUNT.test(question) && isDated(rows, at))) continue;
    const words = wordsOf(name.replaceAll('_', ' '));
    let score = Math.max(
      0,
      ...others.map((word) =>
        words.some((other) => stemOf(other) === stemOf(word))
          ? 1
          : Math.max(0, ...words.map((other) => wordTable().similarity(word, other))),
      ),
    );
    if (at !== key && DATED_QUESTION.test(question) && isDated(rows, at)) score += FIELD_SCORE.first;
    if (at !== key && isField(FIELDS, name)) score = Math.max(score, FIELD_SCORE.word);
    if (at !== key && isField(FIELDS_OF_FIRST, name)) score = Math.max(score, FIELD_SCORE.first);
    if (AMOUNT.test(question) && isNumeric(rows, at)) score += 0.2;
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

function dayOfCell(cell: string): Date | undefined {
  const [, year, month = '01', day = '01'] = ISO_DATE.exec(cell) ?? [];
  return year === undefined ? dates(cell)[0]?.from : new Date(`${year}-${month}-${day}`);
}

const ISO_DATE = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:[T ].*)?$/u;
const MONTH_NAMES = MONTHS.toLowerCase().split('|');

const DATE = new RegExp(
  `^\\d{4}(?:-\\d\\d){0,2}(?:[ T]\\d\\d:\\d\\d.*)?$|^\\d{1,2}[./]\\d{1,2}[./]\\d{2,4}$|^\\d{1,2}\\.? (?:${MONTHS})(?: \\d{4})?$|^(?:${MONTHS}) \\d{1,2}(?:, \\d{4})?$`,
  'iu',
);
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
