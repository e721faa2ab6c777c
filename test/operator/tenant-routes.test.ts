import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { TENANT_KIND, type TenantRouting } from '../../operator/api/tenant.ts';
import { createServices } from '../../operator/installation/services.ts';
import { KINDS, type KubeObject, type ResourceKind } from '../../operator/kube-runtime/kube-object.ts';
import { SERVICE_NAMES } from '../../services/common/domain/service-paths.ts';
import { createSystemClock } from '../../services/common/platform/system/clock.ts';
import { type ManagedApp, startManagedApp } from '../support/managed-app.ts';
import { type ClusterTenants, startClusterTenants } from './tenant-world.ts';
import { describeWithCluster } from './with-cluster.ts';

const INGRESS = process.env['ENGRAM_TEST_INGRESS'];
const HOST = process.env['ENGRAM_TEST_CLUSTER_HOST'] ?? '';

const ENDPOINT_SLICE: ResourceKind = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
};
const GATEWAY: ResourceKind = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  plural: 'gateways',
  namespaced: true,
};
const GATEWAY_CLASS: ResourceKind = { ...GATEWAY, kind: 'GatewayClass', plural: 'gatewayclasses', namespaced: false };

/** Requests pass a real ingress controller and gateway to the services of this process. */
describeWithCluster('routes of tenants through a real ingress', (server) => {
  if (INGRESS === undefined) {
    it.skip('ENGRAM_TEST_INGRESS not set: cluster up --nodes 1');
    return;
  }
  const own = randomBytes(4).toString('hex');
  let app: ManagedApp;
  let world: ClusterTenants;
  let namespace: string;

  before(async function () {
    this.timeout(60_000);
    const api = server();
    await api.applyCrds();
    app = await startManagedApp({ HTTP_API_HOST: HOST, ENGRAM_HOSTED: 'true' });
    namespace = await api.newNamespace();
    const bus = createServices(app.messenger, createSystemClock());
    world = await startClusterTenants({
      kubeconfig: process.env['ENGRAM_TEST_KUBECONFIG'] ?? '',
      namespace: await api.newNamespace(),
      servicesNamespace: namespace,
      services: bus,
    });
    await Promise.all(SERVICE_NAMES.map((name) => makeService(`engram-${name}`)));
  });
  after(async () => {
    if (world !== undefined) {
      const { items } = await world.client.list(TENANT_KIND, { namespace: world.namespace });
      for (const { metadata } of items) await world.change(TENANT_KIND, metadata, { metadata: { finalizers: null } });
      await world.client.delete(GATEWAY_CLASS, { name: own });
      world.close();
    }
    await app?.stop();
  });

  /** Of this process: no pod has the image here. */
  async function makeService(name: string): Promise<void> {
    const metadata = { name, namespace };
    const port = Number(new URL(app.baseUrl).port);
    const ports = [{ name: 'http', port: 80, targetPort: port, protocol: 'TCP' }];
    await world.client.create(KINDS.service, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { ports },
    } as KubeObject);
    await world.client.create(ENDPOINT_SLICE, {
      apiVersion: ENDPOINT_SLICE.apiVersion,
      kind: ENDPOINT_SLICE.kind,
      addressType: 'IPv4',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': name } },
      endpoints: [{ addresses: [HOST], conditions: { ready: true } }],
      ports: [{ name: 'http', port, protocol: 'TCP' }],
    } as KubeObject);
  }

  async function makeTenant(name: string, routing: TenantRouting): Promise<string> {
    await world.create(name, { routing, apiKeys: [{ name: 'default', secretName: `${name}-key` }] });
    for (;;) {
      await world.reconcile(name);
      const conditions = await world.conditions(name);
      if (conditions['Ready'] === 'True Available') break;
      expect(conditions).not.to.have.property('Stalled');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return (await world.secretValue(`${name}-key`)) ?? '';
  }

  const ask = (host: string, key: string) => askIngress(INGRESS, host, { path: '/api/v1/datasets', key });

  async function served(host: string, key: string): Promise<number> {
    for (;;) {
      const status = await ask(host, key);
      // Until the controller has the route.
      if (status !== 404 && status < 500) return status;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  it('reach the tenant of the host name by an Ingress, which refuses keys of others', async () => {
    const [host, otherHost] = [`a-${own}.example.com`, `b-${own}.example.com`];
    const key = await makeTenant('by-ingress', { type: 'Ingress', hostname: host, ingressClassName: 'traefik' });
    const other = await makeTenant('by-ingress-too', { type: 'Ingress', hostname: otherHost });
    expect(await served(host, key)).to.equal(200);
    expect(await served(otherHost, other)).to.equal(200);
    expect(await ask(host, other)).to.be.oneOf([401, 403]);
    expect(await ask(otherHost, key)).to.be.oneOf([401, 403]);
    expect((await world.tenant('by-ingress'))?.status?.url).to.equal(`http://${host}`);
  });

  it('reach the tenant by an HTTPRoute that the Gateway accepted', async () => {
    await world.client.create(GATEWAY_CLASS, {
      apiVersion: GATEWAY_CLASS.apiVersion,
      kind: GATEWAY_CLASS.kind,
      metadata: { name: own },
      spec: { controllerName: 'traefik.io/gateway-controller' },
    } as KubeObject);
    const listeners = [{ name: 'web', protocol: 'HTTP', port: 80, allowedRoutes: { namespaces: { from: 'All' } } }];
    await world.client.create(GATEWAY, {
      apiVersion: GATEWAY.apiVersion,
      kind: GATEWAY.kind,
      metadata: { name: 'public', namespace: world.namespace },
      spec: { gatewayClassName: own, listeners },
    } as KubeObject);
    const host = `c-${own}.example.com`;
    const key = await makeTenant('by-route', { type: 'HTTPRoute', hostname: host, parentRefs: [{ name: 'public' }] });
    expect(await served(host, key)).to.equal(200);
    expect((await world.tenant('by-route'))?.status?.url).to.equal(`http://${host}`);
    expect(await world.conditions('by-route')).to.include({ Routed: 'True Accepted' });
  });

  it('answer 503 while the tenant is hibernated', async () => {
    const host = `d-${own}.example.com`;
    const key = await makeTenant('sleeper', { type: 'Ingress', hostname: host });
    expect(await served(host, key)).to.equal(200);
    await world.change(TENANT_KIND, { name: 'sleeper', namespace: world.namespace }, { spec: { state: 'Hibernated' } });
    await world.reconcile('sleeper');
    while ((await ask(host, key)) !== 503) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await world.conditions('sleeper')).to.include({ Ready: 'False Hibernated' });
  });
});

function askIngress(
  address: string,
  host: string,
  { path, key }: { readonly path: string; readonly key: string },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { host, 'x-api-key': key };
    const request = httpRequest({ host: address, port: 80, path, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    request.on('error', reject);
    request.end();
  });
}
