import { once } from '../../common/platform/async/once.ts';
import type { Config } from '../../common/platform/config/configuration.ts';
import { KEPT_SUBJECTS } from '../../common/platform/messaging/kept-topics.ts';
import { createClosing, critical, probeDocuments, type SourceParts, type StoreSource } from './store-source.ts';

/** Servers at the addresses of the configuration. Their drivers are loaded only here: they are heavy. */
export function createClusterSource({ config, collections, logger }: SourceParts): StoreSource {
  const closing = createClosing();
  const mongodb = once(async () => {
    const { connectMongodb } = await import('../../common/storage/documents/mongodb/connection.ts');
    const connection = await connectMongodb({
      url: required(config.mongodbUrl, 'ENGRAM_MONGODB_URL'),
      database: config.mongodbDatabase,
    });
    closing.add(() => connection.close());
    return connection;
  });
  return {
    async documents() {
      const { createMongodbDocumentStore } = await import('../../common/storage/documents/mongodb/document-store.ts');
      const store = createMongodbDocumentStore(await mongodb());
      await store.prepare(collections);
      return { port: store, health: critical('mongodb', () => probeDocuments(store)) };
    },
    blobs: (installation) => (config.s3Bucket === undefined ? openGridfs() : openS3(config.s3Bucket, installation)),
    async index(installation) {
      const { openElasticsearchIndexes } = await import(
        '../../common/storage/indexes/elasticsearch/elasticsearch-indexes.ts'
      );
      const indexes = await openElasticsearchIndexes({ ...elasticsearchOptions(config), installation });
      closing.add(() => indexes.close());
      return { port: indexes, health: critical('elasticsearch', () => indexes.check()) };
    },
    async graph(installation) {
      const { openNeo4jGraphStore } = await import('../../common/storage/graph/neo4j/neo4j-graph-store.ts');
      const graph = await openNeo4jGraphStore({
        url: required(config.neo4jUrl, 'ENGRAM_NEO4J_URL'),
        user: config.neo4jUser ?? '',
        password: config.neo4jPassword ?? '',
        installation,
        ...given({ database: config.neo4jDatabase, namespace: config.neo4jNamespace }),
      });
      closing.add(() => graph.close());
      return { port: graph, health: critical('neo4j', () => graph.check()) };
    },
    async bus(installation) {
      const { openNatsBus } = await import('../../common/storage/bus/nats/nats-bus.ts');
      const bus = await openNatsBus({
        ...natsOptions(config),
        installation,
        onListenerError: (error: unknown, subject: string) => logger.error('bus.listener-failed', { subject, error }),
        onStreamLost: (stream: string) => logger.error('bus.stream_lost', { stream }),
        onConnection: ({ kind, reason }) =>
          logger.warn(`bus.connection.${kind}`, reason === undefined ? {} : { reason }),
      });
      closing.add(() => bus.drain());
      return { port: bus, health: critical('nats', () => bus.check()) };
    },
    prepare() {},
    close: () => closing.closeAll(),
  };

  async function openGridfs() {
    const { createGridfsBlobStore } = await import('../../common/storage/blobs/gridfs/blob-store.ts');
    const connection = await mongodb();
    const check = () => connection.guarded(() => connection.client.db(config.mongodbDatabase).command({ ping: 1 }));
    return { port: createGridfsBlobStore(connection), health: critical('gridfs', check) };
  }

  async function openS3(bucket: string, installation: string) {
    const { openS3BlobStore } = await import('../../common/storage/blobs/s3/blob-store.ts');
    const store = await openS3BlobStore({ ...s3Options(config, bucket), installation });
    closing.add(() => store.close());
    return { port: store, health: critical('s3', () => store.check()) };
  }
}

/** `completeConfig` has refused a configuration without it. */
function required(value: string | undefined, name: string): string {
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

/** Returns the set options only: the adapters distinguish absent from empty. */
function given<Values extends Readonly<Record<string, unknown>>>(
  values: Values,
): { readonly [Key in keyof Values]?: NonNullable<Values[Key]> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    readonly [Key in keyof Values]?: NonNullable<Values[Key]>;
  };
}

function elasticsearchOptions(config: Config) {
  return {
    url: required(config.elasticsearchUrl, 'ENGRAM_ELASTICSEARCH_URL'),
    indexPrefix: config.elasticsearchPrefix,
    replicas: config.elasticsearchReplicas,
    ...given({
      apiKey: config.elasticsearchApiKey,
      username: config.elasticsearchUser,
      password: config.elasticsearchPassword,
      caFile: config.elasticsearchCaFile,
    }),
  };
}

function natsOptions(config: Config) {
  return {
    url: required(config.natsUrl, 'ENGRAM_NATS_URL'),
    prefix: config.natsPrefix,
    kept: KEPT_SUBJECTS,
    name: config.services.join('+'),
    ...given({
      user: config.natsUser,
      password: config.natsPassword,
      token: config.natsToken,
      credentialsFile: config.natsCredentialsFile,
      nkeyFile: config.natsNkeyFile,
      caFile: config.natsCaFile,
      certFile: config.natsCertificateFile,
      keyFile: config.natsKeyFile,
    }),
  };
}

function s3Options(config: Config, bucket: string) {
  return {
    bucket,
    prefix: config.s3Prefix,
    region: config.s3Region,
    ...given({ endpoint: config.s3Url, accessKey: config.s3AccessKey, secretKey: config.s3SecretKey }),
  };
}
