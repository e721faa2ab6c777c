import type { Json } from './api-server.ts';

export function tenant(spec: Json, name = 'acme'): Json {
  return {
    apiVersion: 'engram.dev/v1alpha1',
    kind: 'Tenant',
    metadata: { name },
    spec: { owner: { email: 'ada@example.com' }, ...spec },
  };
}

export function dataset(spec: Json, name = 'tickets'): Json {
  return {
    apiVersion: 'engram.dev/v1alpha1',
    kind: 'Dataset',
    metadata: { name },
    spec: { tenantRef: { name: 'acme' }, ...spec },
  };
}

interface Refused {
  readonly what: string;
  /** Part of the message. */
  readonly says: string;
}

const ID = '6f1c2b0e-6a51-4b43-9a55-0b1d6a5c2f10';
const OTHER_ID = '7a1c2b0e-6a51-4b43-9a55-0b1d6a5c2f10';
const key = (rotation: Json): Json => ({ apiKeys: [{ name: 'default', secretName: 'key', rotation }] });
const selector = (matchExpressions: readonly Json[]): Json => ({
  datasets: { allowedNamespaces: { from: 'Selector', selector: { matchExpressions } } },
});
const grants = (...principals: readonly Json[]): Json => ({
  access: { grants: principals.map((principal) => ({ principal, permissions: ['read'] })) },
});

const source = (more: Json): Json => ({ sources: [{ name: 'site', connector: 'web', ...more }] });

/** Objects that are refused on creation, one for each rule. */
export const REFUSED_OBJECTS: readonly (Refused & { readonly object: Json })[] = [
  {
    what: 'an overlap as long as the interval',
    object: tenant(key({ interval: '24h', overlap: '24h' })),
    says: 'overlap must be shorter than interval',
  },
  {
    what: 'a rotation every few seconds',
    object: tenant(key({ interval: '30s', overlap: '5s' })),
    says: 'interval must be at least 1m',
  },
  {
    what: 'items that are kept for seconds',
    object: dataset({ retention: { itemTTL: '30s' } }),
    says: 'itemTTL must be at least 1m',
  },
  {
    what: 'a source that says nothing of where it is',
    object: dataset(source({})),
    says: 'a source needs an address, an account or credentialsSecretRef',
  },
  {
    what: 'a source with an account of the owner and credentials of its own',
    object: dataset(source({ account: 'Acme', credentialsSecretRef: { name: 'x' } })),
    says: 'account stands alone',
  },
  {
    what: 'a source with an interval and a schedule',
    object: dataset(source({ address: 'https://a.test', interval: '1h', schedule: '0 3 * * *' })),
    says: 'give interval or schedule, not both',
  },
  {
    what: 'a source that is brought in every few seconds',
    object: dataset(source({ address: 'https://a.test', interval: '30s' })),
    says: 'interval must be at least 1m',
  },
  {
    what: 'a source since no time',
    object: dataset(source({ account: 'Acme', since: 'last year' })),
    says: 'must be of type date-time',
  },
  {
    what: 'a source with an unknown end',
    object: dataset(source({ address: 'https://a.test', onRemoval: 'Forget' })),
    says: 'supported values: "Keep", "Delete"',
  },
  {
    what: 'two sources of one name',
    object: dataset({
      sources: ['https://a.test', 'https://b.test'].map((address) => ({ name: 'site', connector: 'web', address })),
    }),
    says: 'Duplicate value',
  },
  {
    what: 'a retention that says nothing',
    object: tenant({ retention: {} }),
    says: 'should have at least 1 properties',
  },
  {
    what: 'an isolation check with an unknown consequence',
    object: tenant({ isolationCheck: { onLeak: 'Ignore' } }),
    says: 'Unsupported value: "Ignore"',
  },
  {
    what: 'a tenant that sleeps after a minute',
    object: tenant({ hibernation: { afterIdle: '60s' } }),
    says: 'afterIdle must be at least 10m',
  },
  {
    what: 'two API keys in one Secret',
    object: tenant({
      apiKeys: [
        { name: 'a', secretName: 'same' },
        { name: 'b', secretName: 'same' },
      ],
    }),
    says: 'two of them have the same secretName',
  },
  {
    what: 'two API keys of one name',
    object: tenant({
      apiKeys: [
        { name: 'a', secretName: 'one' },
        { name: 'a', secretName: 'two' },
      ],
    }),
    says: 'Duplicate value',
  },
  {
    what: 'a namespace selector without from: Selector',
    object: tenant({ datasets: { allowedNamespaces: { from: 'All', selector: {} } } }),
    says: 'selector is needed with from: Selector',
  },
  {
    what: 'from: Selector without a selector',
    object: tenant({ datasets: { allowedNamespaces: { from: 'Selector' } } }),
    says: 'selector is needed with from: Selector',
  },
  {
    what: 'In without values',
    object: tenant(selector([{ key: 'a', operator: 'In' }])),
    says: 'In and NotIn need values',
  },
  {
    what: 'Exists with values',
    object: tenant(selector([{ key: 'a', operator: 'Exists', values: ['b'] }])),
    says: 'Exists and DoesNotExist have none',
  },
  {
    what: 'a provider that nobody knows, without an address',
    object: tenant({ llm: { provider: 'my-own', model: 'm', apiKeySecretRef: { name: 's' } } }),
    says: 'any other provider needs endpoint',
  },
  {
    what: 'a paid provider without a key',
    object: tenant({ llm: { provider: 'openai', model: 'm' } }),
    says: 'apiKeySecretRef is needed',
  },
  {
    what: 'an embedding provider that nobody knows, without an address',
    object: tenant({ embedding: { provider: 'my-own', model: 'm', dimensions: 8, apiKeySecretRef: { name: 's' } } }),
    says: 'any other provider needs endpoint',
  },
  {
    what: 'a paid embedding provider without a key',
    object: tenant({ embedding: { provider: 'openai', model: 'm', dimensions: 8 } }),
    says: 'apiKeySecretRef is needed',
  },
  {
    what: 'a built-in embedding model that there is not',
    object: tenant({ embedding: { provider: 'builtin', model: 'm', dimensions: 8 } }),
    says: 'the builtin provider has one model, hashing-v1',
  },
  {
    what: 'an embedding model without dimensions',
    object: tenant({ embedding: { provider: 'builtin', model: 'hashing-v1' } }),
    says: 'spec.embedding.dimensions: Required value',
  },
  {
    what: 'an Ingress without a host name',
    object: tenant({ routing: { type: 'Ingress' } }),
    says: 'hostname is needed with type Ingress and HTTPRoute',
  },
  {
    what: 'an HTTPRoute without a Gateway',
    object: tenant({ routing: { type: 'HTTPRoute', hostname: 'a.example.com', parentRefs: [] } }),
    says: 'parentRefs needs at least one Gateway',
  },
  {
    what: 'a Gateway for an Ingress',
    object: tenant({ routing: { type: 'Ingress', hostname: 'a.example.com', parentRefs: [{ name: 'g' }] } }),
    says: 'parentRefs is for type HTTPRoute',
  },
  {
    what: 'a TLS Secret for an HTTPRoute',
    object: tenant({
      routing: { type: 'HTTPRoute', hostname: 'a.example.com', parentRefs: [{ name: 'g' }], tlsSecretName: 's' },
    }),
    says: 'ingressClassName and tlsSecretName are for type Ingress',
  },
  {
    what: 'annotations that run in the ingress controller',
    object: tenant({
      routing: {
        type: 'Ingress',
        hostname: 'a.example.com',
        annotations: { 'nginx.ingress.kubernetes.io/server-snippet': 'return 200;' },
      },
    }),
    says: 'annotations with snippets of configuration are refused',
  },
  {
    what: 'isolation that is not offered',
    object: tenant({ isolation: 'Exclusive' }),
    says: 'supported values: "Shared", "Dedicated"',
  },
  {
    what: 'pods of a Shared tenant',
    object: tenant({ scaling: { search: { max: 3 } } }),
    says: 'scaling is for isolation: Dedicated',
  },
  {
    what: 'more pods at least than at most',
    object: tenant({ isolation: 'Dedicated', scaling: { search: { min: 3, max: 2 } } }),
    says: 'min must not be above max',
  },
  {
    what: 'NetworkPolicies of a Shared tenant',
    object: tenant({ network: {} }),
    says: 'network is for isolation: Dedicated',
  },
  {
    what: 'resources of pods that are not of its own',
    object: tenant({ resources: { search: { limits: { memory: '1Gi' } } } }),
    says: 'resources is for isolation: Dedicated',
  },
  {
    what: 'more memory set aside than may be used',
    object: tenant({
      isolation: 'Dedicated',
      resources: { search: { requests: { memory: '2Gi' }, limits: { memory: '1024Mi' } } },
    }),
    says: 'requests.memory must not be above limits.memory',
  },
  {
    what: 'more processor set aside than may be used',
    object: tenant({
      isolation: 'Dedicated',
      resources: { search: { requests: { cpu: '1500m' }, limits: { cpu: '1' } } },
    }),
    says: 'requests.cpu must not be above limits.cpu',
  },
  {
    what: 'a rotation of logins at stores that are not of its own',
    object: tenant({ storeLogins: { rotation: { interval: '720h' } } }),
    says: 'storeLogins is for isolation: Dedicated',
  },
  {
    what: 'a rotation of logins at stores all the time',
    object: tenant({ isolation: 'Dedicated', storeLogins: { rotation: { interval: '10m' } } }),
    says: 'interval of storeLogins must be at least 1h',
  },
  {
    what: 'egress that nothing acts on',
    object: tenant({ isolation: 'Dedicated', network: { policy: 'None', egress: {} } }),
    says: 'egress is for policy: Managed',
  },
  {
    what: 'a range of addresses that is none',
    object: tenant({ isolation: 'Dedicated', network: { egress: { allowCIDRs: ['10.0.0.0/33'] } } }),
    says: 'must be a range of addresses such as 10.0.0.0/8',
  },
  { what: 'a Tenant without an owner', object: { ...tenant({}), spec: {} }, says: 'spec.owner: Required value' },
  {
    what: 'a Dataset whose own name has dots and that says no other',
    object: dataset({}, 'a.b'),
    says: "a dataset's name has no dots",
  },
  {
    what: 'snapshots at no time',
    object: tenant({ backup: { keep: 3 } }),
    says: 'schedule',
  },
  {
    what: 'snapshots of which none is kept',
    object: tenant({ backup: { schedule: '0 3 * * *', keep: 0 } }),
    says: 'should be greater than or equal to 1',
  },
  {
    what: 'a Tenant that goes by Snapshot without backup',
    object: tenant({ deletionPolicy: 'Snapshot' }),
    says: 'needs backup.destinationRef',
  },
  {
    what: 'a Tenant that goes by Snapshot into the installation, which outlives nothing',
    object: tenant({ deletionPolicy: 'Snapshot', backup: { schedule: '0 3 * * *' } }),
    says: 'needs backup.destinationRef',
  },
  {
    what: 'a Dataset from a snapshot and from one that is there',
    object: dataset({ datasetId: ID, source: { snapshotRef: { name: 'tickets-1' } } }),
    says: 'not both',
  },
  {
    what: 'a snapshot with a name that none has',
    object: dataset({ source: { snapshotRef: { name: '../other' } } }),
    says: 'should match',
  },
  {
    what: 'a Dataset without a tenant',
    object: { ...dataset({}), spec: {} },
    says: 'spec.tenantRef: Required value',
  },
  {
    what: 'a principal that is nobody',
    object: dataset(grants({})),
    says: 'a principal is exactly one of user, role and tenant: true',
  },
  {
    what: 'a principal that is two',
    object: dataset(grants({ user: 'a@example.com', role: 'support' })),
    says: 'a principal is exactly one of user, role and tenant: true',
  },
  {
    what: 'tenant: false as a principal',
    object: dataset(grants({ tenant: false })),
    says: 'a principal is exactly one of user, role and tenant: true',
  },
  {
    what: 'two grants for one principal',
    object: dataset(grants({ role: 'support' }, { role: 'support' })),
    says: 'two grants name the same principal',
  },
  {
    what: 'a graph model from nowhere',
    object: dataset({ graphModel: {} }),
    says: 'give exactly one of inline and configMapRef',
  },
  {
    what: 'a prompt from two places',
    object: dataset({ prompt: { inline: 'x', configMapRef: { name: 'a', key: 'b' } } }),
    says: 'give exactly one of inline and configMapRef',
  },
  {
    what: 'a scheduled pipeline without a schedule',
    object: dataset({ pipeline: { cognify: { trigger: 'Schedule' } } }),
    says: 'schedule is needed with trigger: Schedule',
  },
  {
    what: 'a schedule for a manual pipeline',
    object: dataset({ pipeline: { improve: { trigger: 'Manual', schedule: '0 4 * * 0' } } }),
    says: 'schedule is needed with trigger: Schedule',
  },
];

interface RefusedChange extends Refused {
  readonly before: Json;
  /** Merge patch of the spec. */
  readonly change: Json;
  /** Written before the change. */
  readonly status?: Json;
}

export const REFUSED_CHANGES: readonly RefusedChange[] = [
  {
    what: 'another isolation',
    before: tenant({}, 'moves-out'),
    change: { isolation: 'Dedicated' },
    says: 'isolation cannot be changed',
  },
  {
    what: 'another tenantId',
    before: tenant({ tenantId: ID }, 'another-id'),
    change: { tenantId: OTHER_ID },
    says: 'tenantId cannot be changed or removed once it is set',
  },
  {
    what: 'a tenantId that is taken away',
    before: tenant({ tenantId: ID }, 'no-id'),
    change: { tenantId: null },
    says: 'tenantId cannot be changed or removed once it is set',
  },
  {
    what: 'a tenantId that is not the one that the Tenant stands for',
    before: tenant({}, 'late-id'),
    status: { tenantId: ID },
    change: { tenantId: OTHER_ID },
    says: 'spec.tenantId differs from the tenant that this resource stands for already',
  },
  {
    what: 'another tenantRef',
    before: dataset({}, 'moves'),
    change: { tenantRef: { name: 'other' } },
    says: 'tenantRef cannot be changed',
  },
  {
    what: 'another name of a Dataset',
    before: dataset({ name: 'one' }, 'renamed'),
    change: { name: 'two' },
    says: 'name cannot be changed, set or removed later',
  },
  {
    what: 'a name that is given to a Dataset later',
    before: dataset({}, 'named-late'),
    change: { name: 'two' },
    says: 'name cannot be changed, set or removed later',
  },
  {
    what: 'another datasetId',
    before: dataset({ datasetId: ID }, 'another-id'),
    change: { datasetId: OTHER_ID },
    says: 'datasetId cannot be changed or removed once it is set',
  },
  {
    what: 'a datasetId that is not the one that the Dataset stands for',
    before: dataset({}, 'late-id'),
    status: { datasetId: ID },
    change: { datasetId: OTHER_ID },
    says: 'spec.datasetId differs from the dataset that this resource stands for already',
  },
  {
    what: 'another snapshot as source',
    before: dataset({ source: { snapshotRef: { name: 'one' } } }, 'restored'),
    change: { source: { snapshotRef: { name: 'two' } } },
    says: 'spec.source cannot be changed',
  },
  {
    what: 'a source that is taken away',
    before: dataset({ source: { snapshotRef: { name: 'one' } } }, 'source-lost'),
    change: { source: null },
    says: 'spec.source cannot be added or taken away',
  },
  {
    what: 'a source for a Dataset that is there',
    before: dataset({}, 'source-late'),
    change: { source: { snapshotRef: { name: 'one' } } },
    says: 'spec.source cannot be added or taken away',
  },
];
