import { dates } from '../language/dates.ts';
import { isKnownPlace, isNumberedPlace } from './compare-values.ts';
import type { StatementValue } from './statement.ts';

/** The form of a predicate's values; `any`: no fixed form. */
export type ValueForm = 'name' | 'place' | 'quantity' | 'date' | 'number' | 'any';

const NAME =
  /^(?:the )?[\p{Lu}\p{N}][\p{L}\p{N}&.'’-]*(?: (?:of|de|van|von|der|la|&|[\p{Lu}\p{N}][\p{L}\p{N}&.'’-]*)){0,5}$/u;
const MAIL = /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/u;
const ADDRESS = /^(?:https?:\/\/|www\.)[^\s]+$/iu;
const VERSION = /^v?\d+(?:\.\d+){1,3}(?:-[\w.]+)?$/iu;
const TELEPHONE = /^\+?[\d\s()./-]{6,24}$/u;
const MAX_WORDS = 5;

/** The value that a text gives; null when it is none of that form, or more than one. */
export function readValue(text: string, form: ValueForm): StatementValue | null {
  const value = text.trim();
  if (value === '' || value.length > 120) return null;
  switch (form) {
    case 'name':
      return NAME.test(value) ? words(value) : null;
    case 'place':
      return readPlace(value);
    case 'quantity':
      return readQuantity(value);
    case 'date':
      return readDate(value);
    case 'number':
      return TELEPHONE.test(value) && /\d{3}/u.test(value)
        ? { kind: 'code', code: value.replace(/[^\d+]/gu, '') }
        : null;
    case 'any':
      return readAny(value);
  }
}

function readAny(value: string): StatementValue | null {
  const date = readDate(value);
  if (date !== null) return date;
  if (MAIL.test(value) || ADDRESS.test(value)) return { kind: 'code', code: value.toLowerCase().replace(/\/$/u, '') };
  if (VERSION.test(value)) return { kind: 'code', code: value.toLowerCase().replace(/^v/u, '') };
  const quantity = readQuantity(value);
  if (quantity !== null) return quantity;
  // Digits that were no number after all: something that is not understood.
  if (/^[\d$€£¥]/u.test(value) || /[,;:()]/u.test(value)) return null;
  return value.split(/\s+/u).length <= MAX_WORDS ? words(value) : null;
}

function words(value: string): StatementValue | null {
  const found =
    value
      .toLowerCase()
      .replaceAll(/['’]/gu, '')
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const named = found.filter((word, at) => at > 0 || !/^(?:the|an?)$/u.test(word));
  return named.length === 0 ? null : { kind: 'words', words: named };
}

/** `Munich, Germany`, `the Netherlands`, `Room 12`. */
function readPlace(value: string): StatementValue | null {
  const parts = value.split(/\s*,\s*/u);
  if (parts.length > 3 || !parts.every((part) => NAME.test(part) || isNumberedPlace(part.toLowerCase()))) return null;
  return { kind: 'place', parts: parts.map((part) => part.toLowerCase().replace(/^the /u, '').replaceAll('.', '')) };
}

/** Whether a name is a place for certain: `moved to Berlin`, and not to marketing. */
export function isPlace(value: string): boolean {
  const read = readPlace(value);
  return read?.kind === 'place' && read.parts.some((part) => isKnownPlace(part));
}

/** The whole text is one date. */
function readDate(value: string): StatementValue | null {
  if (!/\d/u.test(value) || /^\d{1,4}$/u.test(value)) return null;
  const [date, ...others] = dates(value);
  if (date === undefined || others.length > 0) return null;
  const around = (value.slice(0, date.start) + value.slice(date.end)).trim();
  if (around !== '' || /^(?:decade|century|span)$/u.test(date.precision)) return null;
  return { kind: 'date', from: date.from.toISOString(), until: date.until.toISOString() };
}

const CURRENCY_SIGNS: Readonly<Record<string, string>> = { $: 'usd', '€': 'eur', '£': 'gbp', '¥': 'jpy' };
/** Factor and base unit. */
const UNITS = new Map<string, readonly [factor: number, unit: string]>();
for (const [unit, entries] of Object.entries({
  usd: { usd: 1, dollar: 1, dollars: 1 },
  eur: { eur: 1, euro: 1, euros: 1 },
  gbp: { gbp: 1 },
  jpy: { jpy: 1, yen: 1 },
  chf: { chf: 1 },
  byte: { b: 1, bytes: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12, pb: 1e15 },
  second: {
    ms: 1e-3,
    millisecond: 1e-3,
    milliseconds: 1e-3,
    s: 1,
    sec: 1,
    second: 1,
    seconds: 1,
    min: 60,
    minute: 60,
    minutes: 60,
    h: 3600,
    hour: 3600,
    hours: 3600,
    day: 86_400,
    days: 86_400,
    week: 604_800,
    weeks: 604_800,
  },
  // No number of days is a month.
  month: { month: 1, months: 1, year: 12, years: 12 },
  metre: {
    mm: 1e-3,
    cm: 1e-2,
    m: 1,
    meter: 1,
    meters: 1,
    metre: 1,
    metres: 1,
    km: 1e3,
    kilometers: 1e3,
    kilometres: 1e3,
    kilometer: 1e3,
    kilometre: 1e3,
  },
  foot: { ft: 1, foot: 1, feet: 1, miles: 5280, mile: 5280 },
  gram: { g: 1, gram: 1, grams: 1, kg: 1e3, kilogram: 1e3, kilograms: 1e3, t: 1e6, tonnes: 1e6, tons: 1e6 },
  percent: { '%': 1, percent: 1 },
  people: { people: 1, inhabitants: 1, employees: 1, users: 1, members: 1, seats: 1, items: 1, units: 1, requests: 1 },
})) {
  for (const [name, factor] of Object.entries(entries)) UNITS.set(name, [factor, unit]);
}
const MULTIPLES: ReadonlyMap<string, number> = new Map(
  Object.entries<number>({
    k: 1e3,
    thousand: 1e3,
    million: 1e6,
    m: 1e6,
    billion: 1e9,
    bn: 1e9,
  }),
);

const QUANTITY =
  /^(?<sign>[$€£¥])? ?(?<number>-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?)(?<multiple> ?(?:thousand|million|billion|bn)|k|m(?= ?(?:dollars|euros|usd|eur)\b))?(?: ?(?<unit>%|\p{L}+))?(?:(?: (?:per|an?) |\/)(?<per>\p{L}+))?$/iu;

/** A number with its unit, in words that are understood to the last one. */
function readQuantity(value: string): StatementValue | null {
  const groups = QUANTITY.exec(value)?.groups;
  if (groups === undefined) return null;
  const digits = (groups['number'] ?? '').replaceAll(',', '');
  const multiple = MULTIPLES.get((groups['multiple'] ?? '').trim().toLowerCase()) ?? 1;
  const unit = unitOf(groups['sign'], groups['unit']);
  if (unit === null) return null;
  const per = groups['per']?.toLowerCase();
  const scale = multiple * unit.factor;
  return {
    kind: 'quantity',
    amount: Number(digits) * scale,
    unit: per === undefined ? unit.name : `${unit.name} per ${per}`,
    step: stepOf(digits) * scale,
  };
}

function unitOf(sign: string | undefined, word: string | undefined): { factor: number; name: string } | null {
  const currency = sign === undefined ? undefined : CURRENCY_SIGNS[sign];
  if (word === undefined) return { factor: 1, name: currency ?? '' };
  const known = UNITS.get(word.toLowerCase());
  if (known === undefined || (currency !== undefined && known[1] !== currency)) return null;
  return { factor: known[0], name: known[1] };
}

/** Numbers whose last digit is at least in the thousands are taken as rounded. */
const ROUND_ZEROS = 3;

/** Returns the place of the last significant digit: 0.1 for `3.6`, 1000 for `645000`, 1 for `20`. */
function stepOf(digits: string): number {
  const fraction = digits.split('.')[1];
  if (fraction !== undefined) return 10 ** -fraction.length;
  const zeros = /0*$/u.exec(digits)?.[0].length ?? 0;
  return zeros >= ROUND_ZEROS ? 10 ** zeros : 1;
}
