import { expect } from 'chai';
import { unavailable } from '../../test/support/kube/fake-services.ts';
import {
  createTenantWorld,
  PLACE,
  SERVICES_NAMESPACE,
  type TenantWorld,
} from '../../test/support/kube/tenant-world.ts';
import { DATASET_KIND, type Dataset } from '../api/dataset.ts';
import { FINALIZER, FRAME_ANNOTATIONS } from '../api/names.ts';
import { TENANT_KIND } from '../api/tenant.ts';
import { KINDS } from '../kube-runtime/kube-object.ts';

describe('deletion of a tenant', () => {
  let world: TenantWorld;
  beforeEach(async () => {
    world = await createTenantWorld();
  });
  afterEach(() => world.close());

  const onlyTenant = () => [...world.services.tenants.values()][0];
  const apiKeys = [{ name: 'default', secretName: 'key' }];
  const routing = { type: 'Ingress', hostname: 'acme.example.com' } as const;
  const remove = () => world.kube.remove(TENANT_KIND, PLACE);
  const dataset = (
    name: string,
    tenantRef: Dataset['spec']['tenantRef'] = { name: 'acme' },
    namespace = 'memory',
    status?: Dataset['status'],
  ) =>
    world.kube.put<Dataset>(DATASET_KIND, {
      apiVersion: DATASET_KIND.apiVersion,
      kind: DATASET_KIND.kind,
      metadata: { name, namespace, finalizers: ['engram.dev/dataset'] },
      spec: { tenantRef, suspend: false },
      ...(status === undefined ? {} : { status }),
    } as Dataset);
  const finish = (name: string, namespace = 'memory') =>
    world.kube.change<Dataset>(DATASET_KIND, { name, namespace }, { metadata: { finalizers: [] } });

  it('keeps tenant and keys with Retain, for adoption by another resource', async () => {
    world.put({ apiKeys, routing });
    await world.reconcile();
    const [id, hashes, key] = [onlyTenant()?.id, onlyTenant()?.keys.get('default'), world.secretValue('key', 'apiKey')];
    remove();
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
    expect(onlyTenant()).to.include({ id, crUid: null });
    expect(onlyTenant()?.keys.get('default')).to.deep.equal(hashes);
    expect(world.objects('ingresses').filter(({ metadata }) => metadata.deletionTimestamp === undefined)).to.deep.equal(
      [],
    );
    expect(world.secretValue('key', 'apiKey')).to.equal(key);

    world.put({ ...(id === undefined ? {} : { tenantId: id }), apiKeys, routing });
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available' });
    expect(world.secretValue('key', 'apiKey')).to.equal(key);
    expect(onlyTenant()?.keys.get('default')).to.deep.equal(hashes);
    expect(world.read()?.status?.secrets?.every(({ managed }) => managed)).to.equal(true);
  });

  it('erases a tenant with Delete, writes the receipt to a ConfigMap, and deletes its Secrets', async () => {
    world.put({ apiKeys, deletionPolicy: 'Delete' });
    await world.reconcile();
    const id = onlyTenant()?.id;
    remove();
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
    expect(world.services.tenants.size).to.equal(0);
    const [receipt] = world.configMaps();
    expect(JSON.parse(receipt?.data?.['receipt.json'] ?? '')).to.deep.equal({ tenant: id, signature: 'of-the-fake' });
    expect(receipt?.metadata.ownerReferences).to.equal(undefined);
    expect([world.secret('key'), world.secret('acme-owner')]).to.deep.equal([undefined, undefined]);
  });

  it('keeps the finalizer of a tenant until the erasure is complete, and shows its progress', async () => {
    world.put({ deletionPolicy: 'Delete' });
    await world.reconcile();
    remove();
    const progress = { erased: false, removed: {}, receipt: null };
    world.services.erasureAnswers = [
      { ...progress, step: 'blobs', residue: 40, failure: null },
      {
        ...progress,
        step: 'graph',
        residue: 12,
        failure: { name: 'ServiceUnavailableError', message: 'neo4j is away.' },
      },
      { ...progress, step: 'graph', residue: 2, failure: { name: 'ConflictError', message: '2 nodes are left.' } },
    ];
    expect((await world.reconcile()).requeueAfterMs).to.be.within(1000, 1100);
    expect(world.read()?.status?.erasure).to.deep.equal({ step: 'blobs', residue: 40 });
    expect(world.conditions()).to.include({ ErasureComplete: 'False InProgress', Ready: 'False Erasing' });
    expect(await world.reconcile()).to.include({ retry: true });
    expect(world.conditions()).to.include({ ErasureComplete: 'False StoreUnreachable' });
    expect(world.condition('ErasureComplete')?.message).to.equal(
      'The erasure continues when this is solved: neo4j is away',
    );
    await world.reconcile();
    expect(world.conditions()).to.include({ ErasureComplete: 'False ResidueFound' });
    expect(world.read()?.metadata.finalizers).to.deep.equal([FINALIZER]);
    expect(world.configMaps()).to.deep.equal([]);
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
  });

  it('continues an erasure after a change of the policy to Retain, with an event', async () => {
    world.put({ deletionPolicy: 'Delete', apiKeys });
    await world.reconcile();
    remove();
    const underWay = { erased: false, step: 'blobs', removed: {}, residue: 4, receipt: null, failure: null };
    world.services.erasureAnswers = [underWay, underWay];
    await world.reconcile();
    world.change({ spec: { deletionPolicy: 'Retain' } });
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'False Erasing', ErasureComplete: 'False InProgress' });
    expect(world.notes.at(-1)).to.deep.include({ type: 'Warning', reason: 'ErasureGoesOn' });
    await world.reconcile();
    expect([world.read(), world.services.tenants.size, world.secret('key')]).to.deep.equal([undefined, 0, undefined]);
    expect(world.configMaps()).to.have.length(1);
    expect(world.services.countOf('releaseTenant')).to.equal(0);
  });

  it('keeps the finalizer while the services do not answer, stalled in the end', async () => {
    world.put({ deletionPolicy: 'Delete' });
    await world.reconcile();
    remove();
    world.services.fail('eraseTenant', unavailable(), 5);
    for (let tries = 0; tries < 5; tries += 1) await world.reconcile();
    expect(world.conditions()).to.include({
      Stalled: 'True StoreUnreachable',
      ErasureComplete: 'False StoreUnreachable',
    });
    expect(world.read()?.metadata.finalizers).to.deep.equal([FINALIZER]);
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
  });

  it('writes a receipt once when the operator was killed after it', async () => {
    world.put({ deletionPolicy: 'Delete' });
    await world.reconcile();
    remove();
    world.kube.fail({ method: 'PATCH', path: /tenants\/acme$/, fault: { action: 'reset' } });
    expect(await world.reconcile().catch(() => 'killed')).to.equal('killed');
    expect(world.read()?.metadata.finalizers).to.deep.equal([FINALIZER]);
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
    expect(world.configMaps()).to.have.length(1);
  });

  it('writes the receipt to the operator’s namespace when the namespace is being deleted', async () => {
    world.put({ deletionPolicy: 'Delete', apiKeys });
    await world.reconcile();
    remove();
    // The namespace controller may be quicker with the Secrets.
    for (const name of ['key', 'acme-owner']) world.kube.remove(KINDS.secret, { name, namespace: 'memory' });
    const path = /namespaces\/memory\/configmaps$/;
    world.kube.fail({ method: 'POST', path, fault: { status: 403, reason: 'Forbidden' }, times: 10 });
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
    expect(world.configMaps().map(({ metadata }) => metadata.namespace)).to.deep.equal([SERVICES_NAMESPACE]);
    expect(world.notes.at(-1)?.message).to.contain('ConfigMap engram/');
  });

  it('erases nothing of a tenant that another resource manages', async () => {
    const id = '6f1c2b0e-6a51-4b43-9a55-0b1d6a5c2f10';
    world.services.addTenant(id);
    world.put({ tenantId: id }, { name: 'first', namespace: 'memory' });
    await world.reconcile('memory/first');
    const before = structuredClone(onlyTenant());
    for (const deletionPolicy of ['Delete', 'Retain'] as const) {
      world.put({ tenantId: id, deletionPolicy });
      await world.reconcile();
      remove();
      await world.reconcile();
      expect(world.read()).to.equal(undefined);
    }
    expect(onlyTenant()).to.deep.equal(before);
    expect(world.configMaps()).to.deep.equal([]);
  });

  it('deletes a Tenant that was never provisioned without creating an account', async () => {
    world.put({ deletionPolicy: 'Delete' });
    world.services.fail('ensureTenant', unavailable());
    await world.reconcile();
    remove();
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
    expect(world.services.countOf('eraseTenant')).to.equal(0);
    expect([world.services.tenants.size, world.services.accounts.size]).to.deep.equal([0, 0]);
    expect(world.secret('acme-owner')).to.equal(undefined);
  });

  for (const deletionPolicy of ['Delete', 'Retain'] as const) {
    it(`finds a tenant that was created just before the operator was killed, with policy ${deletionPolicy}`, async () => {
      world.put({ deletionPolicy });
      world.kube.fail({ method: 'PATCH', path: /status$/, fault: { action: 'reset' } });
      await world.reconcile().catch(() => 'killed');
      expect(world.read()?.status).to.equal(undefined);
      remove();
      world.services.fail('findManaged', unavailable());
      await world.reconcile();
      expect(world.read()?.metadata.finalizers).to.deep.equal([FINALIZER]);
      const underWay = { erased: false, step: 'blobs', removed: {}, residue: 4, receipt: null, failure: null };
      if (deletionPolicy === 'Delete') world.services.erasureAnswers = [underWay];
      while (world.read() !== undefined) await world.reconcile();
      expect(world.services.countOf('ensureTenant')).to.equal(1);
      if (deletionPolicy === 'Delete') expect(world.services.tenants.size).to.equal(0);
      else expect(onlyTenant()).to.include({ crUid: null, ownerEmail: 'admin@acme.example.com' });
    });
  }

  it('waits for Datasets with datasetDeletion Block, and names five of them', async () => {
    world.put({ deletionPolicy: 'Delete' });
    await world.reconcile();
    for (const name of ['f', 'e', 'd', 'c', 'b', 'a']) dataset(name);
    dataset('not-mine', { name: 'acme', namespace: 'elsewhere' });
    dataset('mine-too', { name: 'acme', namespace: 'memory' }, 'other', { datasetId: 'made-before' });
    remove();
    await world.reconcile();
    expect(world.conditions()).to.include({ Stalled: 'True DatasetsExist' });
    expect(world.condition('Stalled')?.message).to.equal(
      'Delete the Datasets of the tenant first, or set datasetDeletion to Cascade: memory/a, memory/b, memory/c, memory/d, memory/e and 2 more',
    );
    expect(world.services.countOf('eraseTenant')).to.equal(0);
    for (const name of ['f', 'e', 'd', 'c', 'b', 'a', 'mine-too']) {
      const namespace = name === 'mine-too' ? 'other' : 'memory';
      world.kube.remove(DATASET_KIND, { name, namespace });
      finish(name, namespace);
    }
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
  });

  for (const datasetDeletion of ['Block', 'Cascade'] as const) {
    it(`ignores a Dataset of a namespace that is not allowed, with ${datasetDeletion}`, async () => {
      world.put({ deletionPolicy: 'Delete', datasetDeletion });
      await world.reconcile();
      dataset('strange', { name: 'acme', namespace: 'memory' }, 'elsewhere');
      remove();
      await world.reconcile();
      expect(world.read()).to.equal(undefined);
      const held = world.kube.read<Dataset>(DATASET_KIND, { name: 'strange', namespace: 'elsewhere' });
      expect(held?.metadata.deletionTimestamp).to.equal(undefined);
    });
  }

  it('deletes Datasets first with datasetDeletion Cascade', async () => {
    world.put({ deletionPolicy: 'Delete', datasetDeletion: 'Cascade' });
    await world.reconcile();
    dataset('a');
    remove();
    await world.reconcile();
    const held = world.kube.read<Dataset>(DATASET_KIND, { name: 'a', namespace: 'memory' });
    expect(held?.metadata.deletionTimestamp).to.be.a('string');
    expect(world.services.countOf('eraseTenant')).to.equal(0);
    expect(world.conditions()).to.include({ Ready: 'False DeletingDatasets' });
    finish('a');
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
    expect(world.services.tenants.size).to.equal(0);
  });

  it('abandons a tenant without a call of the services, with a ConfigMap', async () => {
    world.put({ deletionPolicy: 'Delete', apiKeys });
    await world.reconcile();
    const id = onlyTenant()?.id;
    remove();
    const calls = world.services.calls.length;
    world.change({ metadata: { annotations: { [FRAME_ANNOTATIONS.abandon]: world.read()?.metadata.uid } } });
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
    expect(world.services.calls).to.have.length(calls);
    expect(onlyTenant()?.id).to.equal(id);
    expect(world.secret('key')).not.to.equal(undefined);
    const [receipt] = world.configMaps();
    expect(JSON.parse(receipt?.data?.['receipt.json'] ?? '')).to.include({ kind: 'Abandoned', tenantId: id });
    expect(world.notes.at(-1)).to.include({ type: 'Warning', reason: 'Abandoned' });
  });

  it('does not abandon a tenant by another uid', async () => {
    world.put({ deletionPolicy: 'Retain' });
    await world.reconcile();
    world.change({ metadata: { annotations: { [FRAME_ANNOTATIONS.abandon]: 'some-uid' } } });
    remove();
    await world.reconcile();
    expect(world.services.countOf('releaseTenant')).to.equal(1);
  });
});
