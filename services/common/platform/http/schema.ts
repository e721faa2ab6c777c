import { z } from 'zod';

/**
 * Readers for the wire's lenient values (search-recall.md §0): numeric texts for integers, `yes` and `on` for booleans,
 * UUIDs in any of their spellings. What they refuse is reported with the types of the contract.
 */

/** Hyphenated lower-case UUID; also read without hyphens, in braces and with `urn:uuid:`. */
export function uuid() {
  return z.preprocess(canonicalUuid, z.guid());
}

const TRUE = new Set(['true', '1', 'yes', 'on', 't', 'y']);
const FALSE = new Set(['false', '0', 'no', 'off', 'f', 'n']);

/** true/false, 1/0, yes/no, on/off, t/f, y/n in any case. */
export function lenientBoolean() {
  return z.preprocess((value) => {
    if (value === 1 || value === 0) return value === 1;
    if (typeof value !== 'string') return value;
    const word = value.toLowerCase();
    return TRUE.has(word) ? true : FALSE.has(word) ? false : value;
  }, z.boolean());
}

interface NumberRange {
  readonly min?: number;
  /** Not itself. */
  readonly above?: number;
  readonly max?: number;
}

/** Whole numbers, also as text ("7", "7.0"). */
export function lenientInteger(range: NumberRange = {}) {
  return z.preprocess(
    (value) => {
      if (typeof value === 'boolean') return Number(value);
      return typeof value === 'string' && /^\s*[+-]?\d+(\.0+)?\s*$/.test(value) ? Number(value) : value;
    },
    bounded(z.int(), range),
  );
}

/** Finite numbers, also as text. */
export function lenientNumber(range: NumberRange = {}) {
  return z.preprocess(
    (value) => {
      if (typeof value === 'boolean') return Number(value);
      const parsed = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
      return Number.isFinite(parsed) ? parsed : value;
    },
    bounded(z.number(), range),
  );
}

/** Most names or texts in one request. */
const MAX_TEXTS = 1_000;

/** Ids that a request names. */
const MAX_IDS = 10_000;

export function stringList() {
  return listUpTo(MAX_TEXTS, z.array(z.string()));
}

export function uuidList({ min = 0, max = MAX_IDS }: { readonly min?: number; readonly max?: number } = {}) {
  return listUpTo(max, z.array(uuid()).min(min));
}

/** A list that is longer is refused before its values are looked at: half a million of them would take seconds. */
export function listUpTo<List extends z.ZodType>(max: number, list: List) {
  return z.preprocess((value, context) => {
    if (!Array.isArray(value) || value.length <= max) return value;
    context.addIssue({ code: 'too_big', origin: 'array', maximum: max, inclusive: true, input: value });
    return z.NEVER;
  }, list);
}

/** Absent and null alike: the handler sees `undefined`. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** Reads fields where an empty text means "not given", as clients' forms send it. */
export function optionalOrBlank<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((value) => (value === '' || value === null ? undefined : value), schema.optional());
}

const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function canonicalUuid(value: unknown): unknown {
  if (typeof value !== 'string' || CANONICAL.test(value)) return value;
  const bare = value
    .replace(/^urn:uuid:/i, '')
    .replace(/^\{(.*)\}$/, '$1')
    .toLowerCase();
  if (!/^[0-9a-f]{32}$/.test(bare)) return bare.length === 36 ? bare : value;
  return bare.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function bounded<Schema extends z.ZodInt | z.ZodNumber>(schema: Schema, range: NumberRange): Schema {
  let result = schema;
  if (range.min !== undefined) result = result.min(range.min) as Schema;
  if (range.above !== undefined) result = result.gt(range.above) as Schema;
  if (range.max !== undefined) result = result.max(range.max) as Schema;
  return result;
}
