import { fileURLToPath } from 'node:url';
import { takeOwnNames } from '../integration/own-names.ts';
import { attemptHelm, attemptKubectl, helm, kubectl, ownNamespace } from './cluster.ts';
import { expose, imageInCluster, natsImageInCluster } from './image.ts';
import { CHART } from './programs.ts';

/** A release of the chart in a namespace of its own, with names of its own on the servers of ../shared/backends. */
export interface Installation extends AsyncDisposable {
  readonly namespace: string;
  /** Under which the ingress finds it. */
  readonly host: string;
  /** Its names on the servers, as the services have them; addresses as this machine has them. */
  readonly environment: Readonly<Record<string, string>>;
  /** `helm upgrade --install --wait` with these values over those before, by this tree's chart or another one. */
  apply(values?: object, chart?: string): Promise<void>;
  password(): Promise<string>;
}

export const RELEASE = 'rel';
export const ADMIN = 'admin@example.com';

const CRDS = fileURLToPath(new URL('../../crds', import.meta.url));
/** For a busy machine; what never comes up ends with this. */
const WAIT = ['--wait', '--timeout', '600s'];

interface InstallOptions {
  /** The chart's own NATS, where an image of it can be made; otherwise that of ../shared/backends. */
  readonly ownNats?: boolean;
  /** Of this machine's loopback, which its pods have to reach besides the stores. */
  readonly ports?: readonly number[];
}

export async function install(
  values: object = {},
  { ownNats = true, ports = [] }: InstallOptions = {},
): Promise<Installation> {
  const names = takeOwnNames();
  await kubectl(['apply', '--server-side', '--force-conflicts', '--filename', CRDS]);
  const image = await imageInCluster();
  // With a user for each service, which may do what the table says: whatever is missing there fails here.
  const nats = ownNats ? await natsImageInCluster() : null;
  const namespace = await ownNamespace('chart');
  const host = `${namespace.name}.test`;
  const stores = await storesInCluster(names.environment, namespace.name, ports);
  let current: object = {
    image,
    // Definitions are of the whole cluster: here they are not this release's.
    crds: { enabled: false },
    defaults: { resources: { requests: { cpu: '10m', memory: '96Mi' } } },
    ingress: { enabled: true, className: 'traefik', hosts: [host] },
    trustedProxies: ['10.0.0.0/8'],
    operator: { watchNamespaces: [namespace.name] },
    ...stores,
    ...(nats === null ? {} : { nats: { enabled: true, image: nats }, externalNats: {} }),
    ...values,
  };
  const apply: Installation['apply'] = async (more = {}, chart = CHART) => {
    const words = ['upgrade', '--install', RELEASE, chart, '--namespace', namespace.name, ...WAIT, '--values', '-'];
    current = { ...current, ...more };
    await helm(words, { input: JSON.stringify(current), timeoutMs: 660_000 });
  };
  return {
    namespace: namespace.name,
    host,
    environment: names.environment,
    apply,
    async password() {
      const words = ['get', 'secret', `${RELEASE}-engram-keys`, '--namespace', namespace.name];
      return kubectl([...words, '--output', 'go-template={{.data.DEFAULT_USER_PASSWORD | base64decode}}']);
    },
    async [Symbol.asyncDispose]() {
      await attemptHelm(['uninstall', RELEASE, '--namespace', namespace.name, '--no-hooks', '--wait']);
      await releaseResources(namespace.name);
      await namespace[Symbol.asyncDispose]();
      await names.remove();
    },
  };
}

/** What a failed test leaves would hold the namespace for ever: no operator lets go of it any more. */
async function releaseResources(namespace: string): Promise<void> {
  const { stdout } = await attemptKubectl(['get', 'tenants,datasets', '--namespace', namespace, '--output', 'name']);
  for (const name of stdout.split('\n').filter((line) => line !== '')) {
    const patch = ['--type', 'merge', '--patch', '{"metadata":{"finalizers":[]}}'];
    await attemptKubectl(['patch', name, '--namespace', namespace, ...patch]);
  }
}

/** The servers of the tests as pods reach them; their passwords in a Secret, as a chart's user would have it. */
async function storesInCluster(
  environment: Readonly<Record<string, string>>,
  namespace: string,
  furtherPorts: readonly number[],
): Promise<object> {
  const read = (name: string) => environment[name] ?? '';
  const elasticsearch = new URL(read('ENGRAM_ELASTICSEARCH_URL'));
  const mongodb = new URL(read('ENGRAM_MONGODB_URL').replace(/^mongodb:/, 'http:'));
  const [neo4j, nats] = [new URL(read('ENGRAM_NEO4J_URL')), new URL(read('ENGRAM_NATS_URL'))];
  const ports = [...[mongodb, elasticsearch, neo4j, nats].map(({ port }) => Number(port)), ...furtherPorts];
  await expose(ports);
  const secret = {
    'elasticsearch-user': decodeURIComponent(elasticsearch.username),
    'elasticsearch-password': decodeURIComponent(elasticsearch.password),
    'neo4j-user': read('ENGRAM_NEO4J_USER'),
    'neo4j-password': read('ENGRAM_NEO4J_PASSWORD'),
    // A set of one tells its clients the address by which it knows itself: loopback.
    mongodb: `mongodb://host.cluster.internal:${mongodb.port}/?directConnection=true`,
  };
  await kubectl(['create', '--namespace', namespace, '--filename', '-'], {
    input: JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'stores' }, stringData: secret }),
  });
  const at = (scheme: string, { port }: URL) => `${scheme}://host.cluster.internal:${port}`;
  return {
    // The node sends what comes through the ingress, so nobody else has to reach the services.
    networkPolicy: { clients: [{ podSelector: { matchLabels: { client: 'true' } } }], egressPorts: [6443, ...ports] },
    mongodb: { enabled: false },
    elasticsearch: { enabled: false },
    neo4j: { enabled: false },
    nats: { enabled: false },
    externalMongodb: {
      existingSecret: 'stores',
      urlKey: 'mongodb',
      database: read('ENGRAM_MONGODB_DATABASE'),
    },
    externalElasticsearch: {
      url: at('http', elasticsearch),
      ...(elasticsearch.username === '' ? {} : { existingSecret: 'stores' }),
      usernameKey: 'elasticsearch-user',
      passwordKey: 'elasticsearch-password',
      indexPrefix: read('ENGRAM_ELASTICSEARCH_INDEX_PREFIX'),
      replicas: 0,
    },
    externalNeo4j: {
      url: at('bolt', neo4j),
      existingSecret: 'stores',
      usernameKey: 'neo4j-user',
      passwordKey: 'neo4j-password',
    },
    externalNats: { url: at('nats', nats), subjectPrefix: read('ENGRAM_NATS_SUBJECT_PREFIX') },
  };
}
