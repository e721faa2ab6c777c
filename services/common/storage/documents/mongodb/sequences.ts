import type { ClientSession, Collection } from 'mongodb';
import type { MongodbConnection } from './connection.ts';
import type { CollectionLayout } from './document-layout.ts';

/** The last number given in each sequenced collection; one place for all databases. The dot keeps it from others. */
const SEQUENCES = 'engram.sequences';

interface Counter {
  readonly _id: string;
  readonly last: number;
}

/** Numbers are taken inside the transaction of their commit: who holds the counter commits before the next can take one. */
export function createSequences(connection: MongodbConnection) {
  const counters = countersOf(connection);
  return {
    /** The first of `count` new numbers. */
    async take(collection: string, count: number, session: ClientSession) {
      const counter = await counters.findOneAndUpdate(
        { _id: collection },
        { $inc: { last: count } },
        { session, returnDocument: 'after', upsert: true },
      );
      return (counter?.last ?? count) - count + 1;
    },
  };
}

/** Made before the first commit, so that the first two do not both try to make one. */
export async function prepareSequences(connection: MongodbConnection, layouts: readonly CollectionLayout[]) {
  const sequenced = layouts.filter(({ rules }) => rules.sequenced);
  if (sequenced.length === 0) return;
  const missing = sequenced.map(({ rules: { name } }) => ({
    updateOne: { filter: { _id: name }, update: { $setOnInsert: { last: 0 } }, upsert: true },
  }));
  await countersOf(connection).bulkWrite(missing);
}

function countersOf({ client, options }: MongodbConnection): Collection<Counter> {
  return client.db(options.database).collection<Counter>(SEQUENCES);
}
