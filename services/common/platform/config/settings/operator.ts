import * as type from '../value-types.ts';
import { optional, setting } from './setting.ts';

const section = 'Operator';

/** Settings of the process that reconciles Tenant and Dataset resources; the services read none of them. */
export const operator = {
  operatorHost: setting({
    names: ['ENGRAM_OPERATOR_HOST'],
    section,
    type: type.text(),
    default: '0.0.0.0',
    meaning: 'Address that `/livez`, `/readyz` and `/metrics` listen on.',
  }),
  operatorPort: setting({
    names: ['ENGRAM_OPERATOR_PORT'],
    section,
    type: type.integer({ min: 0, max: 65_535 }),
    default: '9090',
    meaning: 'Their port; 0 is any free one.',
  }),
  operatorNamespace: setting({
    names: ['ENGRAM_OPERATOR_NAMESPACE', 'POD_NAMESPACE'],
    section,
    type: type.text(),
    default: 'default',
    meaning: 'Namespace of the operator and of the services: of its lease and of the routes of tenants.',
  }),
  operatorName: optional({
    names: ['ENGRAM_OPERATOR_NAME', 'POD_NAME'],
    section,
    type: type.text(),
    meaning: 'Name of this process in the lease and in events. Unset: the host name.',
  }),
  operatorLease: setting({
    names: ['ENGRAM_OPERATOR_LEASE'],
    section,
    type: type.text(),
    default: 'engram-operator',
    meaning: 'Name of the Lease by which one of several operators leads.',
  }),
  operatorWatchNamespaces: optional({
    names: ['ENGRAM_OPERATOR_WATCH_NAMESPACES'],
    section,
    type: type.list(),
    meaning: 'Namespaces whose resources it works on, a comma list. Unset: all.',
  }),
  operatorTrustedNamespaces: optional({
    names: ['ENGRAM_OPERATOR_TRUSTED_NAMESPACES'],
    section,
    type: type.list(),
    meaning:
      "Namespaces whose Tenants may take over any tenant (`spec.tenantId`) and name any TLS Secret beside the services, a comma list; the operator's own is one of them.",
  }),
  operatorWorkers: setting({
    names: ['ENGRAM_OPERATOR_WORKERS'],
    section,
    type: type.integer({ min: 1, max: 100 }),
    default: '4',
    meaning: 'Resources of each kind that are worked on at the same time.',
  }),
  operatorResyncMs: setting({
    names: ['ENGRAM_OPERATOR_RESYNC_SECONDS'],
    section,
    type: type.secondsAsMs({ min: 1, max: 86_400 }),
    default: '600',
    meaning: 'How often each resource is compared with what is, in seconds.',
  }),
  operatorIsolationCheckMs: setting({
    names: ['ENGRAM_OPERATOR_ISOLATION_CHECK_SECONDS'],
    section,
    type: type.secondsAsMs({ min: 10, max: 86_400 }),
    default: '1800',
    meaning: 'How often it is looked for memory of each tenant in others, in seconds.',
  }),
  operatorServices: optional({
    names: ['ENGRAM_OPERATOR_SERVICES'],
    section,
    type: type.list(),
    meaning:
      'Kubernetes Services that routes of tenants lead to, a comma list of `auth=engram-auth`. Unset: `engram-<service>`.',
  }),
  operatorServicePort: setting({
    names: ['ENGRAM_OPERATOR_SERVICE_PORT'],
    section,
    type: type.integer({ min: 1, max: 65_535 }),
    default: '80',
    meaning: 'Port of those Services.',
  }),
  operatorDedicatedImage: optional({
    names: ['ENGRAM_OPERATOR_DEDICATED_IMAGE'],
    section,
    type: type.text(),
    meaning: 'Image of the services of Dedicated tenants: that of this release. Unset: there are no such tenants.',
  }),
  operatorDedicatedSettings: optional({
    names: ['ENGRAM_OPERATOR_DEDICATED_SETTINGS'],
    section,
    type: type.jsonObject(),
    meaning: 'Settings of their services by variable, a JSON object; no secrets, nothing of a store.',
  }),
  operatorDedicatedPods: optional({
    names: ['ENGRAM_OPERATOR_DEDICATED_PODS'],
    section,
    type: type.jsonObject(),
    meaning:
      "What their pods are like, a JSON object: `resources`, `nodeSelector` and others of the chart's `defaults`, `imagePullPolicy`, `imagePullSecrets`, `preStopSeconds`, `drainSeconds`.",
  }),
  operatorDedicatedNetwork: optional({
    names: ['ENGRAM_OPERATOR_DEDICATED_NETWORK'],
    section,
    type: type.jsonObject(),
    meaning:
      'Their NetworkPolicies, a JSON object: `clients`, peers that may reach the services (none: everybody), and `stores`, rules of egress to the stores.',
  }),
  operatorMongodbUrl: optional({
    names: ['ENGRAM_OPERATOR_MONGODB_URL'],
    section,
    type: type.text(),
    secret: true,
    meaning:
      'MongoDB with an administrator, for the databases and users of Dedicated tenants: roles `userAdminAnyDatabase`, `readWriteAnyDatabase`, `dbAdminAnyDatabase`. Unset: there are no Dedicated tenants.',
  }),
  operatorElasticsearchUrl: optional({
    names: ['ENGRAM_OPERATOR_ELASTICSEARCH_URL'],
    section,
    type: type.text(),
    secret: true,
    meaning:
      'Elasticsearch with an administrator, for theirs: `https://user:password@host:9200`; privileges `manage_security`, and `all` of indexes `engram_*`.',
  }),
  operatorNeo4jUser: optional({
    names: ['ENGRAM_OPERATOR_NEO4J_USER'],
    section,
    type: type.text(),
    meaning: 'Administrator of the Neo4j at `ENGRAM_NEO4J_URL`, for theirs.',
  }),
  operatorNeo4jPassword: optional({
    names: ['ENGRAM_OPERATOR_NEO4J_PASSWORD'],
    section,
    type: type.text(),
    secret: true,
    meaning: 'The password of that user.',
  }),
  operatorNatsUrl: optional({
    names: ['ENGRAM_OPERATOR_NATS_URL'],
    section,
    type: type.text(),
    secret: true,
    meaning:
      'NATS as the services of Dedicated tenants use it, who share its user: one for `engram-dedicated.>`, `_INBOX.engram-dedicated.>` and `$JS.>`: `nats://user:password@host:4222`.',
  }),
  operatorNatsCredentialsFile: optional({
    names: ['ENGRAM_OPERATOR_NATS_CREDENTIALS_FILE'],
    section,
    type: type.text(),
    meaning: 'File with a JWT and its key in place of that user.',
  }),
  operatorNatsSigningKeyFile: optional({
    names: ['ENGRAM_OPERATOR_NATS_SIGNING_KEY_FILE'],
    section,
    type: type.text(),
    meaning:
      'File with the seed of the operator of NATS, or of a signing key of it, with which each Dedicated tenant gets an account of its own. Needs the next one too, and servers with a resolver of type `full` and `allow_delete`. Must not change: the keys of the accounts are made from it.',
  }),
  operatorNatsSystemCredentialsFile: optional({
    names: ['ENGRAM_OPERATOR_NATS_SYSTEM_CREDENTIALS_FILE'],
    section,
    type: type.text(),
    meaning: 'File with the JWT and the key of a user of the system account of those servers.',
  }),
  operatorS3Buckets: setting({
    names: ['ENGRAM_OPERATOR_S3_BUCKETS'],
    section,
    type: type.flag(),
    default: 'false',
    meaning:
      'Whether each Dedicated tenant has a bucket; else it has a folder in `ENGRAM_S3_BUCKET`, where that is set.',
  }),
  operatorKubeconfig: optional({
    names: ['ENGRAM_OPERATOR_KUBECONFIG'],
    section,
    type: type.text(),
    meaning: "File that says where the API server is. Unset: the pod's service account.",
  }),
  kubernetesHost: optional({
    names: ['KUBERNETES_SERVICE_HOST'],
    section,
    type: type.text(),
    meaning: 'The API server; Kubernetes sets it in every pod.',
  }),
  kubernetesPort: setting({
    names: ['KUBERNETES_SERVICE_PORT'],
    section,
    type: type.text(),
    default: '443',
    meaning: 'Its port; Kubernetes sets it too.',
  }),
};
