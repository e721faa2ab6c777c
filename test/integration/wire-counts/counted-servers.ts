import {
  type CountedStore,
  type CountingProxy,
  type Exchange,
  type RequestReader,
  startCountingProxy,
} from './counting-proxy.ts';
import { boltStatements, httpRequests, mongodbCommands, natsRequests } from './request-readers.ts';

/** Proxies before the servers of `ENGRAM_TEST_…` that write down every request. */
export interface CountedServers {
  /** Settings of a service that uses them. */
  readonly environment: Readonly<Record<string, string>>;
  /** Every request since the start, in order. */
  readonly exchanges: readonly Exchange[];
  close(): Promise<void>;
}

/** `prefix`: that of the NATS subjects, left out of names. */
export async function startCountedServers(prefix: string): Promise<CountedServers> {
  const exchanges: Exchange[] = [];
  const proxies: CountingProxy[] = [];
  const before = async (store: CountedStore, variable: string, createReader: () => RequestReader): Promise<URL> => {
    const url = new URL(process.env[variable] ?? '');
    const upstream = { host: url.hostname, port: Number(url.port) };
    const proxy = await startCountingProxy({ store, upstream, createReader, onRequest: (one) => exchanges.push(one) });
    proxies.push(proxy);
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    return url;
  };
  const mongodb = await before('mongodb', 'ENGRAM_TEST_MONGODB_URL', mongodbCommands);
  // The server would tell its own address, and the driver go there.
  mongodb.search = '?directConnection=true';
  const elasticsearch = await before('elasticsearch', 'ENGRAM_TEST_ELASTICSEARCH_URL', httpRequests);
  const neo4j = await before('neo4j', 'ENGRAM_TEST_NEO4J_URL', boltStatements);
  const nats = await before('nats', 'ENGRAM_TEST_NATS_URL', natsRequests(prefix));
  return {
    environment: {
      ENGRAM_MONGODB_URL: mongodb.href,
      ENGRAM_ELASTICSEARCH_URL: elasticsearch.href.replace(/\/$/, ''),
      ENGRAM_NEO4J_URL: neo4j.href,
      ENGRAM_NATS_URL: nats.href,
    },
    exchanges,
    async close() {
      await Promise.all(proxies.map((proxy) => proxy.close()));
    },
  };
}
