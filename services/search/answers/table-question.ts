import { stemOf } from '../../common/text/language/tokenize.ts';
import { wordsOf } from './question.ts';
import { flagOf, isDated, isNumeric, MONTH_NAMES, stems } from './table-cells.ts';
import { columnStems, type ReadWords, readWords } from './table-columns.ts';
import { columnNamed } from './table-conditions.ts';
import { NAMING, type Row, type Table } from './table-rows.ts';

export const NUMBER_WORDS = new Map(
  'two zwei dos,three drei tres,four vier cuatro,five fünf cinco,six,seven,eight,nine,ten'
    .split(',')
    .flatMap((words, at) => words.split(' ').map((word) => [word, at + 2] as const)),
);

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
export function namesRows(word: string, table: Table): boolean {
  if (table.subject.has(stemOf(word))) return true;
  if (PEOPLE.test(word)) return isOfPersons(table);
  return false;
}

export interface Read extends ReadWords {
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
export function readRest(rest: string, table: Table, isInTime = false): Read | null {
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
export function rowsWith(rows: readonly Row[], { conditions, flags }: ReadWords): readonly Row[] {
  const isHeld = ({ cells }: Row) =>
    [...conditions].every(([stem, columns]) => [...columns].some((at) => stems(cells[at]).has(stem))) &&
    [...flags].every(([at, is]) => flagOf({ cells }, at) === is);
  return rows.filter(isHeld);
}

/** The column that names the rows. */
export function keyOf({ columns, rows }: Table): number {
  const named = columns.findIndex((column) => NAMING.test(column));
  if (named >= 0) return named;
  return Math.max(
    0,
    columns.findIndex((_, at) => !isDated(rows, at) && !isNumeric(rows, at)),
  );
}
