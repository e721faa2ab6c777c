import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordsOf } from './question.ts';
import { isDated, isNumeric } from './table-cells.ts';
import { columnStems, isIdColumn, MONEY_COLUMN } from './table-columns.ts';
import type { Table } from './table-rows.ts';

/** Columns of what adjectives compare. */
const MEASURES = {
  length:
    /\b(?:nights?|days?|hours?|minutes?|weeks?|months?|duration|length|distance|km|dauer|länge|nächte|tage|noches|días|duración)\b/iu,
  height: /\b(?:heights?|höhe|größe|altura)\b/iu,
  weight: /\b(?:weights?|kg|gewicht|peso)\b/iu,
  age: /\b(?:age|alter|edad)\b/iu,
  speed: /\b(?:speed|geschwindigkeit|velocidad)\b/iu,
} as const;

export interface Order {
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
export function isOfColumn(words: string, question: string, columns: readonly string[]): boolean {
  const at = question.toLowerCase().indexOf(words.toLowerCase());
  const next = wordsOf(question.slice(at + words.length))[0] ?? '';
  return columns.some((name) =>
    ` ${wordsOf(name.replaceAll('_', ' ')).join(' ')} `.includes(` ${words.toLowerCase()} ${next} `),
  );
}

export function readOrder(question: string): (Order & { readonly words: string }) | null {
  for (const [words, found] of ORDERS) {
    const match = words.exec(question);
    if (match !== null) return { ...found, words: match[0] };
  }
  return null;
}

const PAY_COLUMN = /(?:salary|wage|pay|income|gehalt|lohn|sueldo|salario|salaire)/iu;
const PAY_WORDS = /\b(?:earn\p{L}*|verdien\p{L}*|gana\p{L}*|salar\p{L}+)\b/iu;
export const ENTRY_COLUMN = /\b(?:hired?|joined|eintritt\p{L}*|einstellung\p{L}*|entry|member since|alta|ingreso)\b/iu;
const SINCE_COLUMN =
  /\b(?:since|hired?|joined|start\p{L}*|entry|seit|eintritt\p{L}*|einstellung\p{L}*|desde|alta|ingreso|from)\b/iu;

/** Returns the column by which rows are ordered: the one that the question names, else the only one of the kind. */
export function columnOfOrder(question: string, table: Table, { of }: Order, others: readonly string[]): number | null {
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
