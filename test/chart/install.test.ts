import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type ApiClient, apiClient } from './api-client.ts';
import { attemptHelm, helm, kubectl, withCluster } from './cluster.ts';
import { ADMIN, type Installation, install, RELEASE } from './installation.ts';
import { startLoad } from './load.ts';
import { enforcePolicies } from './network/enforce-policies.ts';
import { startStranger } from './network/stranger.ts';
import {
  addAndFind,
  eventually,
  servicePods,
  signedIn,
  TEXT,
  tenantWithNotes,
  untilRouted,
  upgradeUnderLoad,
} from './requests.ts';
import { storesWith } from './traces.ts';
import { verifyReceipt } from './verify-receipt.ts';

withCluster('nodes', 'an installation of the chart', () => {
  let installation: Installation;
  let client: ApiClient;
  let policies: AsyncDisposable | undefined;

  before(async function installs() {
    this.timeout(900_000);
    installation = await install();
    policies = await enforcePolicies();
    await installation.apply();
    client = await signedIn(installation);
  });

  after(async function uninstalls() {
    this.timeout(120_000);
    client?.close();
    await installation?.[Symbol.asyncDispose]();
    await policies?.[Symbol.asyncDispose]();
  });

  it('passes helm test', async () => {
    const logs = await helm(['test', RELEASE, '--namespace', installation.namespace, '--logs']);
    expect(logs).to.include('ok      the default user can sign in').and.not.include('FAILED');
  });

  it('adds, cognifies and finds data through the Ingress', async () => {
    await addAndFind(client, 'by_ingress');
  });

  it('is reachable only for peers of its NetworkPolicies', async function strangers() {
    this.timeout(120_000);
    const { namespace } = installation;
    await using stranger = await startStranger(namespace, { name: 'stranger' });
    await using named = await startStranger(namespace, { name: 'named', client: 'true' });
    const at = (component: string) => `${RELEASE}-engram-${component}.${namespace}.svc`;
    await eventually(() => named.reaches(at('search'), 80));
    expect(await stranger.reaches(at('search'), 80)).to.equal(false);
    expect(await named.reaches(at('nats'), 4222)).to.equal(false);
    expect(await stranger.reaches(at('nats'), 4222)).to.equal(false);
  });

  it('loses no request during an upgrade under load', async function upgrades() {
    this.timeout(300_000);
    await upgradeUnderLoad(client, installation, {
      defaults: { podAnnotations: { round: '2' }, resources: smallResources },
    });
    await client.json('POST', '/api/v1/forget', { dataset: 'load' });
  });

  it('serves the same requests through an HTTPRoute', async function routes() {
    this.timeout(300_000);
    const gateway = await ownGateway(installation.namespace);
    try {
      const host = `route.${installation.host}`;
      const parentRefs = [{ name: gateway.name }];
      await installation.apply({
        ingress: { enabled: false },
        httpRoute: { enabled: true, parentRefs, hostnames: [host] },
      });
      const routed = apiClient(host);
      await untilRouted(routed);
      await routed.signIn(ADMIN, await installation.password());
      await addAndFind(routed, 'by_route');
      routed.close();
    } finally {
      await gateway[Symbol.asyncDispose]();
    }
  });

  it('creates a tenant from YAML, rotates its key under load, and erases it with a receipt', async function tenants() {
    this.timeout(300_000);
    const place = ['--namespace', installation.namespace];
    const host = `acme.${installation.host}`;
    const word = `marker${randomBytes(6).toString('hex')}`;
    const secret = async (key: string) =>
      kubectl(['get', 'secret', 'acme-key', ...place, '--output', `go-template={{.data.${key} | base64decode}}`]);
    await kubectl(['apply', ...place, '--filename', '-'], { input: JSON.stringify(acme(host)) });
    const ready = ['--for=condition=Ready', '--timeout=120s'];
    await kubectl(['wait', 'tenant/acme', 'dataset/notes', ...place, ...ready]);

    const first = apiClient(host, { apiKey: await secret('apiKey') });
    await untilRouted(first);
    await first.json('POST', '/api/v1/add', { data: `${TEXT} It was called ${word}.`, datasetName: 'notes' });
    await first.json('POST', '/api/v1/cognify', { datasets: ['notes'] });
    const query = { query: word, searchType: 'CHUNKS_LEXICAL', datasets: ['notes'] };
    expect(JSON.stringify(await first.json('POST', '/api/v1/search', query))).to.include(word);
    expect(await storesWith(word, installation.environment)).to.deep.equal(['mongodb', 'elasticsearch', 'neo4j']);

    let current = first;
    const load = startLoad(
      () => current,
      [
        ['GET', '/api/v1/datasets'],
        ['POST', '/api/v1/search', query],
      ],
    );
    await load.answered(20);
    const before = await secret('apiKey');
    await kubectl(['annotate', 'tenant', 'acme', ...place, 'engram.dev/rotate-at=now']);
    await eventually(async () => (await secret('apiKey')) !== before);
    expect(await secret('previousApiKey')).to.equal(before);
    await load.answered(20); // with the former key
    current = apiClient(host, { apiKey: await secret('apiKey') });
    await load.answered(20);
    const { failures } = await load.stop();
    expect(failures.slice(0, 20).join('\n')).to.equal('');

    const keys = await current.json('GET', '/api/v1/audit/keys');
    await kubectl(['delete', 'tenant', 'acme', ...place, '--timeout=180s']);
    expect(await storesWith(word, installation.environment)).to.deep.equal([]);
    const receipts = await kubectl([
      'get',
      'configmaps',
      ...place,
      '--selector',
      'engram.dev/receipt=Erased',
      '--output',
      'json',
    ]);
    const { items } = JSON.parse(receipts) as { items: { data: Record<string, string> }[] };
    expect(items).to.have.length(2); // the dataset's and the tenant's
    for (const { data } of items) {
      const text = data['receipt.json'] ?? '';
      expect(await verifyReceipt(text, keys)).to.match(/^(tenant|dataset) [-0-9a-f]{36} was erased, nothing was left/);
      expect(await verifyReceipt(text.replace('"residue":0', '"residue":0,"begun":1'), keys)).to.match(/no receipt/);
      expect(await verifyReceipt(text.replace(/"endedAt":"2/, '"endedAt":"3'), keys)).to.match(/not right/);
    }
    expect((await current.call('GET', '/api/v1/datasets')).status).to.be.oneOf([401, 403, 404]);
    first.close();
    current.close();
  });

  it('gives every service the permissions on the bus that it needs', async () => {
    const place = ['--namespace', installation.namespace];
    const selector = ['--selector', 'app.kubernetes.io/part-of=engram'];
    const logs = await kubectl(['logs', ...place, ...selector, '--prefix', '--tail=-1', '--max-log-requests=30']);
    expect(logs).to.include('engram.started');
    expect(logs.split('\n').filter((line) => line.includes('bus.connection.refused'))).to.deep.equal([]);
  });

  it('refuses an uninstall while a Tenant waits for the operator, unless forced', async function guards() {
    this.timeout(300_000);
    const place = ['--namespace', installation.namespace];
    const tenant = {
      apiVersion: 'engram.dev/v1alpha1',
      kind: 'Tenant',
      metadata: { name: 'left' },
      spec: { owner: { email: 'owner@left.example.com' } },
    };
    await kubectl(['create', ...place, '--filename', '-'], { input: JSON.stringify(tenant) });
    await kubectl(['wait', 'tenant/left', ...place, '--for=condition=Ready', '--timeout=120s']);
    const refused = await attemptHelm(['uninstall', RELEASE, ...place, '--timeout', '120s']);
    expect(refused.code).to.not.equal(0);
    const log = await kubectl(['logs', ...place, '--selector', 'app.kubernetes.io/component=uninstall-guard']);
    expect(log).to.include(`Tenant ${installation.namespace}/left`).and.include(FORCE);
    expect(await servicePods(installation.namespace)).to.have.length.greaterThan(5);

    // Forced, the guard abandons the tenant, and the operator lets it go.
    await kubectl(['create', 'configmap', FORCE, ...place]);
    await helm(['uninstall', RELEASE, ...place, '--timeout', '120s', '--wait']);
    expect(await kubectl(['get', 'deployments,tenants', ...place, '--output', 'name'])).to.equal('');
    const abandoned = ['get', 'configmaps', ...place, '--selector', 'engram.dev/receipt=Abandoned', '--output', 'name'];
    expect(await kubectl(abandoned)).to.include('configmap/left-abandoned');
    expect(await kubectl(['get', 'configmaps', ...place, '--output', 'name'])).to.not.include(FORCE);
    expect(await kubectl(['get', 'secrets', ...place, '--output', 'name'])).to.include(`secret/${RELEASE}-engram-keys`);
  });
});

/** Its presence forces an uninstall. */
const FORCE = `${RELEASE}-engram-force-uninstall`;

const smallResources = { requests: { cpu: '10m', memory: '96Mi' } };

/** A tenant with a dataset, a route of its own, and a policy that erases. */
function acme(hostname: string): object {
  return tenantWithNotes({
    owner: { email: 'owner@acme.example.com' },
    apiKeys: [{ name: 'default', secretName: 'acme-key', rotation: { interval: '2160h', overlap: '1h' } }],
    routing: { type: 'Ingress', hostname, ingressClassName: 'traefik' },
    deletionPolicy: 'Delete',
    datasetDeletion: 'Cascade',
  });
}

/** A Gateway of the cluster's own controller, which takes routes of its namespace. */
async function ownGateway(namespace: string): Promise<{ readonly name: string } & AsyncDisposable> {
  const group = 'gateway.networking.k8s.io/v1';
  const gatewayClass = {
    apiVersion: group,
    kind: 'GatewayClass',
    metadata: { name: namespace },
    spec: { controllerName: 'traefik.io/gateway-controller' },
  };
  const gateway = {
    apiVersion: group,
    kind: 'Gateway',
    metadata: { name: 'public', namespace },
    spec: { gatewayClassName: namespace, listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  };
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [gatewayClass, gateway] });
  await kubectl(['create', '--filename', '-'], { input });
  return {
    name: 'public',
    async [Symbol.asyncDispose]() {
      await kubectl(['delete', '--ignore-not-found', '--filename', '-'], { input });
    },
  };
}
