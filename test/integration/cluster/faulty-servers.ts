import { type FaultProxy, faultProxy } from '../nats/fault-proxy.ts';
import { openTestBucket } from '../s3/test-bucket.ts';

export type FaultyServer = 'mongodb' | 'nats' | 'elasticsearch' | 'neo4j' | 's3';

/** The servers of a cluster, each behind a proxy, so that one can be lost while others go on using it. */
export interface FaultyServers extends AsyncDisposable {
  readonly proxies: Readonly<Record<FaultyServer, FaultProxy>>;
  /** Settings of processes that reach the servers only through the proxies. Files are in a bucket of their own. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Needs the servers of `ENGRAM_TEST_…`, chaos among them. */
export async function startFaultyServers(): Promise<FaultyServers> {
  const bucket = await openTestBucket({
    ENGRAM_TEST_S3_URL: variable('ENGRAM_TEST_S3_URL'),
    ENGRAM_TEST_S3_ACCESS_KEY: variable('ENGRAM_TEST_S3_ACCESS_KEY'),
    ENGRAM_TEST_S3_SECRET_KEY: variable('ENGRAM_TEST_S3_SECRET_KEY'),
    ENGRAM_TEST_S3_REGION: variable('ENGRAM_TEST_S3_REGION'),
  });
  const mongodb = await behindProxy('ENGRAM_TEST_MONGODB_URL');
  // The server would tell its own address, and the driver go there.
  mongodb.url.search = '?directConnection=true';
  const nats = await behindProxy('ENGRAM_TEST_NATS_URL');
  const elasticsearch = await behindProxy('ENGRAM_TEST_ELASTICSEARCH_URL');
  const neo4j = await behindProxy('ENGRAM_TEST_NEO4J_URL');
  const s3 = await behindProxy('ENGRAM_TEST_S3_URL');
  const proxies = {
    mongodb: mongodb.proxy,
    nats: nats.proxy,
    elasticsearch: elasticsearch.proxy,
    neo4j: neo4j.proxy,
    s3: s3.proxy,
  };
  return {
    proxies,
    environment: {
      ENGRAM_MONGODB_URL: mongodb.url.href,
      ENGRAM_NATS_URL: nats.url.href,
      ENGRAM_ELASTICSEARCH_URL: withoutSlash(elasticsearch.url),
      ENGRAM_NEO4J_URL: neo4j.url.href,
      ENGRAM_S3_URL: withoutSlash(s3.url),
      ENGRAM_S3_ACCESS_KEY: bucket.options.accessKey ?? '',
      ENGRAM_S3_SECRET_KEY: bucket.options.secretKey ?? '',
      ENGRAM_S3_REGION: bucket.options.region,
      ENGRAM_S3_BUCKET: bucket.options.bucket,
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(Object.values(proxies).map((proxy) => proxy[Symbol.asyncDispose]()));
      await bucket.dispose();
    },
  };
}

async function behindProxy(name: string): Promise<{ readonly proxy: FaultProxy; readonly url: URL }> {
  const url = new URL(variable(name));
  const proxy = await faultProxy(variable('ENGRAM_TEST_CHAOS_URL'), url.host);
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  return { proxy, url };
}

function variable(name: string): string {
  return process.env[name] ?? '';
}

function withoutSlash({ href }: URL): string {
  return href.replace(/\/$/, '');
}
