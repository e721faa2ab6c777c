import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import type { AuditKey } from '../../services/cli/audit-check.ts';
import { checkReceipt } from '../../services/cli/commands/receipt.ts';
import { canStartMongod, type MongodWithUsers, startMongodWithUsers } from '../integration/stores/mongod-with-users.ts';
import { type ApiClient, apiClient } from './api-client.ts';
import { kubectl, withCluster } from './cluster.ts';
import { type Installation, install } from './installation.ts';
import { enforcePolicies } from './network/enforce-policies.ts';
import { startStranger } from './network/stranger.ts';
import { eventually, TEXT, tenantWithNotes, untilRouted } from './requests.ts';

const NO_PODS = { replicas: 0, resources: { requests: { cpu: '10m', memory: '96Mi' } } };

withCluster('nodes', 'a Dedicated tenant of an installation', () => {
  if (!canStartMongod) {
    it.skip('needs ../shared/backends, to start a MongoDB with users');
    return;
  }
  let installation: Installation;
  let mongod: MongodWithUsers;
  let client: ApiClient | undefined;
  let policies: AsyncDisposable | undefined;

  before(async function installs() {
    this.timeout(900_000);
    mongod = await startMongodWithUsers();
    installation = await install({}, { ports: [Number(new URL(mongod.url.replace(/^mongodb:/, 'http:')).port)] });
    policies = await enforcePolicies();
    await createAdministrators(installation, mongod);
    // The services of the installation are none of its business: it has its own.
    await installation.apply({
      defaults: NO_PODS,
      ingress: { enabled: false },
      // As long before the end as the ingress needs to hear of it, but no longer for what is asked than a search takes.
      shutdown: { preStopSeconds: 5, drainSeconds: 5 },
      operator: {
        replicas: 1,
        watchNamespaces: [installation.namespace],
        dedicated: { enabled: true, existingSecret: 'administrators' },
      },
    });
  });

  after(async function uninstalls() {
    this.timeout(120_000);
    client?.close();
    await installation?.[Symbol.asyncDispose]();
    await policies?.[Symbol.asyncDispose]();
    await mongod?.[Symbol.asyncDispose]();
  });

  it('becomes Ready on its own stores, serves, hibernates, wakes, and is erased', async function lives() {
    this.timeout(480_000);
    const place = ['--namespace', installation.namespace];
    const host = `acme.${installation.host}`;
    const word = `marker${randomBytes(6).toString('hex')}`;
    await kubectl(['apply', ...place, '--filename', '-'], { input: JSON.stringify(acme(host)) });
    await kubectl(['wait', 'tenant/acme', 'dataset/notes', ...place, '--for=condition=Ready', '--timeout=180s']);
    const status = JSON.parse(
      await kubectl(['get', 'tenant', 'acme', ...place, '--output', 'jsonpath={.status}']),
    ) as Status;
    const { realm } = status;
    expect(status.stores).to.deep.include({
      role: 'Documents',
      driver: 'mongodb',
      name: `engram_${realm}`,
      isolation: 'Database',
      ownCredentials: true,
    });
    const labels = ['--selector', 'app.kubernetes.io/name=engram-tenant', '--output', 'name'];
    expect((await kubectl(['get', 'pods', ...place, ...labels])).trim().split('\n')).to.have.length(6);

    const secret = ['get', 'secret', 'acme-key', ...place, '--output', 'go-template={{.data.apiKey | base64decode}}'];
    const own = apiClient(host, { apiKey: await kubectl(secret) });
    client = own;
    await untilRouted(own);
    await own.json('POST', '/api/v1/add', { data: `${TEXT} It was called ${word}.`, datasetName: 'notes' });
    await own.json('POST', '/api/v1/cognify', { datasets: ['notes'] });
    const query = { query: word, searchType: 'CHUNKS_LEXICAL', datasets: ['notes'] };
    expect(JSON.stringify(await own.json('POST', '/api/v1/search', query))).to.include(word);
    const names = await storesOf(realm, mongod);
    expect(names).to.include(`engram_${realm}`);
    expect(names.some((name) => name.startsWith(`engram_${realm}-`))).to.equal(true);

    // Its processes are reached by no other pod of its namespace.
    await using stranger = await startStranger(installation.namespace, { name: 'stranger' });
    await using named = await startStranger(installation.namespace, { name: 'named', client: 'true' });
    const search = `tenant-acme-search.${installation.namespace}.svc`;
    await eventually(() => named.reaches(search, 80));
    expect(await stranger.reaches(search, 80)).to.equal(false);

    // What it signs in to its stores with changes while it is asked all the time.
    const before = await usersOf(realm, mongod);
    const asked = askUntil(own, query);
    await annotate(installation, 'rotate-stores-at');
    await kubectl([
      'wait',
      'tenant/acme',
      ...place,
      '--for=jsonpath={.status.lastHandledRotateStoresAt}=now',
      '--timeout=180s',
    ]);
    expect(await asked.stop()).to.deep.equal([200]);
    expect(await usersOf(realm, mongod))
      .to.have.length(1)
      .and.not.deep.equal(before);

    // As its auth would say after three days.
    const unused = ['--subresource', 'status', '--type', 'merge', '--patch', '{"status":{"state":"Hibernated"}}'];
    await kubectl(['patch', 'tenant', 'acme', ...place, ...unused]);
    await annotate(installation, 'reconcile-at');
    await kubectl([
      'wait',
      'deployment/tenant-acme-search',
      ...place,
      '--for=jsonpath={.spec.replicas}=0',
      '--timeout=60s',
    ]);
    await kubectl([
      'wait',
      'tenant/acme',
      ...place,
      '--for=jsonpath={.status.conditions[?(@.type=="Ready")].reason}=Hibernated',
    ]);
    // A pod that is ending may answer until then.
    await eventually(async () => (await own.call('POST', '/api/v1/search', query)).text.includes('hibernated'));
    await eventually(async () => (await own.call('POST', '/api/v1/search', query)).status === 200);
    await kubectl(['wait', 'tenant/acme', ...place, '--for=condition=Ready', '--timeout=120s']);

    await patch(installation, { state: 'Hibernated' });
    await kubectl(['wait', 'deployment/tenant-acme-search', ...place, '--for=jsonpath={.spec.replicas}=0']);
    await eventually(async () => (await own.call('POST', '/api/v1/search', query)).text.includes('hibernated'));
    expect((await own.call('GET', '/api/v1/datasets')).status).to.equal(503);
    await patch(installation, { state: 'Active' });
    await kubectl(['wait', 'tenant/acme', ...place, '--for=condition=Ready', '--timeout=120s']);
    await eventually(async () => (await own.call('POST', '/api/v1/search', query)).status === 200);
    expect(JSON.stringify(await own.json('POST', '/api/v1/search', query))).to.include(word);

    await kubectl(['delete', 'tenant', 'acme', ...place, '--timeout=180s']);
    expect(await storesOf(realm, mongod)).to.deep.equal([]);
    const selector = ['--selector', 'engram.dev/receipt=Erased', '--output', 'json'];
    const { items } = JSON.parse(await kubectl(['get', 'configmaps', ...place, ...selector])) as Receipts;
    const receipt = items.find(({ data }) => data['stores.json'] !== undefined)?.data;
    const { keys } = JSON.parse(receipt?.['keys.json'] ?? 'null') as { readonly keys: readonly AuditKey[] };
    expect(checkReceipt(receipt?.['receipt.json'] ?? '', keys)).to.include({ ok: true });
    expect(JSON.parse(receipt?.['stores.json'] ?? 'null')).to.deep.include({ realm });
    expect((await kubectl(['get', 'pods,deployments,services', ...place, ...labels])).trim()).to.equal('');
  });
});

interface Status {
  readonly realm: string;
  readonly stores: readonly object[];
}

interface Receipts {
  readonly items: readonly { readonly data: Readonly<Record<string, string>> }[];
}

/** A tenant with services of its own, a dataset, a route, and a policy that erases. */
function acme(hostname: string): object {
  return tenantWithNotes({
    isolation: 'Dedicated',
    owner: { email: 'owner@acme.example.com' },
    apiKeys: [{ name: 'default', secretName: 'acme-key' }],
    routing: { type: 'Ingress', hostname, ingressClassName: 'traefik' },
    hibernation: { afterIdle: '72h' },
    deletionPolicy: 'Delete',
    datasetDeletion: 'Cascade',
  });
}

async function patch({ namespace }: Installation, spec: object): Promise<void> {
  const words = ['--type', 'merge', '--patch', JSON.stringify({ spec })];
  await kubectl(['patch', 'tenant', 'acme', '--namespace', namespace, ...words]);
}

async function annotate({ namespace }: Installation, name: string): Promise<void> {
  await kubectl(['annotate', 'tenant', 'acme', '--namespace', namespace, `engram.dev/${name}=now`]);
}

/** One request after the other until it is stopped, which tells the statuses of the answers. */
function askUntil(client: ApiClient, query: object): { stop(): Promise<readonly number[]> } {
  const statuses = new Set<number>();
  let isStopped = false;
  const work = (async () => {
    while (!isStopped) statuses.add((await client.call('POST', '/api/v1/search', query)).status);
  })();
  return {
    async stop() {
      isStopped = true;
      await work;
      return [...statuses];
    },
  };
}

/** Of the realm's database. */
async function usersOf(realm: string, mongod: MongodWithUsers): Promise<readonly string[]> {
  const mongodb = new MongoClient(mongod.url);
  try {
    const { users } = await mongodb.db(`engram_${realm}`).command({ usersInfo: 1 });
    return (users as readonly { readonly user: string }[]).map(({ user }) => user);
  } finally {
    await mongodb.close();
  }
}

/** As somebody with an administrator of each external store would have them: the bundled NATS is known to the chart. */
async function createAdministrators({ namespace, environment }: Installation, mongod: MongodWithUsers): Promise<void> {
  const read = (name: string) => environment[name] ?? '';
  const inCluster = (url: string) => url.replace(/(127\.0\.0\.1|localhost)(?=:)/, 'host.cluster.internal');
  const mongodb = new URL(mongod.url.replace(/^mongodb:/, 'http:'));
  mongodb.search = '?directConnection=true&authSource=admin';
  const stringData = {
    mongodbUrl: inCluster(mongodb.href.replace(/^http:/, 'mongodb:')),
    elasticsearchUrl: inCluster(read('ENGRAM_ELASTICSEARCH_URL')),
    neo4jUser: read('ENGRAM_NEO4J_USER'),
    neo4jPassword: read('ENGRAM_NEO4J_PASSWORD'),
    natsUrl: inCluster(read('ENGRAM_NATS_URL')),
  };
  await kubectl(['create', '--namespace', namespace, '--filename', '-'], {
    input: JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'administrators' }, stringData }),
  });
}

/** Databases of MongoDB and indexes of Elasticsearch that have the realm in their names. */
async function storesOf(realm: string, mongod: MongodWithUsers): Promise<readonly string[]> {
  const mongodb = new MongoClient(mongod.url);
  try {
    const { databases } = await mongodb.db('admin').admin().listDatabases({ nameOnly: true });
    const { username, password, origin } = new URL(process.env['ENGRAM_TEST_ELASTICSEARCH_URL'] ?? '');
    const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString(
      'base64',
    );
    const headers = username === '' ? {} : { authorization: `Basic ${credentials}` };
    const answer = await fetch(`${origin}/_cat/indices/engram_${realm}*?format=json&expand_wildcards=all`, { headers });
    const indexes = (await answer.json()) as readonly { readonly index: string }[];
    return [...databases.map(({ name }) => name), ...indexes.map(({ index }) => index)].filter((name) =>
      name.includes(realm),
    );
  } finally {
    await mongodb.close();
  }
}
