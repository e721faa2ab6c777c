import type { ClientSession, Collection, Document } from 'mongodb';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Page } from '../../../kernel/result-page.ts';
import type { Filter, Query, Stored } from '../../ports/document-store.ts';
import { ambiguousId, requirePaging } from '../rules/change.ts';
import { isDocumentId } from '../rules/collection-rules.ts';
import { decodeCursor, encodeCursor } from '../rules/cursor.ts';
import { totalOrder } from '../rules/ordering.ts';
import type { Reach } from '../rules/reach.ts';
import { placeInOrder } from '../rules/stored-field.ts';
import { type CollectionLayout, type DocumentRow, STORED_PARTS, toStored } from './document-layout.ts';
import { allOf, reachTerms, whereTerms } from './filter-query.ts';
import { behind, sortOf } from './page-query.ts';

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

/** All collections by one command. */
export async function countOfEach(wanted: readonly ReadOptions[]): Promise<readonly number[]> {
  const [first, ...others] = wanted.map((options, at) => ({
    options,
    stages: [
      { $match: countable(whereTerms(options.layout, options.reach, {})) },
      { $count: 'count' },
      { $set: { at } },
    ],
  }));
  if (first === undefined) return [];
  const united = others.map(({ options, stages }) => ({
    $unionWith: { coll: options.layout.rules.name, pipeline: stages },
  }));
  const { collection, timeLimitMs } = first.options;
  const rows = collection.aggregate<{ readonly at: number; readonly count: number }>([...first.stages, ...united], {
    maxTimeMS: timeLimitMs,
  });
  const counts = wanted.map(() => 0);
  for (const { at, count } of await rows.toArray()) counts[at] = count;
  return counts;
}

/** Every document has an id: with it the server counts entries of an index instead of reading the collection. */
function countable(terms: readonly Document[]): Document {
  return allOf(terms.length === 0 ? [{ id: { $gte: '' } }] : terms);
}
