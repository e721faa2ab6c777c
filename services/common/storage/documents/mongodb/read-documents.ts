import type { ClientSession, Document } from 'mongodb';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Page } from '../../../kernel/result-page.ts';
import type { Filter, Query, Stored } from '../../ports/document-store.ts';
import { ambiguousId, requirePaging } from '../rules/change.ts';
import { isDocumentId } from '../rules/collection-rules.ts';
import { decodeCursor, encodeCursor } from '../rules/cursor.ts';
import { totalOrder } from '../rules/ordering.ts';
import type { Reach } from '../rules/reach.ts';
import { comparePlaces, placeInOrder } from '../rules/stored-field.ts';
import type { Databases } from './databases.ts';
import { type CollectionLayout, STORED_PARTS, toStored } from './document-layout.ts';
import { allOf, reachTerms, whereTerms } from './filter-query.ts';
import { behind, sortOf } from './page-query.ts';

export interface ReadOptions {
  readonly databases: Databases;
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
  { databases, layout, reach, timeLimitMs }: ReadOptions,
  ids: readonly string[],
  limit: number,
): Promise<readonly Stored<T>[]> {
  // The driver would send a lone surrogate as U+FFFD and find another document.
  const possible = ids.filter(isDocumentId);
  if (possible.length === 0) return [];
  const where = allOf([...reachTerms(layout, reach), { id: possible.length === 1 ? possible[0] : { $in: possible } }]);
  const names = await databases.namesFor(layout.rules, reach);
  const found = names.map((name) =>
    databases
      .collection(name, layout.rules.name)
      .find(where, { projection: STORED_PARTS, limit, batchSize: possible.length + 1, maxTimeMS: timeLimitMs })
      .map((row) => toStored<T>(row))
      .toArray(),
  );
  return (await Promise.all(found)).flat();
}

export async function findPage<T extends JsonObject>(options: ReadOptions, query: Query<T>): Promise<Page<Stored<T>>> {
  const { databases, layout, reach, timeLimitMs, session } = options;
  const { limit, offset = 0 } = query;
  requirePaging(limit, offset);
  const order = totalOrder(layout.rules, query.sort ?? []);
  const where = whereTerms(layout, reach, query.where ?? {});
  const filter = query.after ? behind(where, order, decodeCursor(order, query.after), reach) : allOf(where);
  const names = await databases.namesFor(layout.rules, reach);
  const single = names.length === 1;
  // One more than requested says whether there is a next page. Of several databases each may hold all of the page.
  const wanted = limit + 1 + (single ? 0 : offset);
  const found = await Promise.all(
    names.map((name) =>
      databases
        .collection(name, layout.rules.name)
        .find(filter, {
          projection: STORED_PARTS,
          sort: sortOf(layout, order, reach),
          skip: single ? offset : 0,
          limit: wanted,
          batchSize: wanted,
          maxTimeMS: timeLimitMs,
          ...(session === undefined ? {} : { session, readConcern: { level: 'snapshot' } }),
        })
        .map((row) => toStored<T>(row))
        .toArray(),
    ),
  );
  const rows = single
    ? (found[0] ?? [])
    : found
        .flat()
        .sort((left, right) => comparePlaces(order, placeInOrder(order, left), placeInOrder(order, right)))
        .slice(offset, offset + limit + 1);
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const next = rows.length > limit && last !== undefined ? encodeCursor(order, placeInOrder(order, last)) : null;
  return { items, next };
}

export async function countDocuments(options: ReadOptions, filter: Filter<JsonObject>): Promise<number> {
  const { databases, layout, reach, timeLimitMs } = options;
  const where = countable(whereTerms(layout, reach, filter));
  const counts = (await databases.namesFor(layout.rules, reach)).map((name) =>
    databases.collection(name, layout.rules.name).countDocuments(where, { maxTimeMS: timeLimitMs }),
  );
  return (await Promise.all(counts)).reduce((sum, each) => sum + each, 0);
}

/** All collections of a database by one command. */
export async function countOfEach(wanted: readonly ReadOptions[]): Promise<readonly number[]> {
  const counts = wanted.map(() => 0);
  const byDatabase = new Map<string, number[]>();
  for (const [at, { databases, layout, reach }] of wanted.entries()) {
    for (const name of await databases.namesFor(layout.rules, reach)) {
      byDatabase.set(name, [...(byDatabase.get(name) ?? []), at]);
    }
  }
  await Promise.all(
    [...byDatabase].map(async ([name, places]) => {
      const [first, ...others] = places.map((at) => ({ at, options: wanted[at] as ReadOptions }));
      if (first === undefined) return;
      const united = others.map((other) => {
        const { rules } = other.options.layout;
        return { $unionWith: { coll: rules.name, pipeline: [...countStages(other)] } };
      });
      const { databases, layout, timeLimitMs } = first.options;
      const rows = databases
        .collection(name, layout.rules.name)
        .aggregate<{ readonly at: number; readonly count: number }>([...countStages(first), ...united], {
          maxTimeMS: timeLimitMs,
        });
      for (const { at, count } of await rows.toArray()) counts[at] = (counts[at] ?? 0) + count;
    }),
  );
  return counts;
}

interface Countable {
  readonly at: number;
  readonly options: ReadOptions;
}

function countStages({ at, options }: Countable): readonly Document[] {
  const where = countable(whereTerms(options.layout, options.reach, {}));
  return [{ $match: where }, { $count: 'count' }, { $set: { at } }];
}

/** Every document has an id: with it the server counts entries of an index instead of reading the collection. */
function countable(terms: readonly Document[]): Document {
  return allOf(terms.length === 0 ? [{ id: { $gte: '' } }] : terms);
}
