import { expect } from 'chai';
import { engramError } from '../../services/common/kernel/errors.ts';
import { createDatasetWorld, type DatasetWorld, TENANT_ID } from '../../test/support/kube/dataset-world.ts';
import { unavailable } from '../../test/support/kube/fake-services.ts';

describe('deletion of datasets', () => {
  let world: DatasetWorld;
  beforeEach(async () => {
    world = await createDatasetWorld();
  });
  afterEach(() => world.close());

  const begin = async (spec: Parameters<DatasetWorld['put']>[0] = {}, tenant = {}) => {
    world.putTenant(tenant);
    world.put(spec);
    await world.reconcile();
  };
  const held = () => [...world.services.datasets.values()];
  const receipts = () => world.configMaps().map(({ data }) => data?.['receipt.json']);
  const underWay = { erased: false, step: 'graph', removed: {}, residue: 12, receipt: null, failure: null };

  it('releases a dataset with its data by default', async () => {
    await begin();
    world.remove();
    expect(await world.reconcile()).to.deep.equal({ result: 'gone' });
    expect(world.read()).to.equal(undefined);
    expect(held().map(({ crUid }) => crUid)).to.deep.equal([null]);
    expect([world.services.countOf('eraseDataset'), receipts()]).to.deep.equal([0, []]);
  });

  it('uses the deletion policy of the tenant when a dataset has none', async () => {
    await begin({}, { deletionPolicy: 'Delete' });
    world.remove();
    await world.reconcile();
    expect(held()).to.deep.equal([]);
  });

  it('erases a dataset with Delete, shows the progress, and ends with a receipt', async () => {
    await begin({ deletionPolicy: 'Delete' });
    const id = held()[0]?.id;
    world.services.erasureAnswers = [underWay, { ...underWay, step: 'vectors', residue: 3 }];
    world.remove();
    expect((await world.reconcile()).requeueAfterMs).to.be.at.most(1_100);
    expect(world.read()?.status?.erasure).to.deep.equal({ step: 'graph', residue: 12 });
    expect(world.conditions()).to.include({ Ready: 'False Erasing', ErasureComplete: 'False InProgress' });
    await world.reconcile();
    expect(world.read()?.status?.erasure).to.deep.equal({ step: 'vectors', residue: 3 });
    expect(world.read()?.metadata.finalizers).to.have.length(1);
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
    expect(receipts()).to.deep.equal([`{"receipt":"${id}"}`]);
    expect(world.notes.at(-1)?.reason).to.equal('Erased');
  });

  it('continues an erasure after a change of the policy to Retain, with an event', async () => {
    await begin({ deletionPolicy: 'Delete' });
    world.services.erasureAnswers = [underWay, underWay];
    world.remove();
    await world.reconcile();
    world.change({ spec: { deletionPolicy: 'Retain' } });
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'False Erasing', ErasureComplete: 'False InProgress' });
    expect(world.notes.at(-1)).to.deep.include({ type: 'Warning', reason: 'ErasureGoesOn' });
    await world.reconcile();
    expect([world.read(), held(), receipts().length]).to.deep.equal([undefined, [], 1]);
    expect(world.services.countOf('releaseDataset')).to.equal(0);
  });

  it('writes the receipt although the policy was changed after the erasure', async () => {
    await begin({ deletionPolicy: 'Delete' });
    world.remove();
    world.kube.fail({ method: 'POST', path: /configmaps/, fault: { status: 500 } });
    await world.reconcile().catch(() => 'thrown');
    expect([held(), receipts()]).to.deep.equal([[], []]);
    world.restart();
    world.change({ spec: { deletionPolicy: 'Retain' } });
    await world.reconcile();
    expect([world.read(), receipts().length]).to.deep.equal([undefined, 1]);
    expect(world.notes.map(({ reason }) => reason)).not.to.include('Retained');
  });

  it('continues an erasure after a restart, also after the receipt', async () => {
    await begin({ deletionPolicy: 'Delete' });
    world.services.erasureAnswers = [underWay];
    world.remove();
    await world.reconcile();
    world.restart();
    world.kube.fail({ method: 'PATCH', path: /datasets\/tickets$/, fault: { status: 500 } });
    expect(await world.reconcile().catch(() => 'thrown')).to.equal('thrown');
    expect(receipts()).to.have.length(1);
    world.restart();
    await world.reconcile();
    expect([world.read(), receipts().length]).to.deep.equal([undefined, 1]);
  });

  it('is Stalled while a store does not answer, and completes the erasure afterwards', async () => {
    await begin({ deletionPolicy: 'Delete' });
    world.remove();
    world.services.fail('eraseDataset', unavailable(), 6);
    for (let round = 0; round < 6; round += 1) await world.reconcile();
    expect(world.conditions()).to.include({
      Stalled: 'True StoreUnreachable',
      ErasureComplete: 'False StoreUnreachable',
    });
    expect(world.read()?.metadata.finalizers).to.have.length(1);
    expect(held()).to.have.length(1);
    await world.reconcile();
    expect([world.read(), held()]).to.deep.equal([undefined, []]);
  });

  it('reports the residue of an erasure', async () => {
    await begin({ deletionPolicy: 'Delete' });
    const failure = { name: 'ErasureIncompleteError', message: '12 rows are left in vectors.' };
    world.services.erasureAnswers = [{ ...underWay, failure }];
    world.remove();
    expect(await world.reconcile()).to.deep.equal({ retry: true, result: 'retrying' });
    expect(world.conditions()['ErasureComplete']).to.equal('False ResidueFound');
    expect(world.condition('ErasureComplete')?.message).to.match(/12 rows are left/);
  });

  it('erases nothing of another resource, and nothing that was never created', async () => {
    const adopted = '0c9e2b0e-6a51-4b43-9a55-0b1d6a5c2f10';
    world.services.put({ id: adopted, tenantId: TENANT_ID, name: 'theirs' }).crUid = 'another';
    await begin({ deletionPolicy: 'Delete', datasetId: adopted });
    world.remove();
    await world.reconcile();
    expect([world.read(), held()[0]?.crUid]).to.deep.equal([undefined, 'another']);
  });

  it('erases nothing that it does not manage, not even by name', async () => {
    world.services.put({ id: 'x', tenantId: TENANT_ID, name: 'tickets' }).crUid = 'another';
    await begin({ deletionPolicy: 'Delete' });
    world.remove();
    await world.reconcile();
    expect([world.read(), held()[0]?.crUid]).to.deep.equal([undefined, 'another']);
  });

  for (const [why, spec, tenant] of [
    ['was suspended', { suspend: true }, {}],
    [
      'was refused by the Tenant',
      {},
      { datasets: { allowedNamespaces: { from: 'Selector', selector: { matchLabels: { a: 'b' } } } } },
    ],
  ] as const) {
    it(`erases no dataset of the same name that a user made, when it ${why}`, async () => {
      world.services.put({ id: 'x', tenantId: TENANT_ID, name: 'tickets' });
      await begin({ deletionPolicy: 'Delete', ...spec }, tenant);
      world.remove();
      await world.reconcile();
      expect([world.read(), held().map(({ id, crUid }) => [id, crUid])]).to.deep.equal([undefined, [['x', null]]]);
      expect(world.services.countOf('ensureDataset')).to.equal(0);
    });
  }

  it('continues an erasure of a dataset that is not in the status', async () => {
    world.putTenant();
    world.put({ deletionPolicy: 'Delete' });
    world.kube.fail({ method: 'PATCH', path: /status/, fault: { status: 500 } });
    await world.reconcile().catch(() => {});
    world.remove();
    world.services.erasureAnswers = [underWay, underWay];
    // Auth makes nothing of a resource whose dataset is being erased.
    world.services.fail('ensureDataset', engramError('ConflictError', 'The dataset is being erased.'), 100);
    for (let round = 0; round < 3; round += 1) await world.reconcile();
    expect([world.read(), held()]).to.deep.equal([undefined, []]);
  });

  it('finds a dataset by its uid when the status was not written', async () => {
    world.putTenant();
    world.put({ deletionPolicy: 'Delete' });
    world.kube.fail({ method: 'PATCH', path: /status/, fault: { status: 500 } });
    await world.reconcile().catch(() => {});
    expect([held().length, world.read()?.status]).to.deep.equal([1, undefined]);
    world.remove();
    await world.reconcile();
    expect([world.read(), held()]).to.deep.equal([undefined, []]);
  });

  it('releases its dataset although the Tenant now stands for another tenant', async () => {
    await begin();
    // The Tenant was made anew, with a tenant of its own; nobody looked at the Dataset since.
    const { name, namespace = '' } = world.read()?.metadata ?? { name: '' };
    world.kube.store.update(
      '/apis/engram.dev/v1alpha1/datasets',
      { name, namespace },
      (object) => ({
        ...object,
        status: { ...(object['status'] as object), tenantId: '11111111-2222-4333-8444-555555555555' },
      }),
      'status',
    );
    expect(world.read()?.status?.tenantId).to.match(/^1{8}/);
    world.remove();
    await world.reconcile();
    expect([world.read(), held()[0]?.crUid]).to.deep.equal([undefined, null]);
    expect(world.services.calls.find(({ method }) => method === 'releaseDataset')?.request).to.include({
      tenantId: TENANT_ID,
    });
  });

  it('deletes a Dataset without its Tenant, by its status', async () => {
    await begin({ deletionPolicy: 'Delete' });
    world.remove();
    world.kube.store.delete('/apis/engram.dev/v1alpha1/tenants', { name: 'acme', namespace: 'memory' });
    await world.reconcile();
    expect([world.read(), held()]).to.deep.equal([undefined, []]);
  });

  for (const isAbandoned of [false, true]) {
    it(`writes the receipt to the operator’s namespace when the namespace goes${isAbandoned ? ', also when abandoned' : ''}`, async () => {
      await begin({ deletionPolicy: 'Delete' });
      world.remove();
      const { uid } = world.read()?.metadata ?? {};
      if (isAbandoned) world.change({ metadata: { annotations: { 'engram.dev/abandon': uid } } });
      const path = /namespaces\/memory\/configmaps$/;
      world.kube.fail({ method: 'POST', path, fault: { status: 403, reason: 'Forbidden' }, times: 10 });
      await world.reconcile();
      expect([world.read(), world.configMaps().map(({ metadata }) => metadata.namespace)]).to.deep.equal([
        undefined,
        ['engram'],
      ]);
    });
  }

  it('abandons a dataset without touching its data, with a ConfigMap', async () => {
    await begin({ deletionPolicy: 'Delete' });
    world.remove();
    world.services.fail('eraseDataset', unavailable(), 100);
    await world.reconcile();
    const { uid } = world.read()?.metadata ?? {};
    world.change({ metadata: { annotations: { 'engram.dev/abandon': uid } } });
    await world.reconcile();
    expect([world.read(), held().length]).to.deep.equal([undefined, 1]);
    expect(JSON.parse(receipts()[0] ?? '')).to.include({
      kind: 'Abandoned',
      datasetId: held()[0]?.id,
      tenantId: TENANT_ID,
    });
    expect(world.notes.at(-1)).to.deep.include({ type: 'Warning', reason: 'Abandoned' });
  });
});
