import { expect } from 'chai';
import { createTenantWorld, PLACE, type TenantWorld } from '../../test/support/kube/tenant-world.ts';
import { TENANT_KIND } from '../api/tenant.ts';
import { KINDS, type Secret } from '../kube-runtime/kube-object.ts';

describe('deletion of a tenant with policy Snapshot', () => {
  let world: TenantWorld;
  beforeEach(async () => {
    world = await createTenantWorld();
  });
  afterEach(() => world.close());

  const spec = {
    deletionPolicy: 'Snapshot' as const,
    backup: { schedule: '0 3 * * *', keep: 14, destinationRef: { name: 's3' } },
  };
  const putSecret = (data: Readonly<Record<string, string>> = { bucket: 'b', accessKey: 'a', secretKey: 'hidden' }) => {
    const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
    const metadata = { name: 's3', namespace: 'memory' };
    world.kube.put<Secret>(KINDS.secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      data: Object.fromEntries(encoded),
    });
  };
  const remove = () => world.kube.remove(TENANT_KIND, PLACE);
  const asked = () =>
    world.services.calls.filter(({ method }) => method === 'eraseTenant').map(({ request }) => request as object);
  const begin = async () => {
    world.put(spec);
    await world.reconcile();
    remove();
  };
  const failing = (name: string, message: string, step = '') => ({
    erased: false,
    step,
    removed: {},
    residue: 0,
    receipt: null,
    failure: { name, message },
  });

  it('erases nothing without a bucket, reports what is missing, and continues when it exists', async () => {
    await begin();
    await world.reconcile();
    expect(world.conditions()).to.include({ ErasureComplete: 'False SnapshotFailed' });
    expect(world.condition('ErasureComplete')?.message).to.match(
      /^Nothing is erased .* Secret memory\/s3 .* is missing/,
    );
    expect([asked(), world.services.tenants.size]).to.deep.equal([[], 1]);
    putSecret();
    await world.reconcile();
    expect([world.read(), world.services.tenants.size]).to.deep.equal([undefined, 0]);
    const [request] = asked();
    expect(request).to.have.nested.property('finalSnapshots.place.bucket', 'b');
    expect(request).not.to.have.property('withoutSnapshots');
    expect(world.configMaps()).to.have.length(1);
    expect(JSON.stringify([world.notes, world.configMaps()])).not.to.include('hidden');
  });

  it('waits for a failing snapshot and reports the reason and how to skip it', async () => {
    putSecret();
    await begin();
    const why = `${'The bucket b does not answer: see that it is there and may be written. '.repeat(4)}`;
    world.services.erasureAnswers = [failing('FinalSnapshotFailed', why, 'snapshot notes-1-final')];
    expect(await world.reconcile()).to.include({ retry: true });
    const message = world.condition('ErasureComplete')?.message ?? '';
    expect(message)
      .to.include('The bucket b does not answer')
      .and.to.match(/or set deletionPolicy to Delete to skip them$/);
    expect(message.length).to.be.at.most(200);
    expect(world.read()?.status?.erasure).to.deep.equal({ step: 'snapshot notes-1-final', residue: 0 });
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
  });

  it('skips the snapshots after a change to Delete, but not to Retain', async () => {
    putSecret();
    await begin();
    const failed = failing('FinalSnapshotFailed', 'The bucket b does not answer.');
    world.services.erasureAnswers = [failed, failed];
    await world.reconcile();
    world.change({ spec: { deletionPolicy: 'Retain' } });
    await world.reconcile();
    expect(asked().at(-1)).not.to.have.any.keys('withoutSnapshots', 'finalSnapshots');
    expect(world.condition('ErasureComplete')?.message).to.include('set deletionPolicy back to Snapshot');
    world.change({ spec: { deletionPolicy: 'Delete' } });
    await world.reconcile();
    expect(asked().at(-1)).to.include({ withoutSnapshots: true }).and.not.to.have.property('finalSnapshots');
    expect(world.read()).to.equal(undefined);
  });

  it('finishes without the bucket Secret once all snapshots exist', async () => {
    putSecret();
    await begin();
    world.services.erasureAnswers = [{ ...failing('', ''), step: 'dataset 1', failure: null }];
    await world.reconcile();
    world.kube.remove(KINDS.secret, { name: 's3', namespace: 'memory' });
    await world.reconcile();
    expect([world.read(), world.services.tenants.size]).to.deep.equal([undefined, 0]);
  });

  it('needs no bucket for a tenant that was never created', async () => {
    world.put(spec);
    remove();
    await world.reconcile();
    expect([world.read(), asked()]).to.deep.equal([undefined, []]);
  });
});

describe('backup of a tenant', () => {
  let world: TenantWorld;
  beforeEach(async () => {
    world = await createTenantWorld();
  });
  afterEach(() => world.close());

  const backup = { schedule: '0 3 * * *', keep: 14, destinationRef: { name: 's3' } };

  it('reports a missing backup Secret before a snapshot is due, and keeps the tenant serving', async () => {
    world.put({ backup, apiKeys: [{ name: 'default', secretName: 'key' }] });
    expect(await world.reconcile()).to.include({ retry: true });
    expect(world.conditions()).to.include({ Ready: 'False SecretMissing', CredentialsReady: 'True Issued' });
    expect(world.condition('Ready')?.message).to.equal(
      'Secret memory/s3 of the snapshots is missing: create it with the keys bucket, accessKey, secretKey',
    );
    const text = (value: string) => Buffer.from(value).toString('base64');
    world.kube.put<Secret>(KINDS.secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's3', namespace: 'memory' },
      data: { bucket: text('b'), accessKey: text('a'), secretKey: text('s') },
    });
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available' });
  });

  it('reports an invalid backup schedule, or one that never matches', async () => {
    world.put();
    for (const schedule of ['99 * * * *', '0 0 31 2 *']) {
      world.change({ spec: { backup: { schedule, keep: 14 } } });
      await world.reconcile();
      expect(world.conditions(), schedule).to.include({ Ready: 'False InvalidSpec', Stalled: 'True InvalidSpec' });
      expect(world.condition('Stalled')?.message).to.match(/^spec.backup.schedule is invalid: /);
    }
  });
});
