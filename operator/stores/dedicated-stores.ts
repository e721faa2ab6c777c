import { withoutUndefined } from '../../services/common/kernel/objects.ts';
import type { Config } from '../../services/common/platform/config/configuration.ts';
import type { DedicatedStores, StoreAdministrator } from './store-administrator.ts';

/** Settings that `openDedicatedStores` reads. */
export type DedicatedStoreSettings = Pick<
  Config,
  | 'operatorMongodbUrl'
  | 'operatorElasticsearchUrl'
  | 'operatorNeo4jUser'
  | 'operatorNeo4jPassword'
  | 'operatorNatsUrl'
  | 'operatorNatsCredentialsFile'
  | 'operatorNatsSigningKeyFile'
  | 'operatorNatsSystemCredentialsFile'
  | 'operatorS3Buckets'
  | 'neo4jUrl'
  | 'elasticsearchCaFile'
  | 'elasticsearchReplicas'
  | 'natsCaFile'
  | 's3Bucket'
  | 's3Url'
  | 's3Region'
  | 's3AccessKey'
  | 's3SecretKey'
  | 's3Prefix'
  | 'kafkaBrokers'
  | 'kafkaUser'
  | 'kafkaPassword'
  | 'kafkaCaFile'
>;

/**
 * Creates the administrators of the stores that are configured. Connects to nothing yet; the drivers, which are heavy, are
 * loaded only when all stores that a realm needs are configured.
 */
export async function openDedicatedStores(config: DedicatedStoreSettings): Promise<DedicatedStores> {
  const needed = {
    ENGRAM_OPERATOR_MONGODB_URL: config.operatorMongodbUrl,
    ENGRAM_OPERATOR_ELASTICSEARCH_URL: config.operatorElasticsearchUrl,
    ENGRAM_NEO4J_URL: config.neo4jUrl,
    ENGRAM_OPERATOR_NEO4J_USER: config.operatorNeo4jUser,
    ENGRAM_OPERATOR_NEO4J_PASSWORD: config.operatorNeo4jPassword,
    ENGRAM_OPERATOR_NATS_URL: config.operatorNatsUrl,
  };
  const isHalf =
    (config.operatorNatsSigningKeyFile === undefined) !== (config.operatorNatsSystemCredentialsFile === undefined);
  const names = 'ENGRAM_OPERATOR_NATS_SIGNING_KEY_FILE and ENGRAM_OPERATOR_NATS_SYSTEM_CREDENTIALS_FILE';
  if (isHalf) return { available: false, reason: `Dedicated needs both of ${names}, or none` };
  const missing = Object.entries(needed).flatMap(([name, value]) => (value ? [] : [name]));
  if (missing.length > 0) {
    return { available: false, reason: `Dedicated needs ${missing.toSorted().join(', ')}` };
  }
  const holdsFiles = config.operatorS3Buckets || config.s3Bucket !== undefined;
  const administrators = [
    await openMongodb(config, !holdsFiles),
    await openNats(config),
    await openElasticsearch(config),
    await openNeo4j(config),
    ...(holdsFiles ? [await openS3(config)] : []),
    ...(config.kafkaBrokers === undefined ? [] : [await openKafka(config, config.kafkaBrokers)]),
  ];
  return { available: true, administrators };
}

async function openMongodb(config: DedicatedStoreSettings, holdsBlobs: boolean): Promise<StoreAdministrator> {
  const { createMongodbAdministrator } = await import('./mongodb/mongodb-administrator.ts');
  return createMongodbAdministrator({ url: config.operatorMongodbUrl ?? '', holdsBlobs });
}

async function openNats(config: DedicatedStoreSettings): Promise<StoreAdministrator> {
  const { operatorNatsUrl: url = '', natsCaFile: caFile, operatorNatsCredentialsFile: credentialsFile } = config;
  const { operatorNatsSigningKeyFile: signingKeyFile, operatorNatsSystemCredentialsFile: systemCredentialsFile } =
    config;
  if (signingKeyFile === undefined || systemCredentialsFile === undefined) {
    const { createNatsAdministrator } = await import('./nats/nats-administrator.ts');
    return createNatsAdministrator({ url, ...withoutUndefined({ caFile, credentialsFile }) });
  }
  const { createNatsAccountAdministrator } = await import('./nats/nats-account-administrator.ts');
  return createNatsAccountAdministrator({
    url,
    signingKeyFile,
    systemCredentialsFile,
    ...withoutUndefined({ caFile }),
  });
}

async function openElasticsearch(config: DedicatedStoreSettings): Promise<StoreAdministrator> {
  const { createElasticsearchAdministrator } = await import('./elasticsearch/elasticsearch-administrator.ts');
  const { operatorElasticsearchUrl: url = '', elasticsearchReplicas: replicas, elasticsearchCaFile: caFile } = config;
  return createElasticsearchAdministrator({ url, replicas, ...withoutUndefined({ caFile }) });
}

async function openNeo4j(config: DedicatedStoreSettings): Promise<StoreAdministrator> {
  const { createNeo4jAdministrator } = await import('./neo4j/neo4j-administrator.ts');
  const { neo4jUrl: url = '', operatorNeo4jUser: user = '', operatorNeo4jPassword: password = '' } = config;
  return createNeo4jAdministrator({ url, user, password });
}

async function openS3(config: DedicatedStoreSettings): Promise<StoreAdministrator> {
  const { createS3Administrator } = await import('./s3/s3-administrator.ts');
  const { s3Url: endpoint, s3AccessKey: accessKey, s3SecretKey: secretKey } = config;
  return createS3Administrator({
    bucket: config.operatorS3Buckets ? null : (config.s3Bucket ?? null),
    prefix: config.s3Prefix,
    region: config.s3Region,
    ...withoutUndefined({ endpoint, accessKey, secretKey }),
  });
}

async function openKafka(config: DedicatedStoreSettings, brokers: readonly string[]): Promise<StoreAdministrator> {
  const { createKafkaAdministrator } = await import('./kafka/kafka-administrator.ts');
  const { kafkaUser: user, kafkaPassword: password, kafkaCaFile: caFile } = config;
  return createKafkaAdministrator({ brokers, ...withoutUndefined({ user, password, caFile }) });
}
