import { expect } from 'chai';
import { engramError } from '../../services/common/kernel/errors.ts';
import { createDatasetWorld, type DatasetWorld, TENANT_ID } from '../../test/support/kube/dataset-world.ts';
import { unavailable } from '../../test/support/kube/fake-services.ts';
import { completeSpec } from '../../test/support/kube/tenant-world.ts';
import { TENANT_KIND, type Tenant } from '../api/tenant.ts';
import { keepFormerSigner } from '../erasure/snapshots.ts';
import { KINDS, type Secret } from '../kube-runtime/kube-object.ts';

/** The clock of the world begins at 2026-08-01, midnight UTC, a Saturday. */
describe('snapshots of datasets', () => {
  let world: DatasetWorld;
  beforeEach(async () => {
    world = await createDatasetWorld();
  });
  afterEach(() => world.close());

  const hour = 3_600_000;
  const begin = async (tenant: object, spec: Parameters<DatasetWorld['put']>[0] = {}) => {
    world.putTenant(tenant);
    world.put(spec);
    return world.reconcile();
  };
  const nightly = { backup: { schedule: '0 3 * * *', keep: 2 } };
  const backup = () => world.read()?.status?.backup;
  const names = () => world.services.snapshots.map(({ name }) => name);
  const id = () => world.read()?.status?.datasetId?.slice(0, 8);
  const inBucket = { backup: { schedule: '0 3 * * *', keep: 2, destinationRef: { name: 's3' } } };
  const putSecret = (data: Readonly<Record<string, string>>) => {
    const place = { name: 's3', namespace: 'memory' };
    if (world.kube.read(KINDS.secret, place) !== undefined) world.kube.remove(KINDS.secret, place);
    const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
    world.kube.put<Secret>(KINDS.secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: place,
      data: Object.fromEntries(encoded),
    });
  };

  const putOther = (namespace: string, tenantId: string) =>
    world.kube.put<Tenant>(TENANT_KIND, {
      apiVersion: TENANT_KIND.apiVersion,
      kind: TENANT_KIND.kind,
      metadata: { name: 'other', namespace },
      spec: completeSpec(),
      status: { tenantId },
    });

  it('takes a snapshot when it is due, and prunes the old ones', async () => {
    await begin(nightly);
    expect(backup()).to.deep.equal({ nextAt: '2026-08-01T03:00:00Z' });
    expect(world.conditions()).to.include({ Ready: 'True Available', BackupHealthy: 'True NotDue' });
    expect(names()).to.deep.equal([]);
    await world.clock.advance(3 * hour);
    world.services.snapshotAnswers = [{ snapshot: null, done: 1, total: 2, failure: null }];
    expect((await world.reconcile()).requeueAfterMs).to.be.at.most(1_100);
    expect(world.conditions()['Ready']).to.equal('True Available');
    await world.reconcile();
    expect(names()).to.deep.equal([`tickets-${id()}-20260801-0300`]);
    expect(world.conditions()['BackupHealthy']).to.equal('True Succeeded');
    expect(backup()).to.deep.equal({
      nextAt: '2026-08-02T03:00:00Z',
      lastSnapshot: {
        name: `tickets-${id()}-20260801-0300`,
        at: '2026-08-01T03:00:00Z',
        items: 2,
        sizeBytes: 10,
        place: 'the installation',
      },
      snapshots: [`tickets-${id()}-20260801-0300`],
    });
    for (let day = 0; day < 3; day += 1) {
      await world.clock.advance(24 * hour);
      await world.reconcile();
    }
    expect(backup()?.snapshots).to.deep.equal([`tickets-${id()}-20260804-0300`, `tickets-${id()}-20260803-0300`]);
    world.changeTenant({ spec: { backup: null } });
    await world.reconcile();
    expect(backup()).to.equal(undefined);
    expect(world.conditions()).not.to.have.property('BackupHealthy');
  });

  it('takes a snapshot once when the operator was killed after it', async () => {
    await begin(nightly);
    await world.clock.advance(3 * hour);
    world.kube.fail({ method: 'PATCH', path: /status/, fault: { status: 500 } });
    expect(await world.reconcile().catch(() => 'thrown')).to.equal('thrown');
    world.restart();
    await world.clock.advance(15_000);
    await world.reconcile();
    expect(names()).to.deep.equal([`tickets-${id()}-20260801-0300`]);
    expect(backup()?.nextAt).to.equal('2026-08-02T03:00:00Z');
  });

  it('takes one snapshot for several missed times, and follows a changed schedule', async () => {
    await begin(nightly);
    await world.clock.advance(75 * hour);
    world.restart();
    await world.reconcile();
    expect(names()).to.deep.equal([`tickets-${id()}-20260801-0300`]);
    expect(backup()?.nextAt).to.equal('2026-08-05T03:00:00Z');
    world.changeTenant({ spec: { backup: { schedule: '0 12 * * *' } } });
    await world.reconcile();
    expect(backup()?.nextAt).to.equal('2026-08-04T12:00:00Z');
  });

  it('reports a failing snapshot while the dataset serves, and takes it afterwards', async () => {
    await begin(inBucket);
    await world.clock.advance(3 * hour);
    await world.reconcile();
    const message = () => world.read()?.status?.conditions?.find(({ type }) => type === 'BackupHealthy')?.message;
    expect(world.conditions()).to.include({ Ready: 'True Available', BackupHealthy: 'False Failed' });
    expect(message()).to.include('Secret memory/s3').and.to.include('create it with the keys bucket');
    putSecret({ bucket: 'b', accessKey: 'a' });
    await world.clock.advance(60_000);
    await world.reconcile();
    expect(message()).to.include('has no secretKey');
    putSecret({ bucket: 'b', accessKey: 'a', secretKey: 'hidden-key', endpoint: 'http://s3:9000', prefix: 'x/' });
    const refused = { name: 'ServiceUnavailableError', message: 'The bucket b at s3:9000 does not exist.' };
    world.services.snapshotAnswers = [{ snapshot: null, done: 0, total: 0, failure: refused }];
    await world.reconcile();
    expect(message()).to.include('The bucket b at s3:9000 does not exist');
    world.services.fail('takeSnapshot', unavailable());
    await world.reconcile();
    expect(world.conditions()['BackupHealthy']).to.equal('False Failed');
    await world.clock.advance(2 * hour);
    world.services.snapshotAnswers = [{ snapshot: null, done: 0, total: 0, failure: refused }];
    await world.reconcile();
    expect(world.conditions()['BackupHealthy']).to.equal('False Overdue');
    await world.reconcile();
    expect(world.conditions()['BackupHealthy']).to.equal('True Succeeded');
    expect(names()).to.deep.equal([`tickets-${id()}-20260801-0300`]);
    expect(JSON.stringify([world.read(), world.notes])).not.to.include('hidden-key');
    const call = world.services.calls.findLast(({ method }) => method === 'takeSnapshot');
    expect(call?.request).to.deep.include({
      place: {
        endpoint: 'http://s3:9000',
        bucket: 'b',
        prefix: 'x/',
        region: 'us-east-1',
        accessKey: 'a',
        secretKey: 'hidden-key',
      },
    });
  });

  it('restores a dataset from a snapshot and shows the progress', async () => {
    const restoring = { datasetId: null, step: 'part 2 of 9', done: 1, total: 9, failure: null };
    world.services.restoreAnswers = [restoring, { ...restoring, step: 'part 3 of 9' }];
    const from = '11111111-2222-4333-8444-555555555555';
    putOther('memory', from);
    await begin({}, { source: { snapshotRef: { name: 'tickets-1', tenantId: from } } });
    expect(world.conditions()).to.include({ Ready: 'False Restoring', StoresProvisioned: 'False Restoring' });
    expect(world.read()?.status?.datasetId).to.equal(undefined);
    expect(world.services.countOf('ensureDataset')).to.equal(0);
    await world.reconcile();
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available', StoresProvisioned: 'True Provisioned' });
    const [held] = [...world.services.datasets.values()];
    expect([held?.id, held?.name]).to.deep.equal([world.read()?.status?.datasetId, 'tickets']);
    expect(world.services.calls.find(({ method }) => method === 'restoreDataset')?.request).to.deep.include({
      tenantId: TENANT_ID,
      name: 'tickets',
      snapshot: { tenantId: from, name: 'tickets-1' },
      place: null,
    });
    const asked = world.services.countOf('restoreDataset');
    await world.reconcile();
    expect(world.services.countOf('restoreDataset')).to.equal(asked);
  });

  it('restores a snapshot of another tenant only for users who could read it', async () => {
    const from = '11111111-2222-4333-8444-555555555555';
    const source = { snapshotRef: { name: 'tickets-1', tenantId: from } };
    putOther('elsewhere', from);
    await begin({}, { source });
    expect(world.conditions()).to.include({ Ready: 'False SnapshotNotAllowed', Stalled: 'True SnapshotNotAllowed' });
    expect([world.services.countOf('restoreDataset'), world.services.countOf('ensureDataset')]).to.deep.equal([0, 0]);
    putSecret({ bucket: 'b', accessKey: 'a', secretKey: 'c' });
    world.changeTenant({ spec: { backup: inBucket.backup } });
    await world.reconcile();
    expect(world.conditions()['Ready']).to.equal('True Available');
  });

  for (const [where, signers] of [
    ['memory', ['public-key']],
    ['elsewhere', []],
  ] as const) {
    it(`trusts the key of a former Dedicated tenant ${where === 'memory' ? 'in its namespace' : 'in no other namespace'}`, async () => {
      const from = '11111111-2222-4333-8444-555555555555';
      const place = {
        client: world.kube.client({ clock: world.clock, fieldManager: 'engram-operator' }),
        home: 'engram',
        signal: new AbortController().signal,
      };
      const signer = { tenantId: from, tenant: { name: 'former', namespace: where }, key: 'public-key' };
      // Twice, as an operator does that was killed in between.
      for (let times = 0; times < 2; times += 1) await keepFormerSigner(signer, {}, place);
      putSecret({ bucket: 'b', accessKey: 'a', secretKey: 'c' });
      await begin(inBucket, { source: { snapshotRef: { name: 'tickets-1', tenantId: from } } });
      const asked = world.services.calls.find(({ method }) => method === 'restoreDataset')?.request;
      expect(asked).to.have.deep.property('signers', signers);
    });
  }

  it('reports why a snapshot cannot be restored, stalled when a person must act', async () => {
    const failed = (name: string, message: string) => ({
      datasetId: null,
      step: '',
      done: 0,
      total: 0,
      failure: { name, message },
    });
    world.services.restoreAnswers = [
      failed('ServiceUnavailableError', 'The bucket b does not answer.'),
      failed('EntityNotFoundError', 'There is no snapshot tickets-1 of tenant t.'),
      failed('ConflictError', 'The snapshot cannot be restored: its part rows-1 is damaged.'),
    ];
    await begin({}, { source: { snapshotRef: { name: 'tickets-1' } } });
    expect(world.conditions()['Reconciling']).to.equal('True RestoreFailed');
    expect((await world.reconcile()).requeueAfterMs).to.be.at.most(66_000);
    expect(world.condition('Stalled')?.message).to.equal(
      'There is no snapshot tickets-1 of tenant t: create this resource again with one of status.backup',
    );
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'False RestoreFailed', Stalled: 'True RestoreFailed' });
    const message = world.read()?.status?.conditions?.find(({ type }) => type === 'Stalled')?.message;
    expect(message).to.equal('The snapshot cannot be restored: its part rows-1 is damaged');
    expect(world.services.datasets.size).to.equal(0);
    world.services.fail('restoreDataset', engramError('InvalidRequestError', 'no'));
    await world.reconcile();
    expect(world.conditions()['Stalled']).to.equal('True InvalidSpec');
  });

  it('leaves the final snapshot to a Tenant that is deleted with policy Snapshot', async () => {
    putSecret({ bucket: 'b', accessKey: 'a', secretKey: 'c' });
    await begin({ ...inBucket, deletionPolicy: 'Snapshot' });
    world.changeTenant({ metadata: { finalizers: ['engram.dev/tenant'] } });
    world.kube.remove(TENANT_KIND, { name: 'acme', namespace: 'memory' });
    world.remove();
    await world.reconcile();
    expect([world.read(), world.services.countOf('eraseDataset')]).to.deep.equal([undefined, 0]);
    expect([...world.services.datasets.values()].map(({ crUid }) => crUid)).to.deep.equal([null]);
    expect(world.notes.at(-1)?.reason).to.equal('LeftToTenant');
  });

  for (const [policy, isTenantDeleted] of [
    ['Snapshot', true],
    [undefined, false],
  ] as const) {
    it(`takes a final snapshot of a dataset with ${policy ?? 'no'} policy while its Tenant ${isTenantDeleted ? 'is deleted' : 'stays'}`, async () => {
      putSecret({ bucket: 'b', accessKey: 'a', secretKey: 'c' });
      const own = policy === undefined ? {} : { deletionPolicy: policy };
      await begin({ ...inBucket, deletionPolicy: 'Snapshot' }, own);
      world.changeTenant({ metadata: { finalizers: ['engram.dev/tenant'] } });
      if (isTenantDeleted) world.kube.remove(TENANT_KIND, { name: 'acme', namespace: 'memory' });
      world.remove();
      await world.reconcile();
      const request = world.services.calls.find(({ method }) => method === 'eraseDataset')?.request;
      expect(request).to.have.nested.property('finalSnapshot.place.bucket', 'b');
    });
  }

  it('waits for the final snapshot after a change to Retain, but not to Delete', async () => {
    putSecret({ bucket: 'b', accessKey: 'a', secretKey: 'c' });
    await begin(inBucket, { deletionPolicy: 'Snapshot' });
    world.remove();
    const failure = { name: 'FinalSnapshotFailed', message: 'The bucket b does not answer.' };
    const failed = { erased: false, step: '', removed: {}, residue: 0, receipt: null, failure };
    world.services.erasureAnswers = [failed, failed];
    await world.reconcile();
    const message = () => world.condition('ErasureComplete')?.message;
    expect(message()).to.include('The bucket b does not answer');
    world.change({ spec: { deletionPolicy: 'Retain' } });
    await world.reconcile();
    const requests = () =>
      world.services.calls.filter(({ method }) => method === 'eraseDataset').map((call) => call.request);
    expect(requests().at(-1)).not.to.have.any.keys('finalSnapshot', 'withoutSnapshots');
    expect(message()).to.include('set deletionPolicy back to Snapshot');
    world.change({ spec: { deletionPolicy: 'Delete' } });
    await world.reconcile();
    expect(requests().at(-1)).to.include({ withoutSnapshots: true });
    expect(world.read()).to.equal(undefined);
  });

  it('takes a final snapshot of a deleted dataset in the bucket of its tenant', async () => {
    await begin(inBucket, { deletionPolicy: 'Snapshot' });
    world.remove();
    await world.reconcile();
    expect(world.conditions()['ErasureComplete']).to.equal('False SnapshotFailed');
    expect(world.services.countOf('eraseDataset')).to.equal(0);
    putSecret({ bucket: 'b', accessKey: 'a', secretKey: 'c' });
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
    const request = world.services.calls.find(({ method }) => method === 'eraseDataset')?.request;
    expect(request).to.have.property('keepSnapshots', true);
    const { name, place } = (request as { finalSnapshot: { name: string; place: object } }).finalSnapshot;
    expect(name).to.match(/^tickets-[0-9a-f-]{36}-\d{8}-\d{4}-final$/);
    expect(place).to.include({ bucket: 'b' });
    expect(world.configMaps()).to.have.length(1);
  });
});
