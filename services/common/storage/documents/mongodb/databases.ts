import { asId } from '../../../kernel/ids.ts';
import type { CollectionRules } from '../rules/collection-rules.ts';
import type { Reach } from '../rules/reach.ts';
import type { MongodbConnection } from './connection.ts';
import type { CollectionLayout, DocumentRow } from './document-layout.ts';
import { prepareCollections } from './prepare-collections.ts';
import { prepareSequences } from './sequences.ts';

/** The declared collections, and the databases that hold those of a scope. */
export type Databases = ReturnType<typeof createDatabases>;

/** Names of Dedicated tenants' databases, so that a scope over all tenants finds them. The dot keeps it from others. */
const REGISTRY = 'engram.databases';

export function createDatabases(connection: MongodbConnection) {
  const { client, options } = connection;
  const layouts = new Map<string, CollectionLayout>();
  const ready = new Map<string, Promise<void>>();
  const hasDedicated = options.databaseOf !== undefined;
  const registry = client.db(options.database).collection<{ _id: string }>(REGISTRY);

  const makeReady = async (database: string) => {
    const owned = [...layouts.values()].filter(({ rules }) => rules.level !== 'system');
    await prepareCollections(connection, database, owned);
    await registry.updateOne({ _id: database }, { $setOnInsert: { _id: database } }, { upsert: true });
  };
  /** A Dedicated tenant's database is prepared by the first call that needs it. */
  const ensure = (database: string): Promise<void> => {
    const known = ready.get(database);
    if (known !== undefined) return known;
    const made = makeReady(database).catch((error: unknown) => {
      ready.delete(database);
      throw error;
    });
    ready.set(database, made);
    return made;
  };
  return {
    async declare(declared: readonly CollectionLayout[]) {
      for (const layout of declared) layouts.set(layout.rules.name, layout);
      await prepareCollections(connection, options.database, declared);
      await prepareSequences(connection, declared);
      ready.clear();
    },
    /** Throws for a collection that was not prepared. */
    layoutOf(collection: string) {
      const layout = layouts.get(collection);
      if (layout === undefined) throw new Error(`collection ${collection} was not prepared`);
      return layout;
    },
    /** The databases in which documents within the reach may be; several only for a reach over all tenants. */
    async namesFor(rules: Pick<CollectionRules, 'level'>, reach: Reach): Promise<readonly string[]> {
      if (!hasDedicated || rules.level === 'system') return [options.database];
      if (reach.tenant !== undefined) {
        const database = options.databaseOf(asId(reach.tenant)) ?? options.database;
        if (database !== options.database) await ensure(database);
        return [database];
      }
      const dedicated = await registry
        .find({})
        .map(({ _id }) => _id)
        .toArray();
      return [options.database, ...dedicated];
    },
    collection: (database: string, name: string) => client.db(database).collection<DocumentRow>(name),
  };
}
