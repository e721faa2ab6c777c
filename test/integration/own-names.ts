import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { removeIndexes } from './elasticsearch/indexes.ts';
import { removeStreams } from './nats/nats-world.ts';

/** Settings of a cluster that has names of its own on the servers of `ENGRAM_TEST_…`. */
export interface OwnNames {
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Removes the database, the indexes and the streams. Neo4j has no names but those of datasets: have these forgotten
   * before.
   */
  remove(): Promise<void>;
}

const ADDRESSES = [
  ['ENGRAM_MONGODB_URL', 'ENGRAM_TEST_MONGODB_URL'],
  ['ENGRAM_ELASTICSEARCH_URL', 'ENGRAM_TEST_ELASTICSEARCH_URL'],
  ['ENGRAM_NEO4J_URL', 'ENGRAM_TEST_NEO4J_URL'],
  ['ENGRAM_NEO4J_USER', 'ENGRAM_TEST_NEO4J_USER'],
  ['ENGRAM_NEO4J_PASSWORD', 'ENGRAM_TEST_NEO4J_PASSWORD'],
  ['ENGRAM_NATS_URL', 'ENGRAM_TEST_NATS_URL'],
] as const;

/** Throws the names of the variables that are missing. */
export function takeOwnNames(): OwnNames {
  const missing = ADDRESSES.flatMap(([, variable]) => (process.env[variable] ? [] : [variable]));
  if (missing.length > 0) throw new Error(`${missing.join(', ')} not set: ../shared/backends/up prints them`);
  const addresses = Object.fromEntries(ADDRESSES.map(([name, variable]) => [name, process.env[variable] ?? '']));
  const own = `b${randomBytes(5).toString('hex')}`;
  const prefix = `engram-${own}`;
  const database = `engram_${own}`;
  return {
    environment: {
      ...addresses,
      ENGRAM_STORES: 'cluster',
      ENGRAM_MONGODB_DATABASE: database,
      ENGRAM_ELASTICSEARCH_INDEX_PREFIX: prefix,
      ENGRAM_ELASTICSEARCH_REPLICAS: '0',
      ENGRAM_NATS_SUBJECT_PREFIX: prefix,
    },
    async remove() {
      const client = new MongoClient(addresses['ENGRAM_MONGODB_URL'] ?? '');
      await Promise.all([
        client.db(database).dropDatabase(),
        removeIndexes(addresses['ENGRAM_ELASTICSEARCH_URL'] ?? '', prefix),
        removeStreams(addresses['ENGRAM_NATS_URL'] ?? '', prefix),
      ]);
      await client.close();
    },
  };
}
