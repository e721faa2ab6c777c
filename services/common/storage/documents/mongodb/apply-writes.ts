import { type AnyBulkWriteOperation, type ClientSession, ObjectId } from 'mongodb';
import type { JsonObject } from '../../../kernel/json.ts';
import type { AnyScope } from '../../../kernel/scope.ts';
import {
  DuplicateKeyError,
  type Stored,
  VersionConflictError,
  type Write,
  type WriteResult,
} from '../../ports/document-store.ts';
import { ambiguousId, applyUpdate } from '../rules/change.ts';
import { isDocumentId, requireDocumentId } from '../rules/collection-rules.ts';
import { conditionsOf, matches } from '../rules/filter.ts';
import { placeOf, reachOf } from '../rules/reach.ts';
import { storedField } from '../rules/stored-field.ts';
import type { Collections } from './collections.ts';
import { type CollectionLayout, type DocumentRow, encodeRow, STORED_PARTS, toStored } from './document-layout.ts';
import { allOf, reachTerms, whereTerms } from './filter-query.ts';
import { brokenIndex, isDuplicateKey } from './mongodb-errors.ts';

/** Another change came between reading a document and writing it; nothing was written. */
export class LostRaceError extends Error {
  override readonly name = 'LostRaceError';
}

interface ApplyOptions {
  readonly collections: Collections;
  /** Absent for a single write, which is atomic. */
  readonly session?: ClientSession;
  /** Gives the next number of a sequenced collection. */
  readonly nextSequence: (collection: string) => number;
}

/** A write under the scope of its commit. */
export interface Step {
  readonly scope: AnyScope;
  readonly write: Write;
}

/** A document within reach, as the writes so far have left it. */
interface Held {
  readonly key: ObjectId;
  readonly stored: Stored<JsonObject>;
}

/** The writes of a commit to one collection: what they have read, and what is still to be sent, in order. */
interface Working {
  readonly layout: CollectionLayout;
  /** Id → the documents with it; several only for a wide scope. */
  readonly held: Map<string, readonly Held[]>;
  readonly readIds: Set<string>;
  readonly pending: AnyBulkWriteOperation<DocumentRow>[];
}

/**
 * Applies writes in order: documents that they name are read at once, changed in memory, and sent as one list for each
 * collection, so that a commit costs a few exchanges whatever its length. Throws what makes the commit fail. All steps have
 * the same scope, unless all are inserts.
 */
export async function applyWrites(options: ApplyOptions, steps: readonly Step[]): Promise<readonly WriteResult[]> {
  const all = new Map<string, Working>();
  const workingOf = (name: string): Working => {
    const known = all.get(name);
    if (known !== undefined) return known;
    const layout = options.collections.layoutOf(name);
    const fresh: Working = { layout, held: new Map(), readIds: new Set(), pending: [] };
    all.set(name, fresh);
    return fresh;
  };
  const results: WriteResult[] = [];
  for (const [index, { scope, write }] of steps.entries()) {
    const working = workingOf(write.collection.name);
    if (write.kind === 'insert') results.push(insertOne(options, working, scope, write));
    else if (write.kind === 'removeWhere') results.push(await removeWhere(options, working, scope, write));
    else {
      if (!working.readIds.has(write.id)) await readAhead(options, working, scope, steps.slice(index));
      results.push(changeOne(working, write));
    }
  }
  for (const working of all.values()) await send(options, working);
  return results;
}

type WriteOf<Kind extends Write['kind']> = Extract<Write, { kind: Kind }>;

function insertOne(
  options: ApplyOptions,
  { layout, held, pending }: Working,
  scope: AnyScope,
  write: WriteOf<'insert'>,
): WriteResult {
  const { name, sequenced } = layout.rules;
  requireDocumentId(name, write.id);
  const { row, stored } = encodeRow(layout, new ObjectId(), {
    ...placeOf(scope, layout.rules),
    id: write.id,
    version: 1,
    value: write.value,
    ...(sequenced ? { sequence: options.nextSequence(name) } : {}),
  });
  held.set(write.id, [...(held.get(write.id) ?? []), { key: row._id, stored }]);
  pending.push({ insertOne: { document: row } });
  return { stored, changed: 1 };
}

/** Reads the documents that this and later writes to the collection name, up to one that removes by a filter. */
async function readAhead(
  { collections, session }: ApplyOptions,
  { layout, readIds, held }: Working,
  scope: AnyScope,
  steps: readonly Step[],
): Promise<void> {
  const wanted = new Set<string>();
  for (const { write } of steps) {
    if (write.collection.name !== layout.rules.name || write.kind === 'insert') continue;
    if (write.kind === 'removeWhere') break;
    if (!readIds.has(write.id)) wanted.add(write.id);
  }
  for (const id of wanted) readIds.add(id);
  const ids = [...wanted].filter(isDocumentId);
  if (ids.length === 0) return;
  const reach = reachOf(scope, layout.rules);
  const where = allOf([...reachTerms(layout, reach), { id: ids.length === 1 ? ids[0] : { $in: ids } }]);
  const rows = collections
    .of(layout)
    .find(where, { projection: STORED_PARTS, batchSize: ids.length + 1, ...withSession(session) });
  for (const row of await rows.toArray()) {
    held.set(row.id, [...(held.get(row.id) ?? []), { key: row._id, stored: toStored<JsonObject>(row) }]);
  }
}

function changeOne(working: Working, write: WriteOf<'replace' | 'update' | 'remove'>): WriteResult {
  const collection = working.layout.rules.name;
  const all = working.held.get(write.id) ?? [];
  if (all.length > 1) throw ambiguousId(collection, write.id);
  const current = all[0];
  const conflict = () => new VersionConflictError(collection, write.id);
  switch (write.kind) {
    case 'replace':
      if (current?.stored.version !== write.expectedVersion) throw conflict();
      return put(working, current, write.value);
    case 'update': {
      const conditions = conditionsOf(write.where);
      if (current !== undefined && matches(conditions, (field) => storedField(current.stored, field))) {
        return put(working, current, applyUpdate(current.stored.value, write));
      }
      if (write.required) throw conflict();
      return { stored: null, changed: 0 };
    }
    case 'remove': {
      if (write.expectedVersion !== undefined && current?.stored.version !== write.expectedVersion) throw conflict();
      if (current === undefined) return { stored: null, changed: 0 };
      const { key, stored } = current;
      working.held.set(write.id, []);
      working.pending.push({ deleteOne: { filter: { _id: key, version: stored.version } } });
      return { stored: null, changed: 1 };
    }
  }
}

function put({ layout, held, pending }: Working, { key, stored: before }: Held, value: JsonObject): WriteResult {
  const { row, stored } = encodeRow(layout, key, { ...before, value, version: before.version + 1 });
  held.set(stored.id, [{ key, stored }]);
  pending.push({ replaceOne: { filter: { _id: key, version: before.version }, replacement: row } });
  return { stored, changed: 1 };
}

/** The server removes what matches; nothing of it passes through this process. */
async function removeWhere(options: ApplyOptions, working: Working, scope: AnyScope, write: WriteOf<'removeWhere'>) {
  const { layout, held, readIds } = working;
  await send(options, working);
  held.clear();
  readIds.clear();
  const where = allOf(whereTerms(layout, reachOf(scope, layout.rules), write.where));
  const { deletedCount } = await options.collections.of(layout).deleteMany(where, withSession(options.session));
  return { stored: null, changed: deletedCount };
}

/**
 * Removes at most `limit` of the documents that match. What stands alone in its commit is removed so when there is more of
 * it than the server's cache holds changes of one transaction.
 */
export async function removeSome(
  { collections, session }: Omit<ApplyOptions, 'nextSequence'>,
  scope: AnyScope,
  write: WriteOf<'removeWhere'>,
  limit: number,
): Promise<number> {
  const layout = collections.layoutOf(write.collection.name);
  const collection = collections.of(layout);
  const where = allOf(whereTerms(layout, reachOf(scope, layout.rules), write.where));
  const options = { ...withSession(session), projection: { _id: 1 }, limit };
  const found = await collection.find(where, options).toArray();
  if (found.length === 0) return 0;
  // The filter again: a document may have changed since.
  const still = { $and: [{ _id: { $in: found.map(({ _id }) => _id) } }, where] };
  return (await collection.deleteMany(still, withSession(session))).deletedCount;
}

async function send({ collections, session }: ApplyOptions, { layout, pending }: Working): Promise<void> {
  const operations = pending.splice(0);
  if (operations.length === 0) return;
  const expected = operations.filter((operation) => !('insertOne' in operation)).length;
  try {
    const { matchedCount, deletedCount } = await collections.of(layout).bulkWrite(operations, withSession(session));
    if (matchedCount + deletedCount !== expected) throw new LostRaceError(layout.rules.name);
  } catch (error) {
    throw isDuplicateKey(error) ? duplicateKey(layout, error) : error;
  }
}

function withSession(session: ClientSession | undefined): { readonly session?: ClientSession } {
  return session === undefined ? {} : { session };
}

function duplicateKey(layout: CollectionLayout, error: Parameters<typeof brokenIndex>[0]): DuplicateKeyError {
  const name = brokenIndex(error);
  const fields = layout.indexes.find((index) => index.name === name)?.fields ?? [name];
  return new DuplicateKeyError(layout.rules.name, fields, { cause: error });
}
