import { expect } from 'chai';
import { TENANT_KIND } from '../../operator/api/tenant.ts';
import { KINDS, type KubeObject, type Secret } from '../../operator/kube-runtime/kube-object.ts';
import type { HttpRoute } from '../../operator/tenant/steps/sync-route.ts';
import type { ApiServer } from './api-server.ts';
import { type ClusterTenants, startClusterTenants } from './tenant-world.ts';
import { describeWithCluster } from './with-cluster.ts';

describeWithCluster('tenants on a real API server', (server) => {
  let api: ApiServer;
  let world: ClusterTenants;
  let servicesNamespace: string;

  before(async () => {
    api = server();
    await api.applyCrds();
    servicesNamespace = await api.newNamespace();
    const namespace = await api.newNamespace();
    const kubeconfig = process.env['ENGRAM_TEST_KUBECONFIG'] ?? '';
    world = await startClusterTenants({ kubeconfig, namespace, servicesNamespace });
  });
  after(async () => {
    if (world === undefined) return;
    // Their finalizers would keep the namespace for ever.
    const { items } = await world.client.list(TENANT_KIND, { namespace: world.namespace });
    for (const { metadata } of items) await world.change(TENANT_KIND, metadata, { metadata: { finalizers: null } });
    world.close();
  });

  const placed = (name: string) => ({ name, namespace: world.namespace });
  const version = async (name: string) => (await world.tenant(name))?.metadata.resourceVersion;
  const secret = (name: string) => world.client.get<Secret>(KINDS.secret, placed(name));
  const keyed = (secretName: string) => [{ name: 'default', secretName, rotation: { interval: '48h', overlap: '2h' } }];

  it('makes a tenant Ready, and then writes nothing', async () => {
    await world.create('steady', { apiKeys: keyed('steady-key'), quotas: { items: 10, action: 'Enforce' } });
    await world.reconcile('steady');
    expect(await world.conditions('steady')).to.deep.equal({
      Ready: 'True Available',
      StoresProvisioned: 'True Provisioned',
      CredentialsReady: 'True Issued',
      Routed: 'True NotRequested',
      IsolationVerified: 'Unknown NotChecked',
    });
    const held = await world.tenant('steady');
    expect(held?.status).to.deep.include({
      observedGeneration: 1,
      tenantId: [...world.services.tenants.keys()].at(-1),
    });
    expect(held?.metadata.finalizers).to.deep.equal(['engram.dev/tenant']);
    const versions = [await version('steady'), (await secret('steady-key'))?.metadata.resourceVersion];
    world.pass(600_000);
    await world.reconcile('steady');
    expect([await version('steady'), (await secret('steady-key'))?.metadata.resourceVersion]).to.deep.equal(versions);
  });

  it('creates a valid Ingress and corrects it', async () => {
    const tlsSecretName = `${world.namespace}.tls`;
    const routing = { type: 'Ingress', hostname: 'ingress.example.com', tlsSecretName } as const;
    await world.create('ingress', { routing });
    await world.reconcile('ingress');
    const { routeObject, url } = (await world.tenant('ingress'))?.status ?? {};
    expect(url).to.equal('https://ingress.example.com');
    const place = { name: routeObject?.name ?? '', namespace: servicesNamespace };
    await world.change(KINDS.ingress, place, { spec: { rules: [{ host: 'stolen.example.com' }] } });
    await world.reconcile('ingress');
    const ingress = await world.client.get<Ingress>(KINDS.ingress, place);
    expect(ingress?.spec.rules.map(({ host }) => host)).to.deep.equal(['ingress.example.com']);
    expect(ingress?.spec.rules[0]?.http.paths.length).to.be.greaterThan(20);
    expect(world.notes.map(({ message }) => message)).to.include(
      `Ingress ${servicesNamespace}/${place.name} was changed elsewhere and corrected`,
    );
    await world.change(TENANT_KIND, placed('ingress'), { spec: { routing: null } });
    await world.reconcile('ingress');
    expect(await world.client.get(KINDS.ingress, place)).to.equal(null);
    expect((await world.tenant('ingress'))?.status).not.to.have.any.keys('url', 'routeObject');
  });

  it('is Ready once a Gateway accepted the HTTPRoute', async () => {
    const parentRefs = [{ name: 'nobodys', namespace: world.namespace }];
    await world.create('http-route', { routing: { type: 'HTTPRoute', hostname: 'route.example.com', parentRefs } });
    await world.reconcile('http-route');
    expect(await world.conditions('http-route')).to.include({ Routed: 'Unknown GatewayPending' });
    const name = (await world.tenant('http-route'))?.status?.routeObject?.name ?? '';
    const place = { name, namespace: servicesNamespace };
    const route = await world.client.get<HttpRoute>(KINDS.httpRoute, place);
    const answer = (status: string, reason: string) =>
      world.client.patchStatus(KINDS.httpRoute, place, {
        parents: parentRefs.map((parentRef) => ({
          parentRef,
          controllerName: 'example.com/test',
          conditions: ['Accepted', 'ResolvedRefs'].map((type) => ({
            type,
            status,
            reason,
            message: 'Says the test.',
            observedGeneration: route?.metadata.generation,
            lastTransitionTime: '2026-11-22T12:00:00Z',
          })),
        })),
      });
    await answer('False', 'NotAllowedByListeners');
    await world.reconcile('http-route');
    expect(await world.conditions('http-route')).to.include({ Routed: 'False GatewayRejected' });
    await answer('True', 'Accepted');
    await world.reconcile('http-route');
    expect(await world.conditions('http-route')).to.include({ Routed: 'True Accepted', Ready: 'True Available' });
  });

  it('writes only valid statuses', async () => {
    await world.client.create<Secret>(KINDS.secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: placed('full-status-secret'),
      stringData: { password: 'a-password-of-mine', apiKey: 'sk-of-the-tenant' },
    });
    await world.create('full-status', {
      apiKeys: keyed('full-status-key'),
      quotas: { items: 1, storage: '1Gi', action: 'Warn' },
      state: 'Hibernated',
      routing: { type: 'Ingress', hostname: 'full.example.com' },
      // One Secret for two things.
      owner: { email: 'full@example.com', passwordSecretRef: { name: 'full-status-secret', key: 'password' } },
      llm: { provider: 'openai', model: 'm', apiKeySecretRef: { name: 'full-status-secret', key: 'apiKey' } },
    });
    await world.reconcile('full-status');
    const [tenant] = [...world.services.tenants.values()].filter(({ name }) => name === 'full-status');
    Object.assign(tenant?.used ?? {}, { items: 5, storageBytes: 2 ** 31, llmTokensPerDay: 7 });
    await world.reconcile('full-status');
    const { status } = (await world.tenant('full-status')) ?? {};
    expect(status?.usage).to.deep.equal({
      datasets: 0,
      items: 5,
      storage: '2Gi',
      llmTokensToday: 7,
      llmTokensThisMonth: 0,
      enforced: true,
    });
    expect(await world.conditions('full-status')).to.include({
      QuotaExceeded: 'True Items',
      Ready: 'False Hibernated',
    });
    expect(status?.languageModel).to.deep.equal({ provider: 'openai', model: 'm' });
    expect(status?.secrets?.map(({ purpose }) => purpose)).to.have.members(['OwnerPassword', 'ApiKey', 'ModelKey']);
  });
});

interface Ingress extends KubeObject {
  readonly spec: {
    readonly rules: readonly { readonly host: string; readonly http: { readonly paths: readonly unknown[] } }[];
  };
}
