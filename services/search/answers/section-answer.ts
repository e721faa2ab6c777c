import { dates } from '../../common/text/language/dates.ts';
import { STOP_WORDS } from '../../common/text/language/stop-words.ts';
import { stems } from './table-cells.ts';
import { EMPTY_WORDS, questionWords, wordSet } from './table-columns.ts';
import type { Row, Table } from './table-rows.ts';

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
  'last latest newest recent first earliest oldest section step steps point points noted listed made take taken agenda minutes meeting about steht stehen gibt auf der die das dem den im am zu zum zur für mein meine meiner meinem unsere unserer unserem alles need needs want buy bring pack left still open missing done already finished completed',
);
/** Asks for one thing or how many there are, which a list does not say. */
const ASKS_FOR_ITEMS = /^(?:which|what|list|show|name|was|welche|liste|zeige?|who (?:has|have|needs?) to)\b/iu;

/** A mark of an item, and what asks for those that have it or do not. */
const TICKED = /^\[[xX]\]/u;
const MARK = /^\[[ xX]\]\s+/u;
const ASKS_FOR_TICKED = /\b(?:done|already|finished|completed|bought)\b/iu;
const ASKS_FOR_OPEN = /\b(?:need|needs|to do|to-?dos?|left|still|open|missing|remaining|(?:have|has|had) to)\b/iu;

/** The items that a question asks for, of a list with marks of what is done, without the marks. */
function ofMark(question: string, rows: readonly Row[]): readonly Row[] {
  const isTicked = ({ cells }: Row) => TICKED.test(cells[0] ?? '');
  const hasMarks = rows.some(({ cells }) => MARK.test(cells[0] ?? ''));
  if (!hasMarks) return rows;
  const chosen = ASKS_FOR_OPEN.test(question)
    ? rows.filter((row) => !isTicked(row))
    : ASKS_FOR_TICKED.test(question)
      ? rows.filter(isTicked)
      : rows;
  return chosen.map((row) => ({ ...row, cells: row.cells.map((cell) => cell.replace(MARK, '')) }));
}

const ASKS_FOR_LATEST = /\b(?:last|latest|newest|most recent)\b/iu;
const ASKS_FOR_EARLIEST = /\b(?:first|earliest|oldest)\b/iu;

/** The last or first item of a list whose items begin with their days, when a question asks for that one. */
function ofOrder(question: string, rows: readonly Row[]): readonly Row[] {
  const isLatest = ASKS_FOR_LATEST.test(question);
  if (rows.length < 2 || (!isLatest && !ASKS_FOR_EARLIEST.test(question))) return rows;
  const dated = rows.map((row) => ({ row, day: dates(row.cells[0] ?? '')[0] }));
  if (dated.some(({ day }) => day === undefined || day.start > MAX_BEFORE_DAY)) return rows;
  const ordered = dated.toSorted((a, b) => (a.day?.from.getTime() ?? 0) - (b.day?.from.getTime() ?? 0));
  return [ordered.at(isLatest ? -1 : 0)?.row].filter((row) => row !== undefined);
}

/** Characters before the day of an item: those of an emphasis or of the day of the week. */
const MAX_BEFORE_DAY = 12;

/** Returns the lists whose headings a question names, with the items that it asks for: `What does Ada have to do?` */
export function sectionsNamed(question: string, tables: readonly Table[]): readonly Table[] {
  if (!ASKS_FOR_ITEMS.test(question.trim())) return [];
  const found = tables
    .filter(({ kind }) => kind === 'list')
    .map((table) => ({ table, ...readSection(question, table) }));
  const most = Math.max(0, ...found.map(({ named }) => named));
  if (most === 0) return [];
  return found
    .filter(({ named }) => named === most)
    .map(({ table, rows }) => ({ ...table, rows: ofOrder(question, ofMark(question, rows)) }));
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
