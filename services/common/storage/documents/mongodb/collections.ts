import { type AnyBulkWriteOperation, type Collection, type Db, MongoError } from 'mongodb';
import { decodeDocument } from '../rules/change.ts';
import type { MongodbConnection } from './connection.ts';
import { type CollectionLayout, type DocumentRow, type IndexLayout, indexedValues } from './document-layout.ts';
import { prepareSequences } from './sequences.ts';

/** The declared collections. */
export type Collections = ReturnType<typeof createCollections>;

export function createCollections(connection: MongodbConnection) {
  const db = connection.client.db(connection.options.database);
  const layouts = new Map<string, CollectionLayout>();
  return {
    async declare(declared: readonly CollectionLayout[]) {
      for (const layout of declared) layouts.set(layout.rules.name, layout);
      await prepareCollections(connection, declared);
      await prepareSequences(connection, declared);
    },
    /** Throws for a collection that was not prepared. */
    layoutOf(name: string) {
      const layout = layouts.get(name);
      if (layout === undefined) throw new Error(`collection ${name} was not prepared`);
      return layout;
    },
    of: ({ rules }: CollectionLayout) => db.collection<DocumentRow>(rules.name),
  };
}

const FILL_BATCH = 500;

/**
 * Makes the collections and indexes that are missing. Several processes may do so at the same time, also of
 * different releases: a plain index that this release does not know is left, for the release that made it may still run.
 * A unique one is dropped, because it would refuse what this release writes.
 */
async function prepareCollections(connection: MongodbConnection, layouts: readonly CollectionLayout[]): Promise<void> {
  const { database } = connection.options;
  const db = connection.client.db(database);
  const names = await db
    .listCollections({}, { nameOnly: true })
    .map(({ name }) => name)
    .toArray();
  const plans = await Promise.all(layouts.map(async (layout) => planOf(db, layout, names.includes(layout.rules.name))));
  const due = plans.filter(({ missing, stale }) => missing.length > 0 || stale.length > 0);
  if (due.length === 0) return;
  await connection.patiently(async (client) => {
    for (const plan of due) await carryOut(client.db(database), plan);
  });
}

interface Plan {
  readonly layout: CollectionLayout;
  readonly isNew: boolean;
  readonly missing: readonly IndexLayout[];
  readonly stale: readonly string[];
}

async function planOf(db: Db, layout: CollectionLayout, exists: boolean): Promise<Plan> {
  if (!exists) return { layout, isNew: true, missing: layout.indexes, stale: [] };
  const existing = await db.collection(layout.rules.name).indexes();
  const keys = new Map(existing.map(({ name, key }) => [name ?? '', JSON.stringify(key)]));
  for (const { name, key } of layout.indexes) {
    if (keys.has(name) && keys.get(name) !== JSON.stringify(key)) throw incompatible(layout);
  }
  const wanted = new Set(layout.indexes.map(({ name }) => name));
  const stale = existing.flatMap(({ name = '', unique }) => (unique && !wanted.has(name) ? [name] : []));
  return { layout, isNew: false, missing: layout.indexes.filter(({ name }) => !keys.has(name)), stale };
}

function incompatible({ rules }: CollectionLayout): Error {
  return new Error(`collection ${rules.name} cannot change its level or become sequenced: that needs a migration`);
}

async function carryOut(db: Db, { layout, isNew, missing, stale }: Plan): Promise<void> {
  const collection = db.collection<DocumentRow>(layout.rules.name);
  if (!isNew) {
    for (const name of stale) await collection.dropIndex(name);
    await fill(collection, layout);
  }
  if (missing.length === 0) return;
  const specifications = missing.map(({ name, key, unique }) => ({ name, key: { ...key }, unique }));
  try {
    await collection.createIndexes(specifications);
  } catch (error) {
    // Another process that prepares the same is no fault; what it makes is what this one wants.
    if (!(error instanceof MongoError) || !error.hasErrorLabel('RetryableWriteError')) throw error;
    await collection.createIndexes(specifications);
  }
}

/** Gives documents of an earlier release the values that new indexes hold. A document that changes meanwhile has them. */
async function fill(collection: Collection<DocumentRow>, layout: CollectionLayout): Promise<void> {
  const rows = collection
    .find({}, { projection: { id: 1, version: 1, body: 1 }, batchSize: FILL_BATCH })
    .sort({ _id: 1 });
  let changes: AnyBulkWriteOperation<DocumentRow>[] = [];
  const send = async () => {
    if (changes.length > 0) await collection.bulkWrite(changes, { ordered: false });
    changes = [];
  };
  for await (const { _id, id, version, body } of rows) {
    const { fields, exempt } = indexedValues(layout, id, decodeDocument(body));
    const update =
      exempt === undefined ? { $set: { fields }, $unset: { exempt: '' as const } } : { $set: { fields, exempt } };
    changes.push({ updateOne: { filter: { _id, version }, update } });
    if (changes.length === FILL_BATCH) await send();
  }
  await send();
}
