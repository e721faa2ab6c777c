import { expect } from 'chai';
import { DATASET_KIND } from '../../operator/api/dataset.ts';
import { KEY_ANNOTATIONS, ROTATE_AT } from '../../operator/api/names.ts';
import { TENANT_KIND } from '../../operator/api/tenant.ts';
import { type ConfigMap, KINDS, type KubeObject, type Secret } from '../../operator/kube-runtime/kube-object.ts';
import { keySha256 } from '../../operator/tenant/key-plan.ts';
import type { HttpRoute } from '../../operator/tenant/steps/sync-route.ts';
import type { ApiServer } from './api-server.ts';
import { type ClusterTenants, startClusterTenants } from './tenant-world.ts';
import { describeWithCluster } from './with-cluster.ts';

const HOUR_MS = 3_600_000;
const BY_HAND = 'cd'.repeat(32);

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
  const valid = (email: string) =>
    [...world.services.tenants.values()].find(({ ownerEmail }) => ownerEmail === email)?.keys.get('default') ?? [];
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

  it('keeps an API key in a Secret, and rotates it with an overlap', async () => {
    await world.create('rotated', { apiKeys: keyed('rotated-key') });
    await world.reconcile('rotated');
    const former = (await world.secretValue('rotated-key')) ?? '';
    await world.change(TENANT_KIND, placed('rotated'), { metadata: { annotations: { [ROTATE_AT]: 'now' } } });
    await world.reconcile('rotated');
    const next = (await world.secretValue('rotated-key')) ?? '';
    expect(next)
      .to.match(/^[0-9a-f]{64}$/)
      .and.not.equal(former);
    expect(await world.secretValue('rotated-key', 'previousApiKey')).to.equal(former);
    expect(valid('rotated@example.com')).to.deep.equal([keySha256(next), keySha256(former)]);
    world.pass(2 * HOUR_MS);
    await world.reconcile('rotated');
    expect(Object.keys((await secret('rotated-key'))?.data ?? {})).to.deep.equal(['apiKey']);
    expect((await secret('rotated-key'))?.metadata.annotations).not.to.have.property(KEY_ANNOTATIONS.previousSha256);
    expect(valid('rotated@example.com')).to.deep.equal([keySha256(next)]);
  });

  it('uses a key that a user writes into the Secret, also after rotations', async () => {
    await world.create('edited', { apiKeys: keyed('edited-key') });
    await world.reconcile('edited');
    const former = keySha256((await world.secretValue('edited-key')) ?? '');
    await world.change(KINDS.secret, placed('edited-key'), { stringData: { apiKey: BY_HAND } });
    await world.reconcile('edited');
    expect(valid('edited@example.com')).to.deep.equal([keySha256(BY_HAND), former]);
    world.pass(48 * HOUR_MS);
    await world.reconcile('edited');
    expect(await world.secretValue('edited-key')).not.to.equal(BY_HAND);
    expect(await world.secretValue('edited-key', 'previousApiKey')).to.equal(BY_HAND);
  });

  it('moves a key to another Secret and deletes the old one', async () => {
    await world.create('moved', { apiKeys: keyed('moved-key') });
    await world.reconcile('moved');
    const value = await world.secretValue('moved-key');
    await world.change(TENANT_KIND, placed('moved'), { spec: { apiKeys: keyed('moved-there') } });
    await world.reconcile('moved');
    expect(await world.secretValue('moved-there')).to.equal(value);
    expect(await secret('moved-key')).to.equal(null);
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

  it('releases a tenant with Retain, whose Secrets the next one uses', async () => {
    await world.create('retained', { apiKeys: keyed('retained-key') });
    await world.reconcile('retained');
    const { tenantId } = (await world.tenant('retained'))?.status ?? {};
    const value = await world.secretValue('retained-key');
    await world.remove('retained');
    await world.reconcile('retained');
    expect(await world.tenant('retained')).to.equal(null);
    expect(await world.secretValue('retained-key')).to.equal(value);
    await world.create('retained', { apiKeys: keyed('retained-key'), ...(tenantId === undefined ? {} : { tenantId }) });
    await world.reconcile('retained');
    expect((await world.tenant('retained'))?.status?.tenantId).to.equal(tenantId);
    expect(await world.secretValue('retained-key')).to.equal(value);
    expect((await world.tenant('retained'))?.status?.secrets?.map(({ managed }) => managed)).to.deep.equal([
      true,
      true,
    ]);
  });

  it('erases a tenant with Delete, keeps the receipt and deletes its Secrets', async () => {
    await world.create('erased', { apiKeys: keyed('erased-key'), deletionPolicy: 'Delete' });
    await world.reconcile('erased');
    const { tenantId } = (await world.tenant('erased'))?.status ?? {};
    world.services.erasureAnswers = [
      { erased: false, step: 'graph', removed: {}, residue: 3, receipt: null, failure: null },
    ];
    await world.remove('erased');
    await world.reconcile('erased');
    expect((await world.tenant('erased'))?.status?.erasure).to.deep.equal({ residue: 3, step: 'graph' });
    await world.reconcile('erased');
    expect(await world.tenant('erased')).to.equal(null);
    expect(await secret('erased-key')).to.equal(null);
    const { items } = await world.client.list<ConfigMap>(KINDS.configMap, {
      namespace: world.namespace,
      labelSelector: 'engram.dev/receipt=Erased',
    });
    expect(items.map(({ data }) => JSON.parse(data?.['receipt.json'] ?? '{}').tenant)).to.deep.equal([tenantId]);
  });

  it('waits for Datasets of the tenant', async () => {
    await world.create('blocked', { deletionPolicy: 'Delete' });
    await world.reconcile('blocked');
    for (const [name, tenant] of [
      ['of-blocked', 'blocked'],
      ['of-another', 'another'],
    ] as const) {
      await world.client.create(DATASET_KIND, {
        apiVersion: DATASET_KIND.apiVersion,
        kind: DATASET_KIND.kind,
        metadata: placed(name),
        spec: { tenantRef: { name: tenant } },
      } as KubeObject);
    }
    await world.remove('blocked');
    await world.reconcile('blocked');
    expect(await world.conditions('blocked')).to.include({ Stalled: 'True DatasetsExist' });
    const { conditions = [] } = (await world.tenant('blocked'))?.status ?? {};
    expect(conditions.find(({ type }) => type === 'Stalled')?.message).to.match(
      new RegExp(`: ${world.namespace}/of-blocked$`),
    );
    await world.change(TENANT_KIND, placed('blocked'), { spec: { datasetDeletion: 'Cascade' } });
    await world.reconcile('blocked');
    expect(await world.client.get(DATASET_KIND, placed('of-blocked'))).to.equal(null);
    expect(await world.client.get(DATASET_KIND, placed('of-another'))).not.to.equal(null);
    await world.reconcile('blocked');
    expect(await world.tenant('blocked')).to.equal(null);
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
