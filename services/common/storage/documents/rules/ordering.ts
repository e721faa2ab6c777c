import type { Json } from '../../../kernel/json.ts';
import { type CollectionRules, requireQueryable } from './collection-rules.ts';

export interface SortKey {
  readonly field: string;
  readonly descending: boolean;
}

/** Value in an index: objects and arrays are present but cannot be compared with anything. */
export type IndexValue = null | number | string | boolean | typeof COMPOSITE;
export const COMPOSITE = Symbol('object or array');

/**
 * Text is indexed as well-formed Unicode, so a lone surrogate counts as U+FFFD in comparisons; the document itself keeps
 * it. SQLite and MongoDB hold text as UTF-8, which has no form for a lone surrogate.
 */
export function indexValue(value: Json | undefined): IndexValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'object') return COMPOSITE;
  if (typeof value === 'number' && !Number.isFinite(value)) return null; // as JSON writes it
  return typeof value === 'string' ? value.toWellFormed() : value;
}

/** null < numbers < strings (by code point, which is UTF-8 byte order) < booleans < objects and arrays. */
export function compareIndexValues(left: IndexValue, right: IndexValue): number {
  const rank = rankOf(left) - rankOf(right);
  if (rank !== 0) return rank;
  if (typeof left === 'string') return compareCodePoints(left, right as string);
  if (typeof left === 'number') return left - (right as number);
  if (typeof left === 'boolean') return Number(left) - Number(right);
  return 0;
}

function rankOf(value: IndexValue): number {
  if (value === null) return 0;
  if (typeof value === 'number') return 1;
  if (typeof value === 'string') return 2;
  return typeof value === 'boolean' ? 3 : 4;
}

/** Order of code points. `<` on strings compares UTF-16 units and puts astral characters before U+E000. */
export function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) return codePointRank(a) - codePointRank(b);
  }
  return left.length - right.length;
}

/** Moves surrogates (code points above U+FFFF) behind U+E000 to U+FFFF. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/**
 * The total order of a query: its sort keys, then the id, then tenant and dataset (they only tell equal ids of a wide
 * scope apart). The tie-breakers run in the direction of the last sort key, so that one index serves both directions.
 */
export function totalOrder(
  rules: CollectionRules,
  sort: readonly { readonly field: string; readonly descending?: boolean }[],
): readonly SortKey[] {
  const keys: SortKey[] = [];
  for (const { field, descending } of sort) {
    requireQueryable(rules, field);
    if (!keys.some((key) => key.field === field)) keys.push({ field, descending: descending ?? false });
    if (field === 'sequence') return keys; // unique in the whole store: nothing after it can matter
  }
  const descending = keys.at(-1)?.descending ?? false;
  if (!keys.some((key) => key.field === 'id')) keys.push({ field: 'id', descending });
  if (rules.level !== 'system') keys.push({ field: TENANT, descending });
  if (rules.level === 'dataset') keys.push({ field: DATASET, descending });
  return keys;
}

/** Pseudo fields of the total order; a blank cannot stand in a field name. */
export const TENANT = ' tenant';
export const DATASET = ' dataset';
