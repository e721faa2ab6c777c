import type { Document } from 'mongodb';
import { COMPOSITE, DATASET, type IndexValue, type SortKey, TENANT } from '../rules/ordering.ts';
import type { Reach } from '../rules/reach.ts';
import { bsonValue, type CollectionLayout, exemptPath, pathOf } from './document-layout.ts';
import { allOf } from './filter-query.ts';

/** The sort that gives the total order within the reach. */
export function sortOf(layout: CollectionLayout, order: readonly SortKey[], reach: Reach): Record<string, 1 | -1> {
  const keys = order.filter(({ field }) => !isPinned(field, reach));
  const paths = uniqueOrder(layout, keys) ?? keys.map(({ field }) => pathOf(field));
  return Object.fromEntries(paths.map((path, index) => [path, keys[index]?.descending ? -1 : 1]));
}

/**
 * The fields of a unique index and then the id are the order of that index as it stands: documents that share the values
 * have a null among them, and are told apart by what exempts them, which is their id.
 */
function uniqueOrder(layout: CollectionLayout, keys: readonly SortKey[]): readonly string[] | null {
  const descending = keys[0]?.descending;
  if (keys.length < 2 || keys.at(-1)?.field !== 'id' || keys.some((key) => key.descending !== descending)) return null;
  const fields = keys.slice(0, -1).map(({ field }) => field);
  const isUnique = layout.rules.indexes.some(({ unique, fields: own }) => unique && own.join() === fields.join());
  return isUnique ? [...fields.map(pathOf), exemptPath(fields)] : null;
}

/**
 * Filter for the documents after a position in the order, within `where`: those that share all keys but the last, and so on
 * outwards. Each alternative is a range of the same index, and the server merges them in order, so it reads no more than
 * the page.
 */
export function behind(
  where: readonly Document[],
  order: readonly SortKey[],
  place: readonly IndexValue[],
  reach: Reach,
): Document {
  const alternatives: Document[] = [];
  for (const [index, key] of order.entries()) {
    if (isPinned(key.field, reach)) continue;
    const shared = order.slice(0, index).map((outer, at) => ({ [pathOf(outer.field)]: equal(place[at] ?? null) }));
    for (const term of behindTerms(key, place[index] ?? null)) alternatives.push(allOf([...where, ...shared, term]));
  }
  return alternatives.length === 1 ? (alternatives[0] ?? {}) : { $or: alternatives };
}

/** The scope allows one value only, so nothing can stand behind it. */
function isPinned(field: string, reach: Reach): boolean {
  return (field === TENANT && reach.tenant !== undefined) || (field === DATASET && reach.dataset !== undefined);
}

function equal(value: IndexValue): Document {
  return { $eq: value === null ? null : bsonValue(value) };
}

/** Types in the order of their values. A comparison of the server holds within one type, so the others are named. */
const TYPES = ['number', 'string', 'bool', 'date'] as const;

function behindTerms({ field, descending }: SortKey, value: IndexValue): readonly Document[] {
  const path = pathOf(field);
  const isNeverNull = path === field || field === TENANT || field === DATASET;
  const terms: Document[] = [];
  if (value === null) return descending ? [] : [{ [path]: { $ne: null } }];
  if (value !== COMPOSITE) terms.push({ [path]: { [descending ? '$lt' : '$gt']: bsonValue(value) } });
  if (isNeverNull) return terms;
  const rank = TYPES.indexOf(typeOf(value));
  const others = descending ? TYPES.slice(0, rank) : TYPES.slice(rank + 1);
  if (others.length > 0) terms.push({ [path]: { $type: others } });
  if (descending) terms.push({ [path]: { $eq: null } });
  return terms;
}

function typeOf(value: Exclude<IndexValue, null>): (typeof TYPES)[number] {
  if (typeof value === 'number') return 'number';
  if (typeof value === 'string') return 'string';
  return value === COMPOSITE ? 'date' : 'bool';
}
