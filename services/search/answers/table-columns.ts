import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordTable } from '../../common/text/words/word-table.ts';
import { readQuestion, wordsOf } from './question.ts';
import { relativesLike } from './relatives.ts';
import { hasAll, isDated, isFlag, isNumeric, stems } from './table-cells.ts';
import { NAMING, type Row, type Table } from './table-rows.ts';
import { likenessToRoles } from './word-kinds.ts';

/** Words of questions that say nothing of a row. */
export const EMPTY_WORDS = wordSet(
  'many much list show name number count total sum average mean there have has had own use live work run cost pay paid people person thing item entry row all called most highest largest biggest greatest newest latest longest maximum least lowest smallest fewest cheapest oldest earliest shortest minimum more fewer less than over above under below before after since until things items entries rows last latest recent first expensive',
);

export function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' ').map(stemOf));
}

const ID =
  /^(?!.*(?:phone|mobile|fax|house|room|account|contact))(?:.*[ _.-])?(?:id|nr|no|number|nummer|isbn|sku)\.?$|\p{L}{3}(?:nr|nummer)$/iu;
const CAMEL_ID = /\p{Ll}(?:Id|ID|Nr|No|Number)$/u;
/** Whether the values of a column tell its rows apart. */
export const isIdColumn = (name = ''): boolean => ID.test(name) || CAMEL_ID.test(name);

export const LIKE_COLUMN = 0.5;
const MAX_VALUE_WORDS = 8;
/** Asks for an amount of money over all rows that fit. */
export const MONEY =
  /\bhow much\b.*\b(?:spend|spent|earn|earned|save|saved)\b|\bhow much (?:\p{L}+ )?(?:do|did|are|is)\b.*\b(?:costs?|pay|owe|due)\b/iu;

/** Asks for the value of one thing. */
export const ASKS_FOR_ONE = /^(?:what|which|who)\s+(?:is|was)\b/iu;

interface QuestionWord {
  readonly text: string;
  readonly stem: string;
}

/** The words of a question but the first and stop words. */
export function questionWords(question: string): readonly QuestionWord[] {
  // `in IT` is no pronoun, and `Hall A` no article, except where all is in capitals.
  const isMixed = /\p{Ll}/u.test(question);
  return [...question.matchAll(/[\p{L}\p{N}]+(?:[-.:'’][\p{L}\p{N}]+)*/gu)]
    .slice(1)
    .map(([word]) => word.replace(/['’]s$/u, ''))
    .filter(
      (word) => !STOP_WORDS.has(word.toLowerCase()) || word === 'May' || (isMixed && /^(?!I$)\p{Lu}+$/u.test(word)),
    )
    .map((text) => ({ text, stem: stemOf(text.toLowerCase()) }));
}

export interface ReadWords {
  /** Words that cells contain, with their columns. */
  readonly conditions: ReadonlyMap<string, ReadonlySet<number>>;
  /** Words of the table's name. */
  readonly named: readonly string[];
  /** Other words, which may name a column. */
  readonly others: readonly string[];
  /** Those of them that name nothing of the table. */
  readonly unknown: readonly string[];
  /** Whether the columns of yes and no that the question names must say yes: `paid`, `not paid`. */
  readonly flags: ReadonlyMap<number, boolean>;
  /** Stems of the conditions that are names or numbers. */
  readonly names: ReadonlySet<string>;
}

/** `is not paid`, `has n't been paid`; `unpaid` says it itself. */
const NEGATED = /(?:\b(?:not|never|no|without)|n['’]t)\b(?: (?:been|be|yet|an?|the|any|\p{L}+ly))* ?$/iu;
const PREFIX = /^(?:un|non-?)(?=\p{L}{3})/u;

/** Returns null when the question names something that the table does not have. */
export function readWords(question: string, table: Table, isInTime: boolean): ReadWords | null {
  const conditions = new Map<string, Set<number>>();
  const named: string[] = [];
  const others: string[] = [];
  const flags = new Map<number, boolean>();
  const names = new Set<string>();
  // A description has words of anything: it is no value by which rows are chosen.
  const isValue = (cell: string) => table.kind === 'list' || wordsOf(cell).length <= MAX_VALUE_WORDS;
  const cells = table.rows.map((row) => row.cells.map((cell) => stems(isValue(cell) ? cell : '')));
  const columnNames = table.columns.map(columnStems);
  const field = FIELDS.find(([asks, names]) => asks.test(question) && table.columns.some((name) => names.test(name)));
  if (field === undefined && lacksField(question, table, cells)) return null;
  const asked = questionWords(question.replace(field?.[0] ?? '', (words) => `${words.split(' ')[0]} `));
  for (const [place, { text, stem: written }] of asked.entries()) {
    const lower = text.toLowerCase();
    if (field?.[0].test(lower) === true) continue;
    // `Mum` asks for the row of the mother.
    const isHeld = (one: string) => cells.some((row) => row.some((words) => words.has(one)));
    const stem = isHeld(written) ? written : (relativesLike(lower).map(stemOf).find(isHeld) ?? written);
    if (table.subject.has(stem)) {
      named.push(stem);
      continue;
    }
    const isPrefixed = PREFIX.test(lower);
    const flag = /^how much\b/iu.test(question)
      ? -1
      : table.columns.findIndex(
          (_, at) =>
            isFlag(table.rows, at) &&
            (columnNames[at]?.has(stem) === true ||
              (isPrefixed && columnNames[at]?.has(stemOf(lower.replace(PREFIX, ''))) === true)),
        );
    if (flag >= 0) {
      const isNegated = NEGATED.test(question.slice(0, question.indexOf(text)));
      // `do not include VAT` has two words for one column.
      if (flags.get(flag) !== false)
        flags.set(flag, isNegated === (isPrefixed && columnNames[flag]?.has(stem) !== true));
      continue;
    }
    if (columnNames.some((names) => names.has(stem))) {
      others.push(lower);
      continue;
    }
    const columns = new Set(cells.flatMap((row) => row.flatMap((words, column) => (words.has(stem) ? [column] : []))));
    if (columns.size > 0) {
      conditions.set(stem, columns);
      if (/^[\p{Lu}\p{N}]/u.test(text)) names.add(stem);
      // `order 4712` says what the number identifies.
      const isId = [...columns].some((at) => isIdColumn(table.columns[at]));
      if (isId && place > 0 && others.at(-1) === asked[place - 1]?.text.toLowerCase()) others.pop();
    } else if (/^[\p{Lu}\p{N}]/u.test(text)) return null;
    else others.push(lower);
  }
  const isEmpty = (word: string) =>
    EMPTY_WORDS.has(stemOf(word)) || (/^(?:where|when|how long)\b/iu.test(question) && EVENT_WORDS.has(stemOf(word)));
  const unknown = others.filter(
    (word) =>
      !isEmpty(word) &&
      !columnNames.some((names) => names.has(stemOf(word))) &&
      likeColumn(word, table.columns) < LIKE_COLUMN,
  );
  if (asksForOther(question, table, unknown, conditions)) return null;
  // `When is the meeting with Henrik?` of one of bookings
  const event = WHEN_IS.exec(question)?.[1]?.toLowerCase() ?? '';
  if (others.includes(event) && !columnNames.some((names) => names.has(stemOf(event)))) return null;
  if (
    unknown.length > (table.kind === 'records' ? 0 : 1) ||
    (unknown.length > 0 && conditions.size + flags.size === 0 && !isInTime)
  )
    return null;
  return { conditions, named, others, unknown, flags, names };
}

/** Whether a question asks for something that a table does not have, by the words that neither its cells nor columns have. */
function asksForOther(
  question: string,
  table: Table,
  unknown: readonly string[],
  conditions: ReadonlyMap<string, ReadonlySet<number>>,
): boolean {
  const focus = ASKS_FOR_ONE.test(question) ? readQuestion(question).focus : null;
  // `What is the default timeout?` asks nothing of a table without one.
  if (focus !== null && unknown.includes(focus)) return true;
  // Neither does `Where is Mia's dog?` of one without dogs, nor `When did we sell it?` of one of what was bought.
  const [, owner = '', owned = ''] = OWNED.exec(question) ?? [];
  if (unknown.some((word) => word === owned || relativesLike(word).length > 0)) return true;
  if (unknown.length > 0 && DATED_QUESTION.test(question)) return true;
  // Neither does `Who chaired the last meeting?` of one without meetings.
  if (unknown.includes(ONE_OF_SERIES.exec(question)?.[1]?.toLowerCase() ?? '')) return true;
  // `a contested divorce` is no other one.
  const isOther = ([, word = '', of = '']: readonly string[]) =>
    unknown.includes(word.toLowerCase()) && conditions.has(stemOf(of.toLowerCase()));
  if ([...question.matchAll(MODIFIED)].some(isOther)) return true;
  // `Joaquim's sister` is neither his brother nor my sister.
  const pair = [owner.toLowerCase(), owned].map(stemOf);
  const isPair = pair.every((stem) => conditions.has(stem));
  return isPair && !table.rows.some((row) => hasAll(row, pair));
}

/** What a question asks for the last or first of. */
const ONE_OF_SERIES = /\b(?:last|latest|first|most recent|next|previous) (\p{Ll}+)/iu;

/** A noun with a word that tells which one. */
const MODIFIED = /\b(?:an?|the|my|our|your) (\p{Ll}+) (\p{L}+)/gu;

const WHEN_IS = /^when (?:is|was|will) (?:the|our|my) (?:\p{Ll}+ )?(\p{Ll}+) (?:with|of|at|for)\b/iu;

/** What belongs to somebody with a name: `dog` of `Mia's dog`. */
const OWNED =
  /(\p{Lu}[\p{L}-]+)(?:['’]s|(?<=s)['’]) (?:\p{Ll}+ )*?(\p{Ll}+)(?=\?|$| (?:is|was|do|does|did|has|had|in|at|on)\b)/u;

/** Whether a question asks for a field that a table has neither as a column nor in its cells: `attends`. */
function lacksField(question: string, table: Table, cells: readonly (readonly ReadonlySet<string>[])[]): boolean {
  return (
    !AMOUNT.test(question) &&
    FIELDS.some(([asks]) => {
      const word = asks.exec(question)?.[0].toLowerCase().split(' ')[0];
      if (word === undefined) return false;
      const isHeld = (words: ReadonlySet<string>) => words.has(stemOf(word));
      return (
        !isHeld(table.subject) &&
        !table.columns.some((name) => isHeld(stems(name))) &&
        !cells.some((row) => row.some(isHeld))
      );
    })
  );
}

/** Fields that are asked for by other words than their names; the first match counts. */
export const FIELDS: readonly (readonly [asks: RegExp, names: RegExp])[] = (
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
    ['born|birthday|how old', 'birthday|born|date of birth'],
    ['receives|gets', 'receivers?|recipients?'],
  ] as const
).map(([asks, names]) => [new RegExp(`\\b(?:${asks})\\b`, 'iu'), new RegExp(`^(?:${names})$`, 'iu')]);
/** Fields of cards that nothing else tells. */
const CARD_FIELDS: typeof FIELDS = (
  [
    ['(?:tele)?phone number|mobile number|phone of', 'phone|telephone|tel|mobile|cell|fax|contact'],
    ['e-?mail address', 'e-?mail|mail|contact'],
    ['birthday|date of birth', 'birthday|born|dob|birth'],
    ['(?:home|postal|street|private) address', 'address|street|home|city'],
  ] as const
).map(([asks, names]) => [
  new RegExp(`\\b(?:${asks})\\b`, 'iu'),
  new RegExp(`(?:^|, )[^:,]{0,30}\\b(?:${names})[^:,]{0,30}: `, 'iu'),
]);
const RECORD = /^[^,:.]{1,40}: [^\n]*?, [^,:]{1,40}: /u;

/** Whether a text is a record without the field that a question asks for, or of nobody whom it names. */
export function isRecordWithout(question: string, text: string): boolean {
  const field = CARD_FIELDS.find(([asks]) => asks.test(question));
  if (field === undefined || !RECORD.test(text)) return false;
  const names = question.match(/(?<=\s)\p{Lu}[\p{L}-]+/gu) ?? [];
  // Nor is it told by the card of somebody else.
  return !field[1].test(text) || (names.length > 0 && !names.some((name) => text.includes(name)));
}

export const HOW_LONG = /^(?:how long|wie lange)\b/iu;
/** Fields that the first word of a question asks for. */
const FIELDS_OF_FIRST: typeof FIELDS = [
  [/^(?:where|wo)\b/iu, /^(?:city|country|region|location|place|(?:office )?address|town|venue|room|ort)$/iu],
  [/^(?:[Ww]ho|[Ww]er)\b(?! (?:is|was|ist|war) \p{Lu})/u, /^(?:owner|responsible|assignee|assigned to|who|person)$/iu],
  [HOW_LONG, /\b(?:duration|length|dauer|duración|durée)$/iu],
  [
    /^how (?:much|many)\b/iu,
    /^(?:amount|quantity|qty|pieces|units|count|stück|piezas|pièces|menge|anzahl|cantidad|quantité)$/iu,
  ],
  [/^(?:[Ww]ho|[Ww]er) (?:is|was|ist|war) \p{Lu}/u, /^(?:role|title|job|position)$/iu],
];
/** Verbs of what takes place somewhere. */
const EVENT_WORDS = wordSet('take last place happen start begin leave depart held meet scheduled planned');

const COMPOUND = /^(\p{L}{4,}?)s?(nr|nummer|name|datum|preis|betrag|bestand)$/u;

/** Stems of the name of a column; `driver` is also the one who drives. */
export function columnStems(name: string): ReadonlySet<string> {
  const words = wordsOf(name.replace(/(?<=\p{Ll})(?=\p{Lu})|[_.]/gu, ' '));
  const doers = words.filter((word) => /.{3}[eo]r$/u.test(word));
  // `Artikelnr`, `Kaufdatum`
  const compounds = words.flatMap((word) => COMPOUND.exec(word)?.slice(1, 3) ?? []);
  return new Set([
    ...stems(name),
    ...[...words, ...compounds].map(stemOf),
    ...doers.flatMap((word) => [word.slice(0, -1), word.slice(0, -2)].map(stemOf)),
  ]);
}

export function likeColumn(word: string, columns: readonly string[]): number {
  const words = columns.flatMap((column) => wordsOf(column.replaceAll('_', ' ')));
  return Math.max(0, ...words.map((other) => wordTable().similarity(word, other)));
}

/** Scores of a column that a word of the question asks for, its first word alone, and each more of its words. */
const FIELD_SCORE = { word: 0.95, first: 0.6, more: 0.1 } as const;
const AMOUNT = /^how (?:much|many)\b/iu;
const ASKS_FOR_AMOUNT = /^(?:how (?:much|many)|what (?:is|was|are|were))\b/iu;
const BIRTHDAY = /\b(?:birthday|born|date of birth|how old|age|geburtstag|geboren|cumpleaños)\b/iu;
const STARTS = /^(?:start|begin|date|day|when|from|beginn|inicio)/iu;
/** Asks for a price, and for no amount of a thing: `how much milk`. */
const HOW_MUCH = /^how much (?:is|was|are|were|do|does|did|will|would|for)\b/iu;
/** Amounts that are no prices. */
const EARNED = /\b(?:income|revenue|profit|sales|turnover|deposit|discount)\b/iu;
/** Likeness of the name of a column to words for persons. */
const MIN_ROLE = 0.4;
export const MONEY_COLUMN =
  /^(?:\p{L}+ )?(?:price|cost|fee|amount|sum|total|rent|charge|salary|wage|deposit|preis|betrag|kosten|precio|prix)s?\b|\b(?:EUR|USD|GBP|CHF)\b|[€$£]/iu;
export const DATED_QUESTION = /^(?:when|wann)\b|\b(?:what|which) (?:date|day|year)\b/iu;

/** Returns the column that the question asks for, and the one that names the rows. */
export function askedColumn(question: string, { columns, rows }: Table, read: ReadWords) {
  const { conditions, named: ofTable } = read;
  const named = columns.findIndex((column) => NAMING.test(column));
  const key = Math.max(
    0,
    named >= 0 ? named : columns.findIndex((_, at) => !isDated(rows, at) && !isNumeric(rows, at)),
  );
  const isUsed = (at: number) => [...conditions.values()].some((of) => of.size === 1 && of.has(at));
  const isField = (fields: typeof FIELDS, name: string) =>
    fields.some(([asks, names]) => asks.test(question) && names.test(name));
  const onlyNumber = columns.filter((_, at) => at !== key && isNumeric(rows, at)).length === 1;
  // `Hall` of `Hall A` asks for nothing.
  const others = read.others.filter(
    (word) => !columns.some((name, at) => isUsed(at) && columnStems(name).has(stemOf(word))),
  );
  let column: number | null = null;
  const isPossible = mayAnswer(question);
  const isOfPrice = HOW_MUCH.test(question) && others.every((word) => EMPTY_WORDS.has(stemOf(word)));
  const isPerson = /^who\b/iu.test(question);
  let best = LIKE_COLUMN;
  for (const [at, name] of columns.entries()) {
    if (name === '' || isUsed(at) || isFlag(rows, at) || !isPossible(rows, at)) continue;
    if (HOW_LONG.test(question) && rows.every(({ cells }) => !/\d/u.test(cells[at] ?? ''))) continue;
    const names = columnStems(name);
    // `breed` is like `adopted`, and names nobody.
    const isLikeEnough = !isPerson || wordsOf(name).some((word) => likenessToRoles(word) >= MIN_ROLE);
    const like = (word: string) => (isLikeEnough ? likeColumn(word, [name]) : 0);
    let score = Math.max(0, ...others.map((word) => (names.has(stemOf(word)) ? 1 : like(word))));
    // `Atlas admin` before `Atlas API`
    score += FIELD_SCORE.more * Math.max(0, others.filter((word) => names.has(stemOf(word))).length - 1);
    // A birthday is the day of nothing else.
    if (BIRTHDAY.test(name) && !BIRTHDAY.test(question)) continue;
    if (at !== key && DATED_QUESTION.test(question) && isDated(rows, at))
      score += FIELD_SCORE.first + (STARTS.test(name) ? FIELD_SCORE.more : 0);
    if (at !== key && isField(FIELDS, name)) score = Math.max(score, FIELD_SCORE.word);
    if (at !== key && isField(FIELDS_OF_FIRST, name)) score = Math.max(score, FIELD_SCORE.first);
    if (at !== key && isPerson && wordsOf(name).some((word) => likenessToRoles(word) >= MIN_ROLE))
      score = Math.max(score, FIELD_SCORE.first);
    if (isOfPrice && MONEY_COLUMN.test(name) && !EARNED.test(name) && isNumeric(rows, at))
      score = Math.max(score, FIELD_SCORE.first);
    // `rent` of a sheet of rents
    if (ASKS_FOR_AMOUNT.test(question) && isNumeric(rows, at) && ofTable.some((stem) => names.has(stem)))
      score = Math.max(score, FIELD_SCORE.first);
    if (AMOUNT.test(question) && isNumeric(rows, at)) score += 0.2;
    if (MONEY.test(question) && isNumeric(rows, at) && onlyNumber) score += LIKE_COLUMN;
    if (score > best) [column, best] = [at, score];
  }
  return { column: column ?? columnOfMost(question, { columns, rows }), key };
}

/** Returns whether the cells of a column may be what a question asks for: no place is a number, and no amount is a name. */
export function mayAnswer(question: string): (rows: readonly Row[], at: number) => boolean {
  const { type } = readQuestion(question);
  if (type === 'place' || type === 'person') return (rows, at) => !isDated(rows, at) && !isNumeric(rows, at);
  if (!AMOUNT.test(question)) return () => true;
  return (rows, at) => !isDated(rows, at) && rows.some(({ cells }) => /\d/u.test(cells[at] ?? ''));
}

/** Words for the most or least, and the columns whose values they compare. */
const COMPARED_COLUMNS: readonly (readonly [asks: RegExp, names: RegExp])[] = [
  [
    /\b(?:largest|biggest|highest|smallest|lowest|most expensive|cheapest|dearest)\b/iu,
    /(?:amount|total|price|cost|sum|fee|value|betrag|preis|kosten)\b/iu,
  ],
  [/\b(?:longest|shortest)\b/iu, /(?:hours|minutes|days|duration|length|distance|dauer|länge)\b/iu],
];

function columnOfMost(question: string, { columns, rows }: Pick<Table, 'columns' | 'rows'>): number | null {
  const names = COMPARED_COLUMNS.find(([asks]) => asks.test(question))?.[1];
  const at = names === undefined ? -1 : columns.findIndex((name, index) => names.test(name) && isNumeric(rows, index));
  return at < 0 ? null : at;
}

/** Returns the rows that contain, of the words of each column, the most that any row does. */
export function matching(rows: readonly Row[], conditions: ReadWords['conditions']): readonly Row[] {
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
