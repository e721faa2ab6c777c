import { expect } from 'chai';
import { engramError } from '../../services/common/kernel/errors.ts';
import { createDatasetWorld, type DatasetWorld, TENANT_ID } from '../../test/support/kube/dataset-world.ts';
import { unavailable } from '../../test/support/kube/fake-services.ts';
import { MESSAGE_LIMIT } from '../kube-runtime/conditions.ts';
import { KINDS } from '../kube-runtime/kube-object.ts';

const ADOPTED = '0c9e2b0e-6a51-4b43-9a55-0b1d6a5c2f10';

describe('reconciler of datasets', () => {
  let world: DatasetWorld;
  beforeEach(async () => {
    world = await createDatasetWorld();
  });
  afterEach(async () => {
    // Whatever happened: what people read is short, one sentence, without a time in it.
    for (const { message } of world.read()?.status?.conditions ?? []) {
      expect(message).to.have.length.of.at.most(MESSAGE_LIMIT);
      expect(message).not.to.match(/\.$|\d\d:\d\d|2026/);
    }
    await world.close();
  });

  const only = () => [...world.services.datasets.values()][0];
  const start = async (spec: Parameters<DatasetWorld['put']>[0] = {}) => {
    world.putTenant();
    world.put(spec);
    return world.reconcile();
  };
  const statistics = (more: object) => {
    const held = only();
    if (held === undefined) throw new Error('There is no dataset.');
    held.statistics = { ...held.statistics, ...more };
  };

  it('creates the dataset in the tenant by its name in the API', async () => {
    await start({ name: 'support_tickets' });
    expect(only()).to.include({ name: 'support_tickets', tenantId: TENANT_ID, crUid: world.read()?.metadata.uid });
    expect(world.read()?.status).to.include({ datasetId: only()?.id, tenantId: TENANT_ID, observedGeneration: 1 });
    expect(world.conditions()).to.deep.equal({
      Ready: 'True Available',
      StoresProvisioned: 'True Provisioned',
      AccessSynced: 'True Synced',
      SchemaCurrent: 'True Current',
      Fresh: 'True WithinObjective',
    });
    expect(world.read()?.metadata.finalizers).to.deep.equal(['engram.dev/dataset']);
  });

  it('calls no service while nothing changes, and checks everything every ten minutes', async () => {
    const { requeueAfterMs } = await start();
    expect(requeueAfterMs).to.equal(600_000);
    const calls = world.services.calls.length;
    await world.reconcile();
    expect(world.services.calls).to.have.length(calls);
    await world.clock.advance(600_000);
    await world.reconcile();
    expect(world.services.calls).to.have.length(2 * calls);
    expect(world.statusWrites()).to.equal(1);
  });

  it('adopts a dataset by its id, unless another resource manages it', async () => {
    world.services.put({ id: ADOPTED, tenantId: TENANT_ID, name: 'old' });
    await start({ datasetId: ADOPTED, name: 'old' });
    expect(world.read()?.status?.datasetId).to.equal(ADOPTED);
    expect(world.notes.map(({ reason }) => reason)).to.include('Adopted');
  });

  it('reports an adoption of an unknown dataset or of one that another resource manages', async () => {
    await start({ datasetId: ADOPTED });
    expect(world.conditions()).to.include({ Ready: 'False DatasetNotFound', Stalled: 'True DatasetNotFound' });
    const held = world.services.put({ id: ADOPTED, tenantId: TENANT_ID, name: 'old' });
    held.crUid = 'another';
    // Nobody tells that the other resource let it go.
    expect((await world.reconcile()).requeueAfterMs).to.be.at.most(17_000);
    expect(world.conditions()).to.include({
      Stalled: 'True OwnedByAnother',
      StoresProvisioned: 'False OwnedByAnother',
    });
    held.crUid = null;
    await world.reconcile();
    expect(world.conditions()['Ready']).to.equal('True Available');
  });

  it('waits for a provisioned Tenant that accepts Datasets from the namespace', async () => {
    world.put();
    await world.reconcile();
    expect(world.conditions()).to.include({
      Ready: 'False TenantMissing',
      StoresProvisioned: 'False TenantMissing',
      Fresh: 'Unknown Pending',
    });
    world.putTenant({}, {});
    await world.reconcile();
    expect(world.conditions()['Reconciling']).to.equal('True TenantNotReady');
    world.changeTenant({
      spec: { datasets: { allowedNamespaces: { from: 'Selector', selector: { matchLabels: { a: 'b' } } } } },
    });
    await world.reconcile();
    expect(world.conditions()['Stalled']).to.equal('True NamespaceNotAllowed');
    world.kube.put(KINDS.namespace, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'memory', labels: { a: 'b' } },
    });
    await world.reconcile();
    expect(world.conditions()['Ready']).to.equal('False TenantNotReady');
    expect(world.services.calls).to.deep.equal([]);
  });

  it('syncs the declared grants, and keeps others unless access is exclusive', async () => {
    world.services.known.add('user/ana@acme.example.com').add('role/support');
    await start({
      access: {
        exclusive: false,
        grants: [
          { principal: { user: 'ana@acme.example.com' }, permissions: ['read', 'write'] },
          { principal: { role: 'support' }, permissions: ['read'] },
          { principal: { tenant: true }, permissions: ['read'] },
        ],
      },
    });
    const held = only();
    expect(held?.grants).to.deep.equal([
      'user/ana@acme.example.com: read,write',
      'role/support: read',
      `tenant/${TENANT_ID}: read`,
    ]);
    if (held !== undefined) held.byHand = ['user/eve@acme.example.com: read'];
    world.change({ spec: { access: { grants: [{ principal: { role: 'support' }, permissions: ['read'] }] } } });
    await world.reconcile();
    expect([held?.grants, held?.byHand.length]).to.deep.equal([['role/support: read'], 1]);
    world.change({ spec: { access: { exclusive: true } } });
    await world.reconcile();
    expect(held?.byHand).to.deep.equal([]);
    expect(world.notes.map(({ reason }) => reason)).not.to.include('AccessCorrected');
  });

  it('corrects changed grants, with one event', async () => {
    await start({ access: { exclusive: false, grants: [{ principal: { tenant: true }, permissions: ['read'] }] } });
    const held = only();
    if (held !== undefined) held.grants = [];
    await world.clock.advance(600_000);
    await world.reconcile();
    expect(held?.grants).to.have.length(1);
    expect(world.notes.filter(({ reason }) => reason === 'AccessCorrected')).to.have.length(1);
    expect(world.statusWrites()).to.equal(1);
  });

  it('reports unknown principals, and grants their access once they exist', async () => {
    const access = {
      exclusive: false,
      grants: [
        { principal: { role: 'support' }, permissions: ['read'] as const },
        { principal: { user: 'new@acme.example.com' }, permissions: ['read'] as const },
      ],
    };
    world.services.known.add('role/support');
    const { requeueAfterMs } = await start({ access });
    expect(requeueAfterMs).to.be.at.most(70_000);
    expect(world.conditions()).to.include({ AccessSynced: 'False PrincipalUnknown', Fresh: 'True WithinObjective' });
    expect(world.condition('AccessSynced')?.message).to.match(/user\/new@acme.example.com/);
    expect(only()?.grants).to.deep.equal(['role/support: read']);
    world.services.known.add('user/new@acme.example.com');
    await world.reconcile();
    expect(world.conditions()['Ready']).to.equal('True Available');
    expect(only()?.grants).to.have.length(2);
  });

  it('sets model, prompt and chunking from ConfigMaps or inline, with their hashes in the status', async () => {
    world.putConfigMap('model', { 'model.json': '{"title":"Ticket"}' });
    const { requeueAfterMs } = await start({
      graphModel: { configMapRef: { name: 'model', key: 'model.json' } },
      prompt: { inline: 'Extract faults.' },
      chunking: { strategy: 'paragraph', maxTokens: 512 },
    });
    expect(only()?.configuration).to.deep.equal({
      graphModel: { title: 'Ticket' },
      prompt: 'Extract faults.',
      chunking: { strategy: 'paragraph', maxTokens: 512 },
    });
    expect(world.read()?.status?.graphModelHash).to.match(/^sha256:/);
    expect(world.read()?.status?.promptHash).to.match(/^sha256:/);
    // A ConfigMap changes without anybody telling.
    expect(requeueAfterMs).to.be.at.most(70_000);
    world.kube.change(
      KINDS.configMap,
      { name: 'model', namespace: 'memory' },
      { data: { 'model.json': '{"title":"Other one"}' } },
    );
    await world.reconcile();
    expect(only()?.configuration.graphModel).to.deep.equal({ title: 'Other one' });
    const before = world.services.countOf('setDatasetConfiguration');
    await world.reconcile();
    expect(world.services.countOf('setDatasetConfiguration')).to.equal(before);
  });

  it('reports a missing ConfigMap or key and invalid JSON, and keeps the previous configuration', async () => {
    await start({ graphModel: { configMapRef: { name: 'model', key: 'model.json' } } });
    expect(world.condition('Stalled')?.message).to.equal(
      'There is no ConfigMap model for spec.graphModel: create it, or correct the reference',
    );
    world.putConfigMap('model', { other: '{}' });
    await world.reconcile();
    expect(world.condition('SchemaCurrent')?.message).to.match(/no key model.json/);
    world.kube.change(KINDS.configMap, { name: 'model', namespace: 'memory' }, { data: { 'model.json': '{"secret' } });
    await world.reconcile();
    expect(world.condition('Stalled')?.message).to.equal('graphModel is not a JSON object: correct its text');
    expect(world.services.countOf('setDatasetConfiguration')).to.equal(0);
    expect(world.conditions()['Fresh']).to.equal('True WithinObjective');
    world.kube.change(KINDS.configMap, { name: 'model', namespace: 'memory' }, { data: { 'model.json': '{}' } });
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available', SchemaCurrent: 'True Current' });
  });

  it('reports that model and prompt have no effect without a language model', async () => {
    world.services.unused = 'graph_model has no effect: no language model is configured';
    await start({ graphModel: { inline: '{"title":"Ticket"}' } });
    expect(world.conditions()).to.include({ Ready: 'True Available', SchemaCurrent: 'False NoLanguageModel' });
    expect(world.condition('SchemaCurrent')?.message).to.equal(world.services.unused);
    world.services.unused = null;
    await world.reconcile();
    expect(world.conditions()['SchemaCurrent']).to.equal('True Current');
  });

  it('reports data of another graph model, and stays ready', async () => {
    world.services.drifted = true;
    await start({ prompt: { inline: 'Extract.' } });
    expect(world.conditions()).to.include({ Ready: 'True Available', SchemaCurrent: 'False SchemaDrifted' });
    world.services.drifted = false;
    await world.reconcile();
    expect(world.conditions()['SchemaCurrent']).to.equal('True Current');
  });

  it('shows statistics at most once a minute, each minute while something is under way', async () => {
    await start();
    const activeRun = { id: 'r', pipeline: 'cognify', startedAt: '2026-08-01T00:00:00Z' };
    statistics({ items: 3, pending: 2, writer: { holder: 'cognify-1', fencingToken: 7 }, activeRun });
    for (let round = 0; round < 3; round += 1) await world.reconcile();
    expect(world.services.countOf('datasetStatistics')).to.equal(1);
    await world.clock.advance(60_000);
    const { requeueAfterMs } = await world.reconcile();
    expect(requeueAfterMs).to.equal(63_000);
    expect(world.read()?.status).to.deep.include({ writer: { holder: 'cognify-1', fencingToken: 7 }, activeRun });
    expect(world.read()?.status?.stats).to.include({ items: 3, pending: 2 });
    statistics({ pending: 0, writer: null, activeRun: null, lastCognifiedAt: '2026-08-01T00:01:00+00:00' });
    await world.clock.advance(60_000);
    await world.reconcile();
    expect(world.read()?.status).not.to.have.any.keys('writer', 'activeRun');
    expect(world.read()?.status?.stats?.lastCognifiedAt).to.equal('2026-08-01T00:01:00+00:00');
  });

  it('reads statistics of a large dataset as often as those of a small one', async () => {
    await start({ freshness: { maxLag: '5m', maxFailedItems: 0 } });
    statistics({ items: 10_000_000, pending: 1 });
    await world.clock.advance(60_000);
    expect((await world.reconcile()).requeueAfterMs).to.be.at.most(66_000);
  });

  it('is not Fresh when data waits too long or too many items failed', async () => {
    await start({ freshness: { maxLag: '5m', maxFailedItems: 1 } });
    const look = async (more: object) => {
      statistics(more);
      await world.clock.advance(60_000);
      await world.reconcile();
      return world.conditions()['Fresh'];
    };
    expect(await look({ pending: 1, lagSeconds: 300 })).to.equal('True WithinObjective');
    expect(await look({ pending: 1, lagSeconds: 301 })).to.equal('False Lagging');
    const writes = world.statusWrites();
    expect(await look({ pending: 1, lagSeconds: 361 })).to.equal('False Lagging');
    expect(world.statusWrites()).to.equal(writes);
    expect(await look({ pending: 0, lagSeconds: 0, failed: 2 })).to.equal('False ItemsFailed');
    expect(await look({ failed: 1 })).to.equal('True WithinObjective');
    expect(world.conditions()['Ready']).to.equal('True Available');
  });

  it('reports StoreUnreachable while a service does not answer, Stalled after five tries, and recovers', async () => {
    world.services.fail('ensureDataset', unavailable(), 6);
    expect(await start()).to.deep.equal({ retry: true, result: 'retrying' });
    expect(world.conditions()).to.include({
      Ready: 'False StoreUnreachable',
      StoresProvisioned: 'False StoreUnreachable',
      Reconciling: 'True StoreUnreachable',
    });
    const writes = world.statusWrites();
    for (let round = 0; round < 3; round += 1) await world.reconcile();
    expect(world.statusWrites()).to.equal(writes);
    for (let round = 0; round < 2; round += 1) await world.reconcile();
    expect(world.conditions()['Stalled']).to.equal('True StoreUnreachable');
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available' }).and.not.have.property('Stalled');
  });

  it('reports an exceeded quota of datasets', async () => {
    world.services.fail('ensureDataset', engramError('PayloadTooLargeError', 'datasets: 50 of 50 are used'));
    await start();
    expect(world.conditions()).to.include({ Stalled: 'True QuotaExceeded', QuotaExceeded: 'True Datasets' });
    expect(world.read()?.status?.conditions?.find(({ type }) => type === 'Stalled')?.message).to.equal(
      'datasets: 50 of 50 are used: raise quotas.datasets of the Tenant, or delete a dataset',
    );
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available' }).and.not.have.property('QuotaExceeded');
  });

  it('creates a dataset again that was removed, with an event', async () => {
    await start();
    const first = world.read()?.status?.datasetId;
    world.services.datasets.clear();
    await world.clock.advance(60_000);
    await world.reconcile();
    expect(world.conditions()['Reconciling']).to.equal('True DatasetMissing');
    await world.reconcile();
    expect(world.conditions()['Ready']).to.equal('True Available');
    expect(world.read()?.status?.datasetId).not.to.equal(first);
    expect(world.notes.map(({ reason }) => reason)).to.include('DatasetRecreated');
  });
});
