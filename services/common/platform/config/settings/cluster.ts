import { z } from 'zod';
import { SERVICE_NAMES, type ServiceName } from '../../../domain/service-paths.ts';
import { parseJson } from '../../../kernel/json.ts';
import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { optional, secret, setting, text } = rowsOf('Cluster');

/** One address for all services, or a JSON object with one for each. */
const serviceUrls = z.string().transform((value, context): Readonly<Record<ServiceName, string>> => {
  const isUrl = (url: unknown) => typeof url === 'string' && /^https?:\/\/[^/?#]+\/?$/iu.test(url.trim());
  const given: unknown = value.trim().startsWith('{')
    ? parseJson(value)
    : Object.fromEntries(SERVICE_NAMES.map((name) => [name, value]));
  const urls = (given ?? {}) as Readonly<Record<ServiceName, string>>;
  const names: readonly string[] = SERVICE_NAMES;
  if (SERVICE_NAMES.every((name) => isUrl(urls[name])) && Object.keys(urls).every((name) => names.includes(name))) {
    return Object.fromEntries(SERVICE_NAMES.map((name) => [name, new URL(urls[name]).origin])) as typeof urls;
  }
  context.addIssue({
    code: 'custom',
    message: `must be an address such as http://host:8000, or a JSON object with one for each of ${names.join(', ')}`,
  });
  return z.NEVER;
});

/** Addresses of the servers of the cluster shape; used for the stores that `ENGRAM_STORES` or an override puts there. */
export const cluster = {
  mongodbUrl: secret(
    'ENGRAM_MONGODB_URL',
    'MongoDB 6.0 or newer, a replica set: `mongodb://user:password@host/?replicaSet=rs0`.',
  ),
  mongodbDatabase: setting('ENGRAM_MONGODB_DATABASE', {
    type: type.text(),
    default: 'engram',
    meaning: 'Database of the records and, without S3, of the files.',
  }),
  elasticsearchUrl: secret('ENGRAM_ELASTICSEARCH_URL', 'Elasticsearch 8 or 9: `https://host:9200`.'),
  elasticsearchUser: text('ENGRAM_ELASTICSEARCH_USER', 'Its user, unless an API key or the URL names one.'),
  elasticsearchPassword: secret('ENGRAM_ELASTICSEARCH_PASSWORD', 'The password of that user.'),
  elasticsearchApiKey: secret('ENGRAM_ELASTICSEARCH_API_KEY', 'API key in place of user and password.'),
  elasticsearchCaFile: text('ENGRAM_ELASTICSEARCH_CA_FILE', 'Certificate authority of its certificate, as PEM.'),
  elasticsearchPrefix: setting('ENGRAM_ELASTICSEARCH_INDEX_PREFIX', {
    type: type.text(),
    default: 'engram',
    meaning: 'Start of the names of its indexes.',
  }),
  elasticsearchReplicas: setting('ENGRAM_ELASTICSEARCH_REPLICAS', {
    type: type.integer({ min: 0, max: 10 }),
    default: '1',
    meaning: 'Copies of each shard of a new index; 0 for a single server.',
  }),
  neo4jUrl: text('ENGRAM_NEO4J_URL', 'Neo4j 5.26 or newer: `neo4j://host:7687`, `neo4j+s://…`, `bolt://…`.'),
  neo4jUser: text('ENGRAM_NEO4J_USER', 'Its user.'),
  neo4jPassword: secret('ENGRAM_NEO4J_PASSWORD', 'The password of that user.'),
  neo4jDatabase: text('ENGRAM_NEO4J_DATABASE', "Its database. Unset: the server's default, or the user's home."),
  neo4jNamespace: text(
    'ENGRAM_NEO4J_NAMESPACE',
    'Keeps this installation apart from others in the same database, as the operator sets it where an edition has one database only: letters, digits, `_` and `-`. Must not change.',
  ),
  natsUrl: secret('ENGRAM_NATS_URL', 'NATS servers with JetStream: a comma list of `nats://host:4222`.'),
  natsUser: text('ENGRAM_NATS_USER', 'Its user.'),
  natsPassword: secret('ENGRAM_NATS_PASSWORD', 'The password of that user.'),
  natsToken: secret('ENGRAM_NATS_TOKEN', 'Token in place of user and password.'),
  natsCredentialsFile: text(
    'ENGRAM_NATS_CREDENTIALS_FILE',
    'File with a JWT and its key, as `nsc` writes it. A JWT that lists the subjects of its service is longer than the 4 KiB that a server takes: set its `max_control_line` to 64KB.',
  ),
  natsNkeyFile: text('ENGRAM_NATS_NKEY_FILE', 'File with an nkey seed.'),
  natsCaFile: text('ENGRAM_NATS_CA_FILE', 'Certificate authority of its certificate, as PEM; turns TLS on.'),
  natsCertificateFile: text('ENGRAM_NATS_CERT_FILE', 'Certificate of this client, as PEM.'),
  natsKeyFile: text('ENGRAM_NATS_KEY_FILE', 'Key of that certificate, as PEM.'),
  natsPrefix: setting('ENGRAM_NATS_SUBJECT_PREFIX', {
    type: type.text(),
    default: 'engram',
    meaning: 'First word of its subjects, and start of the names of its streams.',
  }),
  s3Bucket: text('ENGRAM_S3_BUCKET', 'Bucket for files. Unset: they go to GridFS in MongoDB.'),
  s3Url: text('ENGRAM_S3_URL', 'Endpoint of an S3-compatible server; unset for AWS.'),
  s3Region: setting('ENGRAM_S3_REGION', {
    type: type.text(),
    default: 'us-east-1',
    meaning: 'Region of the bucket.',
  }),
  s3AccessKey: text('ENGRAM_S3_ACCESS_KEY', "Access key; unset: the usual sources of AWS's libraries."),
  s3SecretKey: secret('ENGRAM_S3_SECRET_KEY', 'The secret of that key.'),
  s3Prefix: setting('ENGRAM_S3_PREFIX', {
    type: type.text(),
    default: '',
    meaning: 'Start of the names of the objects.',
  }),
  kafkaBrokers: optional('ENGRAM_KAFKA_BROKERS', {
    type: type.list(),
    meaning: 'Kafka brokers, a comma list of `host:port`, that domain events are relayed to. Unset: none are.',
  }),
  kafkaUser: text('ENGRAM_KAFKA_USER', 'Its user (SCRAM-SHA-256).'),
  kafkaPassword: secret('ENGRAM_KAFKA_PASSWORD', 'The password of that user.'),
  kafkaCaFile: text('ENGRAM_KAFKA_CA_FILE', 'Certificate authority of the brokers, as PEM; turns TLS on.'),
  kafkaTopicPrefix: setting('ENGRAM_KAFKA_TOPIC_PREFIX', {
    type: type.text(),
    default: 'engram.',
    meaning: 'Start of the names of its topics.',
  }),
  serviceUrls: optional('ENGRAM_SERVICE_URLS', {
    type: serviceUrls,
    meaning:
      'Where the services reach each other over HTTP, for MCP clients: one address that sends requests on by their path, or a JSON object with an address for each service. Chart and operator set it.',
  }),
};
