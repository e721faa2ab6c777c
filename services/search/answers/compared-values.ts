import type { Said, SaidOfSide } from './compared-sides.ts';
import { countsOf, type Measure, quantitiesIn } from './measures.ts';
import { contentWords } from './question.ts';
import { datesOf, saidAt, timesOfSentence } from './sentence-times.ts';
import { isSaid } from './slots.ts';
import { MONTHS } from './spans.ts';

/** A value from one amount to another, of things that can be compared only in the same unit. */
interface Value {
  readonly from: number;
  readonly until: number;
  readonly unit: string;
  /** A day of a month without its year. */
  readonly isYearless?: boolean;
}

/** Half a year: `2 May` and `10 May` are days of one year, also when one is taken as past and the other as to come. */
const HALF_YEAR_MS = 183 * 86_400_000;

function inOneYear([one, other]: readonly [ReadValue, ReadValue]): readonly [ReadValue, ReadValue] {
  const distance = one.value.from - other.value.from;
  const isFar = Math.abs(distance) > HALF_YEAR_MS && Math.abs(distance) < 3 * HALF_YEAR_MS;
  if (!isFar || one.value.isYearless !== true || other.value.isYearless !== true) return [one, other];
  const moved = ({ value, said }: ReadValue): ReadValue => {
    const by = (time: number) => new Date(time).setUTCFullYear(new Date(time).getUTCFullYear() - 1);
    return { said, value: { ...value, from: by(value.from), until: by(value.until) } };
  };
  return distance > 0 ? [moved(one), other] : [one, moved(other)];
}

interface ReadValue {
  readonly value: Value;
  readonly said: SaidOfSide;
}

/** Returns values of both sides that can be compared, from the surest sentences; null without them. */
export function pairOf(measure: Measure, said: Said): readonly [ReadValue, ReadValue] | null {
  const kinds: readonly Measure[] =
    measure.kind === 'quantity'
      ? measure.dimensions.map((dimension) => ({ kind: 'quantity', dimensions: [dimension] }))
      : [measure];
  for (const kind of kinds) {
    const [first, second] = [valuesOf(kind, said[0]), valuesOf(kind, said[1])];
    for (const one of first) {
      const other = second.find(({ value }) => value.unit === one.value.unit);
      if (other !== undefined) return inOneYear([one, other]);
    }
  }
  return null;
}

/** Returns the values of a measure that are told of a side, from the surest sentence on. */
export const valuesOf = (measure: Measure, said: readonly SaidOfSide[]): readonly ReadValue[] =>
  said.flatMap((one) => {
    const value = valueIn(measure, one);
    return value === null ? [] : [{ value, said: one }];
  });

function valueIn(measure: Measure, said: SaidOfSide): Value | null {
  if (measure.kind === 'origin') return originIn(said);
  if (measure.kind === 'time') return timeIn(measure.verbs, said);
  const read = (text: string) =>
    measure.kind === 'quantity' ? quantitiesIn(text, measure.dimensions) : countsOf(text, measure.noun);
  const found = read(said.part)[0] ?? leftBefore(read(said.before));
  return found === undefined ? null : { from: found.amount, until: found.amount, unit: found.unit };
}

/** The last of several values before a side; the first one is that of the side before. */
const leftBefore = <Found>(found: readonly Found[]) => (found.length > 1 ? found.at(-1) : undefined);

const BEGUN =
  /\b(?:born|came into the world|birth(?:day)?|founded|founding|established|formed|created|creation|invented|incorporated|set up|originat\p{L}*|built|constructed|launched|opened|started|began|introduced|released|published|inception|dates? (?:from|back)|since|made)\b|\*|\(/iu;
const YEARS_OLD =
  /\b(\d{1,3})[ -]years?[ -]old\b|\b(?:aged?|turned|turns|is(?: now| already| just)?) (\d{1,3})\b(?! ?(?:\p{Ll}+s\b|%|[.,:]\d|kg|cm|km|m\b))/iu;
const YEAR_MS = 365.2425 * 86_400_000;

/** When a side was born or begun: by a date behind a word for it or in brackets behind the name, or by its age. */
export function originIn(said: SaidOfSide): Value | null {
  if (
    said.sureness < 2 &&
    /^(?:Her|His|Their|Its) /u.test(said.statement.text) &&
    !/^(?:Her|His|Their|Its) (?:birthday|founding)/u.test(said.statement.text)
  )
    return null;
  const begun = BEGUN.exec(said.part);
  // `Atlas was set up in 2021, Boreas in 2019.`
  const isElliptic =
    begun === null && said.before !== '' && BEGUN.test(said.before) && !/\b(?:is|was|has|had)\b/u.test(said.part);
  const at = begun?.index ?? (isElliptic ? 0 : -1);
  const date =
    at < 0 ? undefined : (datesOf(said, said.part.slice(at))[0] ?? datesOf(said, said.part.slice(0, at)).at(-1));
  if (date !== undefined) return { from: date.from.getTime(), until: date.until.getTime(), unit: 'origin' };
  const age = YEARS_OLD.exec(said.part)?.slice(1).find(Boolean);
  if (age === undefined) return null;
  const now = saidAt(said.passage).getTime();
  return { from: now - (Number(age) + 1) * YEAR_MS, until: now - Number(age) * YEAR_MS, unit: 'origin' };
}

const DUE =
  /^(?:due|finish|finished|deadline|deliver|delivered|end|ends|ended|expire|expires|pay|paid|complete|completed|ready|submit|submitted|done|hand|renew)/u;
const SAYS_DUE =
  /\b(?:due|deadline|by|until|till|before|expires?|ends?|ended|must|finish\p{L}*|deliver\p{L}*|complet\p{L}*|submi\p{L}*|paid|payable)\b/iu;

/** When what a question asks of a side was so. */
export function timeIn(verbs: readonly string[], said: SaidOfSide): Value | null {
  const { text } = said.statement;
  const words = contentWords(text);
  const isDue = verbs.some((verb) => DUE.test(verb)) && SAYS_DUE.test(text);
  const isTold =
    verbs.length === 0 || isDue || verbs.some((verb) => isSaid(verb, words)) || verbs.every((verb) => LIGHT.test(verb));
  if (!isTold) return null;
  const date = datesOf(said, said.part)[0] ?? leftBefore(datesOf(said, said.before));
  const time = date ?? timesOfSentence(said)[0];
  if (time === undefined) return null;
  const isYearless = date?.isRelative === true && DAY_OF_MONTH.test(date.text);
  return { from: time.from.getTime(), until: time.until.getTime(), unit: 'time', isYearless };
}

const DAY_OF_MONTH = new RegExp(`\\b(?:${MONTHS})\\b`, 'u');

/** Verbs of which any sentence about a side with a date tells. */
const LIGHT = /^(?:visit|visited|be|been|see|travel|come|happen|happened|take|place|meet|read)$/u;
