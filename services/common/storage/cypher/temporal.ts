/** A date or a moment: ISO 8601 in, ISO 8601 out. Other temporal values and arithmetic with them are not served here. */
export interface Temporal {
  readonly kind: 'date' | 'localdatetime' | 'datetime';
  readonly text: string;
  /** UTC; of a local time as if its zone were UTC. */
  readonly nanoseconds: bigint;
}

const TEMPORAL_KINDS = ['date', 'localdatetime', 'datetime'] as const;

const DATE = String.raw`(\d{4})(?:-?(\d{2})(?:-?(\d{2}))?)?`;
const TIME = String.raw`T(\d{2})(?::?(\d{2})(?::?(\d{2})(\.\d{1,9})?)?)?`;
const ZONE = String.raw`(Z|[+-]\d{2}(?::?\d{2})?)`;
const FORMS = {
  date: new RegExp(`^${DATE}$`),
  localdatetime: new RegExp(`^${DATE}(?:${TIME})?$`),
  datetime: new RegExp(`^${DATE}(?:${TIME}${ZONE}?)?$`),
} as const;

/** As Neo4j's driver writes it: with seconds, and with all digits of a fraction. */
export function jsonText({ kind, text }: Temporal): string {
  if (kind === 'date') return text;
  const [, start = '', second = ':00', fraction = '', zone = ''] =
    /^(.*T\d\d:\d\d)(:\d\d)?(\.\d+)?(.*)$/.exec(text) ?? [];
  return start + second + (fraction === '' ? '' : fraction.padEnd(10, '0')) + zone;
}

const MILLION = 1_000_000n;

export function isDate(value: unknown): value is Temporal {
  const kind = (value as Partial<Temporal> | null)?.kind;
  return typeof value === 'object' && TEMPORAL_KINDS.some((one) => one === kind);
}

/** Null for a text that is no such value. */
export function parseTemporal(kind: Temporal['kind'], text: string): Temporal | null {
  const match = FORMS[kind].exec(text);
  if (match === null) return null;
  const [, year = '', month = '01', day = '01', hour = '00', minute = '00', second = '00', fraction = '', zone] = match;
  const date = `${year}-${month}-${day}`;
  const midnight = Date.parse(`${date}T00:00:00Z`);
  // `Date` takes February 30 for March 1.
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== date) return null;
  if (kind === 'date') return { kind, text: date, nanoseconds: BigInt(midnight) * MILLION };
  const offset = kind === 'localdatetime' ? '' : normalZone(zone);
  const milliseconds = Date.parse(`${date}T${hour}:${minute}:${second}${offset || 'Z'}`);
  if (Number.isNaN(milliseconds)) return null;
  const nanoseconds = BigInt(milliseconds) * MILLION + BigInt(fraction.slice(1).padEnd(9, '0'));
  const seconds = second === '00' && fraction === '' ? '' : `:${second}${fraction.replace(/\.?0+$/, '')}`;
  return { kind, text: `${date}T${hour}:${minute}${seconds}${offset}`, nanoseconds };
}

function normalZone(zone = 'Z'): string {
  if (zone === 'Z') return zone;
  const digits = zone.replace(':', '').padEnd(5, '0');
  return digits.endsWith('0000') ? 'Z' : `${digits.slice(0, 3)}:${digits.slice(3)}`;
}

/** Returns the date or moment of `{year: 2020, month: 1 …}`; null when it is none. */
export function temporalOf(kind: Temporal['kind'], fields: ReadonlyMap<string, unknown>): Temporal | null {
  const field = (name: string, digits: number, unset: bigint) =>
    String(fields.get(name) ?? unset).padStart(digits, '0');
  const date = `${field('year', 4, 0n)}-${field('month', 2, 1n)}-${field('day', 2, 1n)}`;
  const time = `${field('hour', 2, 0n)}:${field('minute', 2, 0n)}:${field('second', 2, 0n)}.${field('nanosecond', 9, 0n)}`;
  const zone = kind === 'datetime' ? String(fields.get('timezone') ?? 'Z') : '';
  return fields.has('year') ? parseTemporal(kind, kind === 'date' ? date : `${date}T${time}${zone}`) : null;
}

export function now(kind: Temporal['kind']): Temporal {
  const text = new Date().toISOString();
  const forms = { date: text.slice(0, 10), localdatetime: text.slice(0, -1), datetime: text };
  return parseTemporal(kind, forms[kind]) as Temporal;
}

const FIELDS: ReadonlyMap<string, (text: string) => string | undefined> = new Map([
  ['year', (text: string) => text.slice(0, 4)],
  ['month', (text: string) => text.slice(5, 7)],
  ['day', (text: string) => text.slice(8, 10)],
  ['hour', (text: string) => /T(\d\d)/.exec(text)?.[1]],
  ['minute', (text: string) => /T\d\d:(\d\d)/.exec(text)?.[1]],
  ['second', (text: string) => (text.includes('T') ? (/T\d\d:\d\d:(\d\d)/.exec(text)?.[1] ?? '0') : undefined)],
]);

/** `date.year` and the like; undefined when the value has no such field. */
export function temporalField({ text }: Temporal, name: string): bigint | undefined {
  const found = FIELDS.get(name)?.(text);
  return found === undefined ? undefined : BigInt(found);
}
