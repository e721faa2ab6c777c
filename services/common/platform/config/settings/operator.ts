import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { flag, optional, secret, setting, text } = rowsOf('Operator');

/** Settings of the process that reconciles Tenant and Dataset resources; the services read none of them. */
export const operator = {
  operatorHost: setting('ENGRAM_OPERATOR_HOST', {
    type: type.text(),
    default: '0.0.0.0',
    meaning: 'Address that `/livez`, `/readyz` and `/metrics` listen on.',
  }),
  operatorPort: setting('ENGRAM_OPERATOR_PORT', {
    type: type.integer({ min: 0, max: 65_535 }),
    default: '9090',
    meaning: 'Their port; 0 is any free one.',
  }),
  operatorNamespace: setting(['ENGRAM_OPERATOR_NAMESPACE', 'POD_NAMESPACE'], {
    type: type.text(),
    default: 'default',
    meaning: 'Namespace of the operator and of the services: of its lease and of the routes of tenants.',
  }),
  operatorName: text(
    ['ENGRAM_OPERATOR_NAME', 'POD_NAME'],
    'Name of this process in the lease and in events. Unset: the host name.',
  ),
  operatorLease: setting('ENGRAM_OPERATOR_LEASE', {
    type: type.text(),
    default: 'engram-operator',
    meaning: 'Name of the Lease by which one of several operators leads.',
  }),
  operatorWatchNamespaces: optional('ENGRAM_OPERATOR_WATCH_NAMESPACES', {
    type: type.list(),
    meaning: 'Namespaces whose resources it works on, a comma list. Unset: all.',
  }),
  operatorTrustedNamespaces: optional('ENGRAM_OPERATOR_TRUSTED_NAMESPACES', {
    type: type.list(),
    meaning:
      "Namespaces whose Tenants may take over any tenant (`spec.tenantId`) and name any TLS Secret beside the services, a comma list; the operator's own is one of them.",
  }),
  operatorWorkers: setting('ENGRAM_OPERATOR_WORKERS', {
    type: type.integer({ min: 1, max: 100 }),
    default: '4',
    meaning: 'Resources of each kind that are worked on at the same time.',
  }),
  operatorResyncMs: setting('ENGRAM_OPERATOR_RESYNC_SECONDS', {
    type: type.secondsAsMs({ min: 1, max: 86_400 }),
    default: '600',
    meaning: 'How often each resource is compared with what is, in seconds.',
  }),
  operatorIsolationCheckMs: setting('ENGRAM_OPERATOR_ISOLATION_CHECK_SECONDS', {
    type: type.secondsAsMs({ min: 10, max: 86_400 }),
    default: '1800',
    meaning: 'How often it is looked for memory of each tenant in others, in seconds.',
  }),
  operatorServices: optional('ENGRAM_OPERATOR_SERVICES', {
    type: type.list(),
    meaning:
      'Kubernetes Services that routes of tenants lead to, a comma list of `auth=engram-auth`. Unset: `engram-<service>`.',
  }),
  operatorServicePort: setting('ENGRAM_OPERATOR_SERVICE_PORT', {
    type: type.integer({ min: 1, max: 65_535 }),
    default: '80',
    meaning: 'Port of those Services.',
  }),
  operatorDedicatedImage: text(
    'ENGRAM_OPERATOR_DEDICATED_IMAGE',
    'Image of the services of Dedicated tenants: that of this release. Unset: there are no such tenants.',
  ),
  operatorDedicatedSettings: optional('ENGRAM_OPERATOR_DEDICATED_SETTINGS', {
    type: type.jsonObject(),
    meaning: 'Settings of their services by variable, a JSON object; no secrets, nothing of a store.',
  }),
  operatorDedicatedPods: optional('ENGRAM_OPERATOR_DEDICATED_PODS', {
    type: type.jsonObject(),
    meaning: 'Template of their pods, a JSON object as the chart renders it. Unset: that of the default values.',
  }),
  operatorDedicatedNetwork: optional('ENGRAM_OPERATOR_DEDICATED_NETWORK', {
    type: type.jsonObject(),
    meaning:
      'Their NetworkPolicies, a JSON object: `clients`, peers that may reach the services (none: everybody), and `stores`, rules of egress to the stores.',
  }),
  operatorMongodbUrl: secret(
    'ENGRAM_OPERATOR_MONGODB_URL',
    'MongoDB with an administrator, for the databases and users of Dedicated tenants: roles `userAdminAnyDatabase`, `readWriteAnyDatabase`, `dbAdminAnyDatabase`. Unset: there are no Dedicated tenants.',
  ),
  operatorElasticsearchUrl: secret(
    'ENGRAM_OPERATOR_ELASTICSEARCH_URL',
    'Elasticsearch with an administrator, for theirs: `https://user:password@host:9200`; privileges `manage_security`, and `all` of indexes `engram_*`.',
  ),
  operatorNeo4jUser: text(
    'ENGRAM_OPERATOR_NEO4J_USER',
    'Administrator of the Neo4j at `ENGRAM_NEO4J_URL`, for theirs.',
  ),
  operatorNeo4jPassword: secret('ENGRAM_OPERATOR_NEO4J_PASSWORD', 'The password of that user.'),
  operatorNatsUrl: secret(
    'ENGRAM_OPERATOR_NATS_URL',
    'NATS as the services of Dedicated tenants use it, who share its user: one for `engram-dedicated.>`, `_INBOX.engram-dedicated.>` and `$JS.>`: `nats://user:password@host:4222`.',
  ),
  operatorNatsCredentialsFile: text(
    'ENGRAM_OPERATOR_NATS_CREDENTIALS_FILE',
    'File with a JWT and its key in place of that user.',
  ),
  operatorNatsSigningKeyFile: text(
    'ENGRAM_OPERATOR_NATS_SIGNING_KEY_FILE',
    'File with the seed of the operator of NATS, or of a signing key of it, with which each Dedicated tenant gets an account of its own. Needs the next one too, and servers with a resolver of type `full` and `allow_delete`. Must not change: the keys of the accounts are made from it.',
  ),
  operatorNatsSystemCredentialsFile: text(
    'ENGRAM_OPERATOR_NATS_SYSTEM_CREDENTIALS_FILE',
    'File with the JWT and the key of a user of the system account of those servers.',
  ),
  operatorS3Buckets: flag(
    'ENGRAM_OPERATOR_S3_BUCKETS',
    'false',
    'Whether each Dedicated tenant has a bucket; else it has a folder in `ENGRAM_S3_BUCKET`, where that is set.',
  ),
  operatorKubeconfig: text(
    'ENGRAM_OPERATOR_KUBECONFIG',
    "File that says where the API server is. Unset: the pod's service account.",
  ),
  kubernetesHost: text('KUBERNETES_SERVICE_HOST', 'The API server; Kubernetes sets it in every pod.'),
  kubernetesPort: setting('KUBERNETES_SERVICE_PORT', {
    type: type.text(),
    default: '443',
    meaning: 'Its port; Kubernetes sets it too.',
  }),
};
