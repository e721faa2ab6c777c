import type { ClientSession, Collection, Document } from 'mongodb';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Page } from '../../../kernel/result-page.ts';
import type { Filter, Query, Stored } from '../../ports/document-store.ts';
import { ambiguousId, requirePaging } from '../rules/change.ts';
import { isDocumentId } from '../rules/collection-rules.ts';
import { decodeCursor, encodeCursor } from '../rules/cursor.ts';
import { COMPOSITE, DATASET, type IndexValue, type SortKey, TENANT, totalOrder } from '../rules/ordering.ts';
import { isPinned, type Reach } from '../rules/reach.ts';
import { placeInOrder } from '../rules/stored-field.ts';
import {
  bsonValue,
  type CollectionLayout,
  type DocumentRow,
  exemptPath,
  pathOf,
  STORED_PARTS,
  toStored,
} from './document-layout.ts';
import { allOf, reachTerms, whereTerms } from './filter-query.ts';

export interface ReadOptions {
  readonly collection: Collection<DocumentRow>;
  readonly layout: CollectionLayout;
  readonly reach: Reach;
  /** Milliseconds that the server may work on it. */
  readonly timeLimitMs: number;
  /** Session of a view: reads the state at its moment. */
  readonly session?: ClientSession;
}

export async function getOne<T extends JsonObject>(options: ReadOptions, id: string): Promise<Stored<T> | null> {
  const found = await byIds<T>(options, [id], 2);
  if (found.length > 1) throw ambiguousId(options.layout.rules.name, id);
  return found[0] ?? null;
}

export async function getMany<T extends JsonObject>(
  options: ReadOptions,
  ids: readonly string[],
): Promise<readonly Stored<T>[]> {
  const wanted = [...new Set(ids)];
  const found = Map.groupBy(await byIds<T>(options, wanted, 0), ({ id }) => id);
  return wanted.flatMap((id) => found.get(id) ?? []);
}

/** `limit` 0: all of them. */
async function byIds<T extends JsonObject>(
  { collection, layout, reach, timeLimitMs }: ReadOptions,
  ids: readonly string[],
  limit: number,
): Promise<readonly Stored<T>[]> {
  // The driver would send a lone surrogate as U+FFFD and find another document.
  const possible = ids.filter(isDocumentId);
  if (possible.length === 0) return [];
  const where = allOf([...reachTerms(layout, reach), { id: possible.length === 1 ? possible[0] : { $in: possible } }]);
  return collection
    .find(where, { projection: STORED_PARTS, limit, batchSize: possible.length + 1, maxTimeMS: timeLimitMs })
    .map((row) => toStored<T>(row))
    .toArray();
}

export async function findPage<T extends JsonObject>(options: ReadOptions, query: Query<T>): Promise<Page<Stored<T>>> {
  const { collection, layout, reach, timeLimitMs, session } = options;
  const { limit, offset = 0 } = query;
  requirePaging(limit, offset);
  const order = totalOrder(layout.rules, query.sort ?? []);
  const where = whereTerms(layout, reach, query.where ?? {});
  const filter = query.after ? behind(where, order, decodeCursor(order, query.after), reach) : allOf(where);
  const rows = await collection
    .find(filter, {
      projection: STORED_PARTS,
      sort: sortOf(layout, order, reach),
      skip: offset,
      // One more than requested says whether there is a next page.
      limit: limit + 1,
      batchSize: limit + 1,
      maxTimeMS: timeLimitMs,
      ...(session === undefined ? {} : { session, readConcern: { level: 'snapshot' } }),
    })
    .map((row) => toStored<T>(row))
    .toArray();
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const next = rows.length > limit && last !== undefined ? encodeCursor(order, placeInOrder(order, last)) : null;
  return { items, next };
}

export async function countDocuments(options: ReadOptions, filter: Filter<JsonObject>): Promise<number> {
  const { collection, layout, reach, timeLimitMs } = options;
  return collection.countDocuments(countable(whereTerms(layout, reach, filter)), { maxTimeMS: timeLimitMs });
}

export function countOfEach(wanted: readonly ReadOptions[]): Promise<readonly number[]> {
  return numberOfEach(wanted, ({ layout, reach }) => [
    { $match: countable(whereTerms(layout, reach, {})) },
    { $count: 'number' },
  ]);
}

/** The server adds up: no document is sent. */
export function countChanges(wanted: readonly ReadOptions[]): Promise<readonly number[]> {
  return numberOfEach(wanted, ({ layout, reach }) => [
    { $match: allOf(whereTerms(layout, reach, {})) },
    { $group: { _id: null, number: { $sum: '$version' } } },
  ]);
}

/** All collections by one command, one after the other. `stages` give a document with the number, or none for 0. */
async function numberOfEach(
  wanted: readonly ReadOptions[],
  stages: (options: ReadOptions) => readonly Document[],
): Promise<readonly number[]> {
  const [first, ...others] = wanted.map((options, at) => ({ options, stages: [...stages(options), { $set: { at } }] }));
  if (first === undefined) return [];
  const united = others.map(({ options, stages: pipeline }) => ({
    $unionWith: { coll: options.layout.rules.name, pipeline },
  }));
  const { collection, timeLimitMs } = first.options;
  const rows = collection.aggregate<{ readonly at: number; readonly number: number }>([...first.stages, ...united], {
    maxTimeMS: timeLimitMs,
  });
  const numbers = wanted.map(() => 0);
  for (const { at, number } of await rows.toArray()) numbers[at] = number;
  return numbers;
}

/** Every document has an id: with it the server counts entries of an index instead of reading the collection. */
function countable(terms: readonly Document[]): Document {
  return allOf(terms.length === 0 ? [{ id: { $gte: '' } }] : terms);
}

/** The sort that gives the total order within the reach. */
function sortOf(layout: CollectionLayout, order: readonly SortKey[], reach: Reach): Record<string, 1 | -1> {
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
function behind(
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
