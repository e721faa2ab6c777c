import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordsOf } from './question.ts';
import { flagOf, isDated, isNamedIn, isNumeric, numberOf, order, stems } from './table-cells.ts';
import { columnStems, isIdColumn, matching, type ReadWords, readWords } from './table-columns.ts';
import { type Conditions, columnNamed, conditionsOf } from './table-conditions.ts';
import { columnOfOrder, ENTRY_COLUMN, isOfColumn, type Order, readOrder } from './table-orders.ts';
import { keyOf, NUMBER_WORDS, namesRows, type Read, readRest, rowsWith } from './table-question.ts';
import { NAMING, type Row, type Table } from './table-rows.ts';

/** An answer that rows give by an operation; without rows when none fulfils the conditions of the question. */
export interface OperatedRows {
  readonly text: string;
  readonly rows: readonly Row[];
  /** The table of which no row fulfils the conditions. */
  readonly of?: Table;
}

interface Candidate extends OperatedRows {
  /** How much of the question is about the table. */
  readonly weight: number;
}

/**
 * Answers what takes more than one look at the rows: yes or no, the larger of two, groups and their sizes, the first few by a
 * value, missing values, bounds of numbers and dates. Every word of the question must be about the table; null else.
 */
export function operatedRows(question: string, tables: readonly Table[], now?: Date): OperatedRows | null {
  const found = tables.flatMap((table) =>
    table.kind === 'list' || table.rows.length < 2 ? [] : [inTable(question, table, now)],
  );
  const candidates = found.filter((one): one is Candidate => one !== null && one.weight > 0);
  const most = Math.max(0, ...candidates.map(({ weight }) => weight));
  return candidates.find(({ weight }) => weight === most) ?? null;
}

/** Whether a question may ask for an operation. */
export const asksForOperation = (question: string): boolean => YES_NO.test(question) || EITHER.test(question);

const YES_NO = /^(?:is|are|was|were|has|have|does|did|ist|sind|war|hat|haben|wurde|está|ha)\b/iu;
const EITHER =
  /[,:]\s*(?:the |der |die |das |el |la )?([^,:?]{2,60}?)\s+(?:or|oder|o)\s+(?:the |der |die |das |el |la )?([^,:?]{2,60}?)\s*\?*$/iu;

function inTable(question: string, table: Table, now: Date | undefined): Candidate | null {
  if (EITHER.test(question)) return eitherOf(question, table);
  if (YES_NO.test(question)) return yesOrNo(question, table);
  return chosenRows(question, table, now);
}

const HOW_MANY =
  /\b(?:how many|wie viele|cuánt[oa]s|combien de)\b|(?<=^|\b(?:the|total)\s)(?:number|count|anzahl) (?:of|der)\b|^count\b/iu;
const SUM = /\b(?:total|sum|altogether|in all|combined|gesamt\p{L}*|summe|insgesamt|suma)\b/iu;
const AVERAGE = /\b(?:average|mean|durchschnitt\p{L}*|promedio|media|moyenne)\b/iu;
const ASKS_FOR_LIST =
  /^(?:which|what|who|whose|list|show|name|give|welche[rsmn]?|wer|nenne|zeige?|liste|qué|quién(?:es)?|cuál(?:es)?)\b/iu;
const ORDINAL_COUNT =
  /\b(?:top\s+)?(\d{1,2}|two|three|four|five|six|seven|eight|nine|ten|zwei|drei|vier|fünf|dos|tres|cuatro|cinco)\s*$/iu;
const PER = /\b(?:per|by|for each|in each|of each|for every|in every|je|pro|por)\s+(\p{L}+)/iu;

const FOCUS =
  /^(?:which|what|whose|list|show|name|give me|welche[rsmn]?|qué|cuál(?:es)?)\s+((?:\p{L}+[ ,]+){0,5}\p{L}+)/iu;

/** Returns the column whose values are the answer: the one that the words behind `which` name, else that of the names. */
function shownColumn(question: string, table: Table, read: Read): { readonly at: number; readonly isNamed: boolean } {
  const key = keyOf(table);
  const words = wordsOf(FOCUS.exec(question.trim())?.[1] ?? '');
  const first = words.find(
    (word) =>
      !read.conditions.has(stemOf(word)) && !LEADING.test(word) && !NUMBER_WORDS.has(word) && readOrder(word) === null,
  );
  if (first === undefined) return { at: key, isNamed: false };
  const stem = stemOf(first);
  const id = table.columns.findIndex((name) => isIdColumn(name));
  const at = table.columns.findIndex((name) => columnStems(name).has(stem));
  const isSubject = namesRows(first, table);
  if (at >= 0 && at === id) return { at: NAMING.test(table.columns[key] ?? '') ? key : at, isNamed: true };
  if (isSubject) return { at: key, isNamed: true };
  return at >= 0 ? { at, isNamed: true } : { at: key, isNamed: false };
}

/** A name without figures: `Ann`, `Ann Petrie`, `Marlowe & Sons Ltd`. */
const NAME = /^(?!.*\d)\p{Lu}[\p{L}.'’-]*(?: |$)(?:\p{Ll}{1,3} |& )?(?:\p{Lu}|$)/u;

/** Whether a question asks who, and a column has no names. */
const isOfOthers = (question: string, { rows }: Table, at: number): boolean =>
  /^(?:who|wer|quién)\b/iu.test(question) && !rows.some(({ cells }) => NAME.test(cells[at] ?? ''));

const LEADING =
  /^(?:all|the|our|my|of|me|is|are|was|were|die|der|das|alle|most|least|has|have|had|unsere|los|las|todos|todas)$/iu;

function namesOf(rows: readonly Row[], at: number): string {
  return joined([...new Set(rows.map(({ cells }) => cells[at] ?? '').filter(Boolean))]);
}

const MAX_LENGTH = 120;

function joined(values: readonly string[]): string {
  let text = '';
  for (const [at, value] of values.entries()) {
    const next = text === '' ? value : `${text}, ${value}`;
    if (next.length > MAX_LENGTH && at > 0) return `${text} and ${values.length - at} more`;
    text = next;
  }
  return text;
}

function chosenRows(question: string, table: Table, now: Date | undefined): Candidate | null {
  const isCount = HOW_MANY.test(question);
  if (!isCount && !ASKS_FOR_LIST.test(question.trim()) && !SUM.test(question) && !AVERAGE.test(question))
    if (!/^(?:when|wann|cuándo)\b/iu.test(question)) return null;
  const conditions = conditionsOf(question, table, now);
  if (conditions === null) return null;
  const said = isCount ? null : readOrder(conditions.rest);
  const ordered = said === null || isOfColumn(said.words, conditions.rest, table.columns) ? null : said;
  const grouped = groupOf(question, conditions, table, ordered);
  if (grouped !== null) return grouped;
  const words = ordered === null ? null : conditions.rest.indexOf(ordered.words);
  const number = words === null ? null : ORDINAL_COUNT.exec(conditions.rest.slice(0, words).trimEnd());
  let rest = conditions.rest.replace(ordered?.words ?? '', ' ');
  if (number !== null) rest = rest.replace(number[0].trim(), ' ');
  rest = rest.replace(HOW_MANY, 'How many ').replace(AT_THE_FIRM, ' ');
  const isAdded = SUM.test(question) || AVERAGE.test(question);
  const read = readRest(isAdded ? rest.replace(SUM, ' ').replace(AVERAGE, ' ') : rest, table, conditions.isInTime);
  if (read === null) return null;
  const held = rowsWith(conditions.rows, read);
  const named = held.filter(({ cells }) => cells.some((cell) => cell.includes(' ') && isNamedIn(question, cell)));
  const rows = named.length > 0 ? named : held;
  const weight = read.weight + conditions.count;
  if (ordered !== null) return firstOf({ question, table, read, rows, ordered, weight, limit: countOf(number?.[1]) });
  if (isAdded) return added({ question, table, read, rows, weight });
  const isSubject = read.named.length > 0;
  if (isCount) {
    const isOfAll = conditions.count + read.conditions.size + read.flags.size === 0;
    return isOfAll || !countsRows(question, table) ? null : { text: String(rows.length), rows, of: table, weight };
  }
  const shown = shownColumn(question, table, read);
  if (isOfOthers(question, table, shown.at)) return null;
  // What is only chosen by its time may be of several tables.
  const isOnlyInTime = conditions.isInTime && read.weight - 2 * read.named.length === 0;
  if (
    (rows.length === 0 && (!(isSubject || (shown.isNamed && conditions.count > 0)) || isOnlyInTime)) ||
    (conditions.isInTime && isDated(table.rows, shown.at))
  )
    return null;
  if (!shown.isNamed && conditions.count === 0) return null;
  if (conditions.count + read.conditions.size + read.flags.size === 0 || (conditions.count === 0 && !isSubject))
    return null;
  if (!ASKS_FOR_LIST.test(question.trim())) return null;
  return { text: namesOf(rows, shown.at), rows, of: table, weight };
}

const COUNTED =
  /\b(?:how many|wie viele|cuánt[oa]s|number of|count of|anzahl der)\s+((?:\p{L}[\p{L}-]*\s+){0,3}?\p{L}[\p{L}-]*)(?=\s+(?:are|were|do|does|did|have|has|had|is|can|will|live|work|in|from|of|with|without|for|at|on|that|which|who|still|hat|haben|sind|gibt|hay|cost)\b|\s*\??$)/iu;

/** Whether what a question counts is what the rows of a table are: `customers`, `open invoices`. */
function countsRows(question: string, table: Table): boolean {
  const { columns, rows } = table;
  const word = wordsOf(COUNTED.exec(question)?.[1] ?? '').at(-1) ?? '';
  const noun = stemOf(word);
  const named = columns.findIndex((name) => columnStems(name).has(noun));
  if (named >= 0 && isNumeric(rows, named) && !isIdColumn(columns[named])) return false;
  return namesRows(word, table) || (named >= 0 && (isIdColumn(columns[named]) || named === keyOf(table)));
}

/** Places that all rows are of. */
const AT_THE_FIRM =
  /\bbeen\b|\b(?:in|at|for|with|of) (?:the|our|this) (?:company|firm|team|shops?|stores?|business|office|staff|list|table|file|sheet)\b/giu;

function countOf(word: string | undefined): number {
  return word === undefined ? 1 : (NUMBER_WORDS.get(word.toLowerCase()) ?? Number(word));
}

interface Chosen {
  readonly question: string;
  readonly table: Table;
  readonly read: Read;
  readonly rows: readonly Row[];
  readonly weight: number;
}

const ASKS_FOR_VALUE = /^(?:when|wann|cuándo|how much)\b/iu;

/** The first rows by a value: `Kaffeemühle Torino (1.149,00)`. */
function firstOf({
  question,
  table,
  read,
  rows,
  ordered,
  weight,
  limit,
}: Chosen & { readonly ordered: Order; readonly limit: number }): Candidate | null {
  const by = columnOfOrder(question, table, ordered, read.others);
  if (by === null) return null;
  const filled = rows.filter(({ cells }) => (cells[by] ?? '') !== '');
  const sorted = filled.toSorted((left, right) => order(left.cells[by] ?? '', right.cells[by] ?? ''));
  if (ordered.isMost) sorted.reverse();
  const last = sorted[limit - 1] ?? sorted.at(-1);
  if (last === undefined) return null;
  // As many as share the value of the last one.
  const isWithin = (row: Row, at: number) => at < limit || order(row.cells[by] ?? '', last.cells[by] ?? '') === 0;
  const best = sorted.filter(isWithin);
  const shown = shownColumn(question, table, read).at;
  if (isOfOthers(question, table, shown)) return null;
  const isValue = shown === by || ASKS_FOR_VALUE.test(question);
  const textOf = ({ cells }: Row) => {
    const [name = '', value = ''] = [cells[isValue ? keyOf(table) : shown], cells[by]];
    if (isValue) return best.length === 1 ? value : `${value} (${name})`;
    return `${name} (${value})`;
  };
  const isOfEntry = ordered.of === 'tenure' && ENTRY_COLUMN.test(table.columns[by] ?? '');
  return { text: joined(best.map(textOf)), rows: best, weight: weight + (isOfEntry ? 2 : 1) };
}

/** The sum or the mean of the numbers of a column. */
function added({ question, table, read, rows, weight }: Chosen): Candidate | null {
  const at = columnOfOrder(question, table, { isMost: true, of: 'number' }, read.others);
  const cells = at === null ? [] : rows.map(({ cells: { [at]: cell = '' } }) => cell).filter((cell) => cell !== '');
  if (at === null || cells.length < 1 || read.conditions.size + read.flags.size + read.named.length === 0) return null;
  return {
    text: `${sumOf(cells, AVERAGE.test(question))}${unitOfColumn(table.columns[at] ?? '', cells)}`,
    rows,
    weight: weight + 1,
  };
}

function sumOf(cells: readonly string[], isMean: boolean): string {
  const sum = cells.reduce((total, cell) => total + numberOf(cell), 0);
  const value = Number((isMean ? sum / cells.length : sum).toFixed(2));
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}

/** The unit of all cells, else the one behind the name of the column: `Amount (EUR)`. */
function unitOfColumn(name: string, cells: readonly string[]): string {
  const units = new Set(cells.map((cell) => /\s?(?:\p{L}+|[%$€£])$/u.exec(cell)?.[0] ?? ''));
  const [unit = ''] = units;
  if (units.size === 1 && unit !== '') return unit;
  const ofColumn = /\(([\p{L}€$£%]{1,4})\)$|\b(EUR|USD|GBP|CHF)$/u.exec(name);
  return ofColumn === null || units.size > 1 ? '' : ` ${ofColumn[1] ?? ofColumn[2]}`;
}

/** The column of the groups, a verb that names one (`who reported`), and the verb between both. */
const MOST_OF =
  /^(?:(?:in )?(?:which|what|welche[rs]?|qué)\s+(\p{L}+)\s+|(?:who|wer|quién)\s+(?!has|have|had|is|was|are|were|earns?|costs?|pays?|hat|ist)(\p{L}{5,})\s+)(?:(\p{L}+)\s+)?(?:(?:the|die|den)\s+)?(?:most|least|fewest|meisten|wenigsten)\b/iu;
const OFTEN = /\b(?:most|least) (?:often|frequently)\b|\bam (?:häufigsten|öftesten)\b/iu;

/** `Which city has the most customers?`, `How many customers per city?` */
function groupOf(
  question: string,
  { rest, rows, isInTime }: Conditions,
  table: Table,
  ordered: ReturnType<typeof readOrder>,
): Candidate | null {
  const per = PER.exec(rest);
  const most = ordered === null ? null : MOST_OF.exec(question.trim());
  const noun = per?.[1] ?? most?.[1] ?? most?.[2];
  if (noun === undefined) return null;
  const isOften = per === null && OFTEN.test(question);
  const at = columnNamed('', noun, table);
  if (
    at < 0 ||
    isNumeric(table.rows, at) ||
    new Set(table.rows.map(({ cells }) => cells[at])).size === table.rows.length
  )
    return null;
  const bare = rest
    .replace(per?.[0] ?? '', ' ')
    .replace(isOften ? OFTEN : (ordered?.words ?? ''), ' ')
    .replace(most?.[3] ?? '', ' ')
    .replace(AT_THE_FIRM, ' ')
    .replace(SUM, ' ')
    .replace(AVERAGE, ' ');
  const read = readRest(bare, table, isInTime);
  if (read === null || (read.named.length === 0 && ordered === null && !HOW_MANY.test(question) && !SUM.test(question)))
    return null;
  const groups = Map.groupBy(
    rowsWith(rows, read).filter(({ cells }) => (cells[at] ?? '') !== ''),
    ({ cells }) => cells[at] ?? '',
  );
  const isNamed = (column: number) =>
    column !== at && read.others.some((word) => columnStems(table.columns[column] ?? '').has(stemOf(word)));
  const isMoney = SUM.test(question) || AVERAGE.test(question) || /\bhow much\b/iu.test(question);
  const summed = table.columns.findIndex(
    (_, column) => isNumeric(table.rows, column) && isNamed(column) && !isIdColumn(table.columns[column]),
  );
  const value =
    summed >= 0
      ? summed
      : isMoney
        ? (columnOfOrder(question, table, { isMost: true, of: 'number' }, read.others) ?? -1)
        : -1;
  if (value < 0 && read.named.length === 0 && !isOften) return null;
  const cellsOf = (of: readonly Row[]) => of.map(({ cells }) => cells[value] ?? '').filter((cell) => cell !== '');
  const measured = [...groups].map(([name, of]) => ({
    name,
    of,
    size: value < 0 ? String(of.length) : sumOf(cellsOf(of), AVERAGE.test(question)),
  }));
  measured.sort((left, right) => Number(right.size) - Number(left.size));
  if (ordered !== null && !ordered.isMost) measured.reverse();
  const [first] = measured;
  if (first === undefined) return null;
  const best = ordered === null ? measured : measured.filter(({ size }) => size === first.size);
  const unit = value < 0 ? '' : unitOfColumn(table.columns[value] ?? '', cellsOf(table.rows));
  const text = joined(
    best.map(({ name, size }) => (ordered === null ? `${name}: ${size}${unit}` : `${name} (${size}${unit})`)),
  );
  return { text, rows: best.flatMap(({ of }) => of), weight: read.weight + 2 };
}

/** The rows that the words for names, numbers and keys choose, and the words that are said of them. */
function identified(
  read: Read,
  table: Table,
): { readonly row: Row; readonly said: ReadonlyMap<string, ReadonlySet<number>> } | null {
  const key = keyOf(table);
  const isKey = (at: number) => at === key || isIdColumn(table.columns[at]);
  const ofKey = new Map([...read.conditions].filter(([, columns]) => [...columns].some(isKey)));
  // `Is breakfast included for Henrik Dahl?` of bookings
  const [first] = [...read.conditions].find(([stem]) => read.names.has(stem))?.[1] ?? [];
  const ofName = new Map([...read.conditions].filter(([, columns]) => first !== undefined && columns.has(first)));
  const naming = ofKey.size > 0 ? ofKey : ofName;
  const rows = naming.size === 0 ? [] : rowsWith(table.rows, { ...read, conditions: naming, flags: new Map() });
  const [row] = rows;
  if (row === undefined || rows.length > 1) return null;
  return { row, said: new Map([...read.conditions].filter(([stem]) => !naming.has(stem))) };
}

/** `Is invoice 2031 paid?` */
function yesOrNo(question: string, table: Table): Candidate | null {
  if (/\b(?:not|n['’]t|any|or)\b/iu.test(question)) return null;
  const read = readRest(question, table);
  const found = read === null ? null : identified(read, table);
  if (read === null || found === null || read.unknown.length > 0) return null;
  const { row, said } = found;
  const weight = read.weight + 1;
  if (said.size === 0) {
    const [[at, is] = [-1, true], ...more] = read.flags;
    return at < 0 || more.length > 0 ? null : { text: flagOf(row, at) === is ? 'Yes' : 'No', rows: [row], weight };
  }
  const isSaid = [...said].every(([stem, columns]) => [...columns].some((at) => stems(row.cells[at]).has(stem)));
  if (isSaid) return { text: 'Yes', rows: [row], weight };
  const columns = new Set([...said.values()].flatMap((of) => [...of]));
  const [at] = columns;
  const value = at === undefined || columns.size > 1 ? '' : (row.cells[at] ?? '');
  return value === '' ? null : { text: `No (${value})`, rows: [row], weight };
}

/** `Who earns more, Ann or Lucía?` */
function eitherOf(question: string, table: Table): Candidate | null {
  const [whole, ...sides] = EITHER.exec(question) ?? [];
  const ordered = readOrder(question);
  if (whole === undefined || ordered === null) return null;
  const asked = question.replace(whole, ' ').replace(ordered.words, ' ');
  const others = wordsOf(asked);
  const by = columnOfOrder(question, table, ordered, others);
  if (by === null) return null;
  const rows = sides.map((side) => {
    const read = readWords(`Which ${side}`, table, false);
    if (read === null || read.unknown.length > 0) return undefined;
    return identified({ ...read, weight: 0 }, table)?.row ?? onlyOf(matching(table.rows, read.conditions), read);
  });
  const [one, other] = rows;
  if (one === undefined || other === undefined || one === other) return null;
  const values = [one, other].map(({ cells }) => cells[by] ?? '');
  const difference = order(values[0] ?? '', values[1] ?? '');
  const key = keyOf(table);
  const said = [one, other].map(({ cells }, at) => `${cells[key]}: ${values[at]}`).join('; ');
  if (values.includes('')) return null;
  if (difference === 0) return { text: `The same (${said})`, rows: [one, other], weight: 3 };
  const best = difference > 0 === ordered.isMost ? one : other;
  return { text: `${best.cells[key]} (${said})`, rows: [one, other], weight: 3 };
}

function onlyOf(rows: readonly Row[], { conditions }: ReadWords): Row | undefined {
  return rows.length === 1 && conditions.size > 0 ? rows[0] : undefined;
}
