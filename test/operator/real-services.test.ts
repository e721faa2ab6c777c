import { expect } from 'chai';
import { DATASET_KIND } from '../../operator/api/dataset.ts';
import { TENANT_KIND } from '../../operator/api/tenant.ts';
import { createServices } from '../../operator/installation/services.ts';
import { type ConfigMap, KINDS, type Secret } from '../../operator/kube-runtime/kube-object.ts';
import { createSystemClock } from '../../services/common/platform/system/clock.ts';
import { type ManagedApp, startManagedApp } from '../support/managed-app.ts';
import { until } from '../support/until.ts';
import { createOperatorWorld, isReady, type OperatorWorld } from './operator-world.ts';
import { describeWithCluster } from './with-cluster.ts';

const LIMIT = { limitMs: 45_000, everyMs: 100 };

describeWithCluster('operator with the real services', (server) => {
  let app: ManagedApp;
  let namespace: string;
  let world: OperatorWorld;

  before(async () => {
    await server().applyCrds();
    app = await startManagedApp();
    namespace = await server().newNamespace();
    const { messenger } = app;
    world = await createOperatorWorld(namespace, createServices(messenger, createSystemClock()));
    world.run();
  });
  after(async () => {
    await world.close();
    for (const { metadata } of await world.datasets()) {
      await world.client.patch(DATASET_KIND, metadata, { metadata: { finalizers: null } });
    }
    for (const { metadata } of await world.tenants()) {
      await world.client.patch(TENANT_KIND, metadata, { metadata: { finalizers: null } });
    }
    await app.stop();
  });

  const named = (name: string) => ({ name, namespace });
  const dataset = async () => (await world.datasets()).find(({ metadata }) => metadata.name === 'notes');
  const keyOf = async (): Promise<string> => {
    const secret = await world.client.get<Secret>(KINDS.secret, named('acme-key'));
    return Buffer.from(secret?.data?.['apiKey'] ?? '', 'base64').toString('utf8');
  };
  const call = async (path: string, init: RequestInit = {}) => {
    const headers = { 'x-api-key': await keyOf(), ...init.headers };
    return fetch(`${app.baseUrl}/api/v1${path}`, { ...init, headers });
  };
  let asked = 0;
  const lookAgain = () => {
    asked += 1;
    const annotations = { 'engram.dev/reconcile-at': String(asked) };
    return world.client.patch(DATASET_KIND, named('notes'), { metadata: { annotations } });
  };

  it('creates a tenant and a dataset that work with the key in the Secret', async () => {
    await world.createTenant('acme', {
      apiKeys: [{ name: 'default', secretName: 'acme-key' }] as never,
      deletionPolicy: 'Delete',
      quotas: { items: 100, action: 'Enforce' },
    });
    await world.createDataset('notes', 'acme', {
      pipeline: { cognify: { trigger: 'OnAdd' } },
      access: { exclusive: true, grants: [{ principal: { tenant: true }, permissions: ['read'] }] },
      prompt: { inline: 'Extract people and machines.' },
      chunking: { strategy: 'paragraph', maxTokens: 256 },
    });
    const ready = async () => [...(await world.tenants()), ...(await world.datasets())].every(isReady);
    await until('both are ready', ready, LIMIT);
    expect((await dataset())?.status?.promptHash).to.match(/^sha256:[0-9a-f]{64}$/);

    const form = new FormData();
    form.set(
      'data',
      new Blob(['Ada Lovelace wrote the first program for the Analytical Engine in London.']),
      'ada.txt',
    );
    form.set('datasetName', 'notes');
    const added = await call('/add', { method: 'POST', body: form });
    expect(added.status, await added.text()).to.equal(200);
    const listed = await call('/datasets');
    expect((await listed.json()) as unknown).to.have.nested.property('[0].id', (await dataset())?.status?.datasetId);

    await until(
      'it was cognified',
      async () => {
        await lookAgain();
        const { items = 0, pending = 0, nodes = 0 } = (await dataset())?.status?.stats ?? {};
        return items === 1 && pending === 0 && nodes > 0;
      },
      { limitMs: 45_000, everyMs: 1_000 },
    );
    const found = await call('/search', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'Who wrote the first program?', searchType: 'CHUNKS', datasets: ['notes'] }),
    });
    expect(await found.text()).to.match(/Ada Lovelace/);
    const stats = (await dataset())?.status?.stats;
    expect(stats).to.include({ items: 1, failed: 0 });
    expect(stats?.lastCognifiedAt).to.be.a('string');
  }).timeout(120_000);

  it('refuses a dataset that another resource manages', async () => {
    const { datasetId = '' } = (await dataset())?.status ?? {};
    await world.createDataset('thief', 'acme', { datasetId });
    await until(
      'it is refused',
      async () => {
        const thief = (await world.datasets()).find(({ metadata }) => metadata.name === 'thief');
        return thief?.status?.conditions?.some(({ reason }) => reason === 'OwnedByAnother') ?? false;
      },
      LIMIT,
    );
    await world.client.delete(DATASET_KIND, named('thief'));
    await until('it went', async () => (await world.datasets()).length === 1, LIMIT);
    expect((await call('/datasets').then((answer) => answer.json())) as unknown[]).to.have.length(1);
  }).timeout(120_000);

  it('erases the dataset, then the tenant, each with a signed receipt', async () => {
    await world.client.patch(DATASET_KIND, named('notes'), { spec: { deletionPolicy: 'Delete' } });
    await world.client.delete(DATASET_KIND, named('notes'));
    await until('it went', async () => (await world.datasets()).length === 0, LIMIT);
    expect((await call('/datasets').then((answer) => answer.json())) as unknown[]).to.deep.equal([]);
    await world.client.delete(TENANT_KIND, named('acme'));
    await until('the tenant went', async () => (await world.tenants()).length === 0, LIMIT);
    const selector = { namespace, labelSelector: 'engram.dev/receipt=Erased' };
    const { items } = await world.client.list<ConfigMap>(KINDS.configMap, selector);
    expect(items).to.have.length(2);
    for (const { data } of items) {
      expect(data?.['receipt.json']).to.match(/signature/);
      expect(data?.['receipt.json']).not.to.match(/Ada|Lovelace/);
    }
  }).timeout(120_000);
});
