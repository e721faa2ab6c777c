import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordsOf } from './question.ts';
import {
  compares,
  flagOf,
  isDated,
  isFlag,
  isNamedIn,
  isNumeric,
  MONTH_NAMES,
  numberOf,
  order,
  stems,
} from './table-cells.ts';
import { columnStems, FIELDS, isIdColumn, MONEY_COLUMN, matching, type ReadWords, readWords } from './table-columns.ts';
import { NAMING, type Row, type Table } from './table-rows.ts';
import { readTime, rowsInTime } from './table-times.ts';

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

/** Columns of what adjectives compare. */
const MEASURES = {
  length:
    /\b(?:nights?|days?|hours?|minutes?|weeks?|months?|duration|length|distance|km|dauer|länge|nächte|tage|noches|días|duración)\b/iu,
  height: /\b(?:heights?|höhe|größe|altura)\b/iu,
  weight: /\b(?:weights?|kg|gewicht|peso)\b/iu,
  age: /\b(?:age|alter|edad)\b/iu,
  speed: /\b(?:speed|geschwindigkeit|velocidad)\b/iu,
} as const;

interface Order {
  readonly isMost: boolean;
  readonly of: 'money' | 'time' | 'tenure' | 'number' | 'named' | keyof typeof MEASURES;
}

const ORDERS: readonly (readonly [RegExp, Order])[] = [
  [/\b(?:most expensive|dearest|priciest|costliest|teuerste[nrms]?|más car[oa]s?)\b/iu, { isMost: true, of: 'money' }],
  [/\b(?:more expensive|dearer|teurer|más car[oa])\b/iu, { isMost: true, of: 'money' }],
  [
    /\b(?:least expensive|cheapest|billigste[nrms]?|günstigste[nrms]?|más barat[oa]s?)\b/iu,
    { isMost: false, of: 'money' },
  ],
  [/\b(?:less expensive|cheaper|billiger|günstiger)\b/iu, { isMost: false, of: 'money' }],
  [
    /\b(?:earns?|costs?|owes?|spends?|spent|paid|kostete?|verdient)\s+(?:the\s+|am\s+)?(?:more|most|mehr|meisten)\b/iu,
    { isMost: true, of: 'money' },
  ],
  [
    /\b(?:earns?|costs?|owes?|spends?|spent|paid|kostete?|verdient)\s+(?:the\s+|am\s+)?(?:less|least|weniger|wenigsten)\b/iu,
    { isMost: false, of: 'money' },
  ],
  [
    /\b(?:newest|latest|most recent(?:ly)?|last|newer|neueste[nrms]?|letzte[nrms]?|zuletzt|últim[oa]s?|más recientes?)\b/iu,
    { isMost: true, of: 'time' },
  ],
  [
    /\b(?:oldest|earliest|older|earlier|first|älteste[nrms]?|früheste[nrms]?|erste[nrms]?|zuerst|primer[oa]?s?|más antigu[oa]s?)\b/iu,
    { isMost: false, of: 'time' },
  ],
  [/\b(?:been|worked|working|belonged|stayed)\b.*\blong(?:est|er)\b/iu, { isMost: false, of: 'tenure' }],
  [
    /\b(?:largest|biggest|highest|greatest|maximum|larger|bigger|higher|greater|größte[nrms]?|höchste[nrms]?|mayor(?:es)?|más altos?)\b/iu,
    { isMost: true, of: 'number' },
  ],
  [
    /\b(?:smallest|lowest|minimum|smaller|lower|kleinste[nrms]?|niedrigste[nrms]?|wenigsten|menor(?:es)?)\b/iu,
    { isMost: false, of: 'number' },
  ],
  [/\b(?:tallest|taller|höchste[nrms]?)\b/iu, { isMost: true, of: 'height' }],
  [/\b(?:heaviest|heavier|schwerste[nrms]?)\b/iu, { isMost: true, of: 'weight' }],
  [/\b(?:lightest|lighter|leichteste[nrms]?)\b/iu, { isMost: false, of: 'weight' }],
  [/\b(?:fastest|faster|schnellste[nrms]?)\b/iu, { isMost: true, of: 'speed' }],
  [/\b(?:longest|longer|längste[nrms]?)\b/iu, { isMost: true, of: 'length' }],
  [/\b(?:shortest|shorter|kürzeste[nrms]?)\b/iu, { isMost: false, of: 'length' }],
  [/\bmost\b/iu, { isMost: true, of: 'named' }],
  [/\b(?:least|fewest)\b/iu, { isMost: false, of: 'named' }],
];

/** Whether the words of an order are of the name of a column: `first` of `First registered`. */
function isOfColumn(words: string, question: string, columns: readonly string[]): boolean {
  const at = question.toLowerCase().indexOf(words.toLowerCase());
  const next = wordsOf(question.slice(at + words.length))[0] ?? '';
  return columns.some((name) =>
    ` ${wordsOf(name.replaceAll('_', ' ')).join(' ')} `.includes(` ${words.toLowerCase()} ${next} `),
  );
}

function readOrder(question: string): (Order & { readonly words: string }) | null {
  for (const [words, found] of ORDERS) {
    const match = words.exec(question);
    if (match !== null) return { ...found, words: match[0] };
  }
  return null;
}

const PAY_COLUMN = /(?:salary|wage|pay|income|gehalt|lohn|sueldo|salario|salaire)/iu;
const PAY_WORDS = /\b(?:earn\p{L}*|verdien\p{L}*|gana\p{L}*|salar\p{L}+)\b/iu;
const ENTRY_COLUMN = /\b(?:hired?|joined|eintritt\p{L}*|einstellung\p{L}*|entry|member since|alta|ingreso)\b/iu;
const SINCE_COLUMN =
  /\b(?:since|hired?|joined|start\p{L}*|entry|seit|eintritt\p{L}*|einstellung\p{L}*|desde|alta|ingreso|from)\b/iu;

/** Returns the column by which rows are ordered: the one that the question names, else the only one of the kind. */
function columnOfOrder(question: string, table: Table, { of }: Order, others: readonly string[]): number | null {
  const { columns, rows } = table;
  const isTime = of === 'time' || of === 'tenure';
  const isOfKind = (at: number) =>
    isTime
      ? isDated(rows, at) && !isIdColumn(columns[at]) && rows.some(({ cells }) => cells[at] !== '')
      : isNumeric(rows, at) && !isIdColumn(columns[at]);
  const possible = columns.flatMap((name, at) => (name !== '' && isOfKind(at) ? [at] : []));
  const isNamed = (at: number) => others.some((word) => columnStems(columns[at] ?? '').has(stemOf(word)));
  const [named] = possible.filter(isNamed);
  if (named !== undefined || of === 'named') return named ?? null;
  if (Object.hasOwn(MEASURES, of)) {
    const measure = MEASURES[of as keyof typeof MEASURES];
    return possible.find((at) => measure.test((columns[at] ?? '').replaceAll('_', ' '))) ?? null;
  }
  if (isTime)
    return (
      possible.find((at) => SINCE_COLUMN.test(columns[at] ?? '')) ?? (of === 'tenure' ? null : (possible[0] ?? null))
    );
  const kind = PAY_WORDS.test(question) ? PAY_COLUMN : MONEY_COLUMN;
  const money = possible.find((at) => kind.test(columns[at] ?? ''));
  if (money !== undefined) return money;
  return of === 'number' && possible.length === 1 ? (possible[0] ?? null) : null;
}

const HOW_MANY =
  /\b(?:how many|wie viele|cuánt[oa]s|combien de)\b|(?<=^|\b(?:the|total)\s)(?:number|count|anzahl) (?:of|der)\b|^count\b/iu;
const SUM = /\b(?:total|sum|altogether|in all|combined|gesamt\p{L}*|summe|insgesamt|suma)\b/iu;
const AVERAGE = /\b(?:average|mean|durchschnitt\p{L}*|promedio|media|moyenne)\b/iu;
const ASKS_FOR_LIST =
  /^(?:which|what|who|whose|list|show|name|give|welche[rsmn]?|wer|nenne|zeige?|liste|qué|quién(?:es)?|cuál(?:es)?)\b/iu;
const ORDINAL_COUNT =
  /\b(?:top\s+)?(\d{1,2}|two|three|four|five|six|seven|eight|nine|ten|zwei|drei|vier|fünf|dos|tres|cuatro|cinco)\s*$/iu;
const NUMBER_WORDS = new Map(
  'two zwei dos,three drei tres,four vier cuatro,five fünf cinco,six,seven,eight,nine,ten'
    .split(',')
    .flatMap((words, at) => words.split(' ').map((word) => [word, at + 2] as const)),
);
const BOUND =
  /(?:\b(?:costs?|costing|that|which|is|are|of|exceeds?|exceeding)\s+)?\b(more than|over|above|at least|exceed(?:s|ing)?|fewer than|less than|under|below|at most|mehr als|über|unter|weniger als|mindestens|höchstens|más de|menos de)\s+((?:[$€£]\s?|EUR\s|USD\s)?\d[\d.,]*\d|\d)\s?(?:€|[$£]|%|EUR\b|USD\b|GBP\b|euros?\b|dollars?\b|pounds?\b|pieces\b|units\b|stück\b)?/iu;
const ENGLISH_BOUNDS: Readonly<Record<string, string>> = {
  'mehr als': 'more than',
  über: 'over',
  'más de': 'more than',
  unter: 'under',
  'weniger als': 'less than',
  'menos de': 'less than',
  mindestens: 'at least',
  höchstens: 'at most',
  exceeds: 'over',
  exceed: 'over',
  exceeding: 'over',
};
const WITHOUT =
  /\b(?:no|nobody|no one|not|without(?: an?y?)?|missing(?: an?)?|lacks?(?: an?)?|kein\p{L}*|ohne|sin)\s+(\p{L}[\p{L}-]*)(?:\s(address|number|date))?/iu;
const PER = /\b(?:per|by|for each|in each|of each|for every|in every|je|pro|por)\s+(\p{L}+)/iu;

/** Words that say of a row only that it is one. */
const LIGHT = new Set(
  'place order buy bought join hire start come go belong sell sold ship deliver issue write make register company team far all every each still currently contain include use need like assign give only both there ist sind am im auf in der die das den dem ein eine el la los las es son de del en liste zeige alle aller haben kunden wurde sind costs cost earn pay spend owe'
    .split(' ')
    .map(stemOf),
);

const PEOPLE =
  /^(?:employees?|staff|colleagues?|workers?|people|persons?|members?|coworkers?|mitarbeiter(?:in(?:nen)?)?|angestellten?|personen|empleados?|personas)$/iu;
const FULL_NAME = /^\p{Lu}[\p{L}.'’-]*(?: (?:\p{Ll}{1,3} )?\p{Lu}[\p{L}.'’-]*){1,3}$/u;

/** Whether the rows of a table are persons. */
function isOfPersons(table: Table): boolean {
  const key = keyOf(table);
  const names = table.rows.filter(({ cells }) => FULL_NAME.test(cells[key] ?? '')).length;
  return names * 2 > table.rows.length;
}

/** Whether a word is for the rows of a table: `employees` of persons, `products` of an inventory. */
function namesRows(word: string, table: Table): boolean {
  if (table.subject.has(stemOf(word))) return true;
  if (PEOPLE.test(word)) return isOfPersons(table);
  return false;
}

interface Read extends ReadWords {
  readonly weight: number;
}

/** `assigned to Dana Wills`, `checked by Leo` */
const OF_PERSON = /\b(\p{Ll}{4,}) (?:to|by) (\p{Lu}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*)*)/u;

/** Leaves out the light words of a question, except those that the table has. */
function withoutLight(rest: string, table: Table): string {
  const { subject, columns } = table;
  const isOfPeople = isOfPersons(table);
  const isOfTable = (stem: string) => subject.has(stem) || columns.some((name) => columnStems(name).has(stem));
  const [first = '', ...others] = rest.trim().split(/\s+/u);
  const isLight = (word: string) => {
    const stem = stemOf(word.replace(/[?.,]+$/u, '').toLowerCase());
    if (isOfTable(stem)) return false;
    return (/^\p{Ll}/u.test(word) && LIGHT.has(stem)) || (isOfPeople && PEOPLE.test(word.replace(/[?.,]+$/u, '')));
  };
  return [first, ...others.filter((word) => !isLight(word))].join(' ');
}

/** Reads what is left of a question; null when a word of it has nothing to do with the table. */
function readRest(rest: string, table: Table, isInTime = false): Read | null {
  const read = readWords(withoutLight(rest, table), table, isInTime);
  if (read === null || read.unknown.some((word) => !NUMBER_WORDS.has(word))) return null;
  const conditions = new Map<string, ReadonlySet<number>>();
  for (const [stem, columns] of read.conditions) {
    const dated = [...columns].filter((at) => isDated(table.rows, at)).toSorted((left, right) => left - right);
    const named = dated.find((at) =>
      read.others.some((word) => columnStems(table.columns[at] ?? '').has(stemOf(word))),
    );
    // The month of an invoice is not that in which it is due.
    conditions.set(
      stem,
      MONTH_NAMES.includes(stem) && dated.length > 1 ? new Set([named ?? (dated[0] as number)]) : columns,
    );
  }
  const owned = OF_PERSON.exec(rest);
  const owner = owned === null ? -1 : columnNamed('', owned[1] ?? '', table);
  // `assigned to Dana` asks for no ticket that Dana reported.
  if (owner >= 0 && !isNumeric(table.rows, owner))
    for (const word of wordsOf(owned?.[2] ?? ''))
      if (conditions.has(stemOf(word))) conditions.set(stemOf(word), new Set([owner]));
  const columnsNamed = read.others.filter((word) =>
    table.columns.some((name) => columnStems(name).has(stemOf(word))),
  ).length;
  return { ...read, conditions, weight: 2 * read.named.length + conditions.size + read.flags.size + columnsNamed };
}

/** All rows that have every word of the conditions. */
function rowsWith(rows: readonly Row[], { conditions, flags }: ReadWords): readonly Row[] {
  const isHeld = ({ cells }: Row) =>
    [...conditions].every(([stem, columns]) => [...columns].some((at) => stems(cells[at]).has(stem))) &&
    [...flags].every(([at, is]) => flagOf({ cells }, at) === is);
  return rows.filter(isHeld);
}

/** The column that names the rows. */
function keyOf({ columns, rows }: Table): number {
  const named = columns.findIndex((column) => NAMING.test(column));
  if (named >= 0) return named;
  return Math.max(
    0,
    columns.findIndex((_, at) => !isDated(rows, at) && !isNumeric(rows, at)),
  );
}

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

const OUT_OF_STOCK =
  /\b(?:out of stock|sold out|not (?:in stock|available)|nicht (?:auf lager|vorrätig|lieferbar)|ausverkauft|agotad[oa]s?)\b/iu;
const IN_STOCK = /\b(?:in stock|auf lager|vorrätig)\b/iu;
const STOCK_COLUMN = /\b(?:stock|inventory|on hand|available|\p{L}*bestand|existencias)\b/iu;

interface Conditions {
  readonly rest: string;
  readonly rows: readonly Row[];
  readonly count: number;
  readonly isInTime: boolean;
}

/** Takes missing values, bounds and times out of a question, and leaves the rows that fulfil them. */
function conditionsOf(question: string, table: Table, now: Date | undefined): Conditions | null {
  let rest = question;
  let rows = table.rows;
  let count = 0;
  const missing = WITHOUT.exec(rest);
  if (missing !== null) {
    const at = columnNamed(missing[0], missing[1] ?? '', table);
    if (at >= 0 && !isFlag(table.rows, at) && !isNumeric(table.rows, at)) {
      rows = rows.filter(({ cells }) => (cells[at] ?? '') === '');
      rest = rest.replace(missing[0], ' ');
      count++;
    }
  }
  const sold = OUT_OF_STOCK.exec(rest);
  const held = sold ?? IN_STOCK.exec(rest);
  const stock = held === null ? -1 : table.columns.findIndex((name) => STOCK_COLUMN.test(name.replaceAll('_', ' ')));
  if (held !== null && stock >= 0 && isNumeric(table.rows, stock)) {
    const isHeld = (cell: string) => cell !== '' && numberOf(cell) > 0 === (sold === null);
    rows = rows.filter(({ cells }) => isHeld(cells[stock] ?? ''));
    rest = rest.replace(held[0], ' ');
    count++;
  }
  const bound = BOUND.exec(rest);
  if (bound !== null) {
    const [whole, words = '', limit = ''] = bound;
    rest = rest.replace(whole, ' ');
    const asked = wordsOf(rest);
    const at = columnOfOrder(
      question,
      table,
      { isMost: true, of: /[€$£]|EUR|USD|euro|dollar|pound/iu.test(whole) ? 'money' : 'number' },
      asked,
    );
    if (at === null) return null;
    const isWithin = ({ cells }: Row) =>
      (cells[at] ?? '') !== '' && compares(cells[at] ?? '', ['', ENGLISH_BOUNDS[words.toLowerCase()] ?? words, limit]);
    rows = rows.filter(isWithin);
    count++;
  }
  const time = bound === null ? readTime(rest, now) : null;
  const timed = time === null || time.isOverdue ? null : rowsInTime({ ...table, rows: table.rows }, time);
  if (time !== null && !time.isOverdue && timed === null) return null;
  if (timed !== null && time !== null) {
    rows = rows.filter((row) => timed.rows.includes(row));
    rest = time.bare;
    count++;
  }
  return { rest, rows, count, isInTime: timed !== null };
}

/** Beginnings of this length are of one word: `assigned`, `assignee`. */
const ROOT = 5;

function columnNamed(words: string, noun: string, { columns }: Table): number {
  const stem = stemOf(noun.toLowerCase());
  const byName = columns.findIndex((name) => columnStems(name).has(stem));
  if (byName >= 0) return byName;
  const isOfRoot = (other: string) => stem.length >= ROOT && other.slice(0, ROOT) === stem.slice(0, ROOT);
  const byRoot = columns.findIndex((name) => [...columnStems(name)].some(isOfRoot));
  if (byRoot >= 0) return byRoot;
  const field = FIELDS.find(([asks]) => asks.test(words));
  return field === undefined ? -1 : columns.findIndex((name) => field[1].test(name));
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
