import { createPublicKey, type JsonWebKey, sign, verify } from 'node:crypto';
import { expect } from 'chai';
import { SIGNING_PURPOSE } from '../../services/common/domain/audit-record.ts';
import { deriveSigningKey } from '../../services/common/kernel/derived-key.ts';
import { engramError } from '../../services/common/kernel/errors.ts';
import { createFakeAdministrators, type FakeAdministrator } from '../../test/support/kube/fake-administrators.ts';
import { endPods, runEverything } from '../../test/support/kube/fake-workloads.ts';
import {
  createTenantWorld,
  dedicatedTo,
  PLACE,
  SERVICES_NAMESPACE,
  type TenantWorld,
} from '../../test/support/kube/tenant-world.ts';
import { FRAME_ANNOTATIONS } from '../api/names.ts';
import { TENANT_KIND, type TenantSpec } from '../api/tenant.ts';
import { findFormerSigners } from '../erasure/snapshots.ts';
import { KINDS, type KubeObject, type ResourceKind } from '../kube-runtime/kube-object.ts';

const apiKeys = [{ name: 'default', secretName: 'key' }];

describe('deletion of a Dedicated tenant', () => {
  let world: TenantWorld;
  let administrators: readonly FakeAdministrator[];
  beforeEach(async () => {
    administrators = createFakeAdministrators();
    world = await createTenantWorld({
      dedicated: dedicatedTo(administrators),
    });
  });
  afterEach(() => world.close());

  const live = (kind: ResourceKind) => world.live(kind);
  const keysSecret = () =>
    live(KINDS.secret).find(({ metadata }) => metadata.labels?.['engram.dev/realm'] !== undefined);
  const workloads = () => [KINDS.deployment, KINDS.service, KINDS.networkPolicy, KINDS.serviceAccount].flatMap(live);
  const make = async (spec: Partial<TenantSpec> = {}) => {
    world.put({ isolation: 'Dedicated', apiKeys, ...spec });
    await world.reconcile();
    runEverything(world.kube);
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available' });
    await world.reconcile();
  };
  const receipts = () => world.configMaps().filter(({ data }) => data?.['receipt.json'] !== undefined);
  const remove = () => world.kube.remove(TENANT_KIND, PLACE);
  const realms = () => administrators.flatMap(({ realms: held }) => [...held.keys()]);

  it('erases by the tenant’s services, then removes and counts its part of every store', async () => {
    await make({ deletionPolicy: 'Delete' });
    const realm = world.read()?.status?.realm;
    const id = world.read()?.status?.tenantId ?? '';
    remove();
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
    expect(world.own.countOf('eraseTenant')).to.equal(1);
    expect(world.services.calls).to.deep.equal([]);
    expect(realms()).to.deep.equal([]);
    expect([workloads(), live(KINDS.secret)]).to.deep.equal([[], []]);
    const [receipt] = receipts();
    expect(JSON.parse(receipt?.data?.['receipt.json'] ?? '')).to.include({ tenant: id });
    expect(JSON.parse(receipt?.data?.['stores.json'] ?? '')).to.deep.equal({
      realm,
      stores: ['neo4j', 'elasticsearch', 'nats', 'mongodb'].map((driver) => ({ driver, residue: 0 })),
    });
  });

  it('adds the public key of the signature to the receipt', async () => {
    await make({ deletionPolicy: 'Delete' });
    const secret = world.secretValue(keysSecret()?.metadata.name ?? '', 'FASTAPI_USERS_JWT_SECRET') ?? '';
    remove();
    await world.reconcile();
    const { keys } = JSON.parse(receipts()[0]?.data?.['keys.json'] ?? '') as { keys: readonly JsonWebKey[] };
    const { privateKey } = deriveSigningKey(secret, SIGNING_PURPOSE);
    const [text, [key]] = [Buffer.from('of a receipt'), keys];
    const publicKey = createPublicKey({ key: key ?? {}, format: 'jwk' });
    expect(verify(null, text, publicKey, sign(null, text, privateKey))).to.equal(true);
    expect(key).not.to.have.property('d');
  });

  it('takes the final snapshots first, and keeps the key of their signer', async () => {
    const s3 = { name: 's3', namespace: PLACE.namespace };
    const data = { bucket: 'Yg==', accessKey: 'YQ==', secretKey: 'Yw==' };
    world.kube.put(KINDS.secret, { apiVersion: 'v1', kind: 'Secret', metadata: s3, data });
    const backup = { schedule: '0 3 * * *', keep: 14, destinationRef: { name: 's3' } };
    await make({ deletionPolicy: 'Snapshot', backup });
    const id = world.read()?.status?.tenantId ?? '';
    const failure = { name: 'FinalSnapshotFailed', message: 'The bucket b does not answer.' };
    const failed = { erased: false, step: '', removed: {}, residue: 0, receipt: null, failure };
    world.own.erasureAnswers = [failed];
    remove();
    await world.reconcile();
    expect(world.conditions()).to.include({ ErasureComplete: 'False SnapshotFailed' });
    expect([realms().length, workloads().length > 0]).to.deep.equal([4, true]);
    while (world.read() !== undefined) await world.reconcile();
    const asked = world.own.calls.find(({ method }) => method === 'eraseTenant')?.request;
    expect(asked).to.have.nested.property('finalSnapshots.place.bucket', 'b');
    expect(realms()).to.deep.equal([]);
    const { keys } = JSON.parse(receipts()[0]?.data?.['keys.json'] ?? '') as { keys: readonly JsonWebKey[] };
    const place = { client: world.kube.client({ clock: world.clock, fieldManager: 'test' }), home: SERVICES_NAMESPACE };
    const signal = new AbortController().signal;
    expect(await findFormerSigners(id, PLACE.namespace, { ...place, signal })).to.deep.equal([keys[0]?.x]);
    expect(await findFormerSigners(id, 'elsewhere', { ...place, signal })).to.deep.equal([]);
  });

  it('removes stores only when no pod runs', async () => {
    await make({ deletionPolicy: 'Delete' });
    world.kube.put(KINDS.pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...PLACE, name: 'ending', labels: live(KINDS.deployment)[0]?.metadata.labels ?? {} },
    });
    remove();
    const result = await world.reconcile();
    expect(result.requeueAfterMs).to.be.lessThan(5000);
    expect(workloads()).to.deep.equal([]);
    expect(realms()).to.have.length(4);
    endPods(world.kube);
    await world.reconcile();
    expect([realms(), world.read()]).to.deep.equal([[], undefined]);
    expect(world.own.countOf('eraseTenant')).to.equal(1);
  });

  it('keeps the finalizer until all stores are empty, without starting services', async () => {
    await make({ deletionPolicy: 'Delete' });
    const [mongodb, , elasticsearch] = administrators;
    if (mongodb === undefined || elasticsearch === undefined) throw new Error('No administrators.');
    elasticsearch.stubborn = 1;
    mongodb.failure = engramError('ServiceUnavailableError', 'MongoDB is away.', { retryable: true });
    remove();
    expect(await world.reconcile()).to.include({ retry: true });
    expect(world.conditions()).to.include({ ErasureComplete: 'False StoreUnreachable' });
    expect(world.condition('ErasureComplete')?.message).to.include('MongoDB is away');
    mongodb.failure = null;
    elasticsearch.stubborn = 1;
    await world.reconcile();
    elasticsearch.stubborn = 0;
    await world.reconcile();
    expect([realms(), world.read(), workloads()]).to.deep.equal([[], undefined, []]);
  });

  it('reports stores with a residue', async () => {
    await make({ deletionPolicy: 'Delete' });
    const [, nats] = administrators;
    if (nats === undefined) throw new Error('No administrators.');
    nats.stubborn = 1;
    remove();
    expect(await world.reconcile()).to.include({ retry: true });
    expect(world.conditions()).to.include({ ErasureComplete: 'False ResidueFound' });
    expect(world.condition('ErasureComplete')?.message).to.include('is not completely removed from nats');
    expect(world.read()?.status?.erasure?.residue).to.equal(1);
    expect(keysSecret()).not.to.equal(undefined);
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
  });

  it('keeps stores and keys with Retain, for adoption under another name', async () => {
    await make();
    const { tenantId = '', realm = '' } = world.read()?.status ?? {};
    const [before, given] = [keysSecret(), administrators[0]?.realms.get(realm)];
    remove();
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
    expect(world.own.tenants.get(tenantId)?.crUid).to.equal(null);
    expect(workloads()).to.deep.equal([]);
    expect(realms()).to.have.length(4);
    expect(live(KINDS.secret).map(({ metadata }) => metadata.name)).to.have.members([
      ...['acme-owner', 'key', before?.metadata.name ?? ''],
    ]);

    const next = { name: 'again', namespace: PLACE.namespace };
    world.put({ isolation: 'Dedicated', tenantId, owner: { email: 'admin@acme.example.com' } }, next);
    await world.reconcile('memory/again');
    runEverything(world.kube);
    await world.reconcile('memory/again');
    const taken = world.kube.read<KubeObject & { readonly status?: { readonly realm?: string } }>(TENANT_KIND, next);
    expect(taken?.status).to.include({ realm, tenantId });
    expect((keysSecret() as { data?: unknown }).data).to.deep.equal((before as { data?: unknown }).data);
    expect(administrators[0]?.realms.get(realm)).to.deep.equal(given);
  });

  it('refuses an adoption without the keys', async () => {
    world.put({ isolation: 'Dedicated', tenantId: '6f1c2b0e-6a51-4b43-9a55-0b1d6a5c2f10' });
    await world.reconcile();
    expect(world.conditions()).to.include({ Stalled: 'True TenantNotFound' });
    expect(realms()).to.deep.equal([]);
  });

  it('starts the services of a hibernated tenant for the erasure', async () => {
    await make({ deletionPolicy: 'Delete' });
    world.change({ spec: { state: 'Hibernated' } });
    await world.reconcile();
    runEverything(world.kube);
    await world.reconcile();
    runEverything(world.kube);
    remove();
    await world.reconcile();
    expect(world.own.countOf('eraseTenant')).to.equal(0);
    runEverything(world.kube);
    await world.reconcile();
    expect(world.own.countOf('eraseTenant')).to.equal(1);
    expect([world.read(), realms()]).to.deep.equal([undefined, []]);
  });

  it('removes everything of a tenant that was never provisioned', async () => {
    world.put({ isolation: 'Dedicated' });
    await world.reconcile();
    expect(realms()).to.have.length(4);
    remove();
    // Its pods never came up: nobody waits for them.
    await world.reconcile();
    expect([world.read(), realms(), workloads()]).to.deep.equal([undefined, [], []]);
    expect(world.own.calls).to.deep.equal([]);
  });

  it('keeps a tenant whose adoption did not complete', async () => {
    await make();
    const { tenantId = '' } = world.read()?.status ?? {};
    remove();
    await world.reconcile();
    const next = { name: 'again', namespace: PLACE.namespace };
    world.put({ isolation: 'Dedicated', tenantId, deletionPolicy: 'Delete' }, next);
    await world.reconcile('memory/again');
    world.kube.remove(TENANT_KIND, next);
    await world.reconcile('memory/again');
    expect(world.kube.read(TENANT_KIND, next)).to.equal(undefined);
    expect(realms()).to.have.length(4);
    expect(keysSecret()?.metadata.labels).to.include({ 'engram.dev/tenant-id': tenantId });
    expect(keysSecret()?.metadata.labels).not.to.have.property('engram.dev/owner-uid');
  });

  it('erases by the services when API keys were issued, although the status has no id', async () => {
    world.put({ isolation: 'Dedicated', apiKeys });
    await world.reconcile();
    runEverything(world.kube);
    // As a kill before the status is written leaves it.
    world.kube.fail({ method: 'PATCH', path: /tenants\/acme\/status$/, fault: { status: 500 }, times: 100 });
    await world.reconcile().catch(() => {});
    world.kube.heal();
    expect(world.read()?.status).not.to.have.property('tenantId');
    expect(world.secretValue('key', 'apiKey')).to.match(/^[0-9a-f]{64}$/);
    remove();
    await world.reconcile();
    expect([world.read(), realms().length]).to.deep.equal([undefined, 4]);
    expect(world.own.countOf('releaseTenant')).to.equal(1);
    expect(keysSecret()).not.to.equal(undefined);
  });

  it('removes the stores of its own realm without the keys', async () => {
    await make({ deletionPolicy: 'Delete' });
    const keys = keysSecret()?.metadata;
    if (keys === undefined) throw new Error('No keys.');
    world.kube.remove(KINDS.secret, keys);
    const own = realms();
    for (const { realms: held } of administrators) {
      held.set('tneighbour', {
        ownerUid: 'neighbour',
        credentials: { current: { slot: 'a', password: '' }, previous: null },
      });
    }
    const realm = world.read()?.status?.realm;
    const client = world.kube.client({ clock: world.clock });
    await client.patchStatus(TENANT_KIND, PLACE, { realm: 'tneighbour' });
    remove();
    await world.reconcile();
    expect(world.conditions()).to.include({ Stalled: 'True SecretMissing' });
    expect(realms()).to.have.length(8);
    await client.patchStatus(TENANT_KIND, PLACE, { realm });
    await world.reconcile();
    expect(own).to.have.length(4);
    expect([world.read(), realms()]).to.deep.equal([undefined, Array(4).fill('tneighbour')]);
  });

  it('reports kept stores whose keys are missing', async () => {
    await make();
    world.kube.remove(KINDS.secret, keysSecret()?.metadata ?? PLACE);
    const name = `engram-realm-${world.read()?.status?.realm}`;
    world.kube.remove(KINDS.secret, { name, namespace: SERVICES_NAMESPACE });
    remove();
    await world.reconcile();
    expect([world.read(), realms().length]).to.deep.equal([undefined, 4]);
    expect(world.notes.map(({ reason }) => reason))
      .to.include('KeysMissing')
      .and.not.include('Retained');
  });

  it('deletes a tenant although its stores have too little isolation', async () => {
    await make({ deletionPolicy: 'Delete' });
    world.change({ spec: { minimumIsolation: 'Cluster' } });
    await world.reconcile();
    expect(world.conditions()).to.include({ Stalled: 'True IsolationUnsupported' });
    remove();
    await world.reconcile();
    expect([world.read(), realms()]).to.deep.equal([undefined, []]);
  });

  it('keeps a foreign Secret of the same name', async () => {
    const place = { ...PLACE, name: 'tenant-acme-settings' };
    world.kube.put(KINDS.secret, { apiVersion: 'v1', kind: 'Secret', metadata: place });
    world.put({ isolation: 'Dedicated' });
    await world.reconcile();
    expect(world.conditions()).to.include({ Stalled: 'True ObjectExists' });
    remove();
    await world.reconcile();
    expect([world.read(), realms()]).to.deep.equal([undefined, []]);
    expect(world.kube.read(KINDS.secret, place)).not.to.equal(undefined);
  });

  it('abandons a Dedicated tenant without touching its stores', async () => {
    await make({ deletionPolicy: 'Delete' });
    const uid = world.read()?.metadata.uid ?? '';
    for (const administrator of administrators) {
      administrator.failure = engramError('ServiceUnavailableError', 'Gone for good.', { retryable: true });
    }
    remove();
    world.change({ metadata: { annotations: { [FRAME_ANNOTATIONS.abandon]: uid } } });
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
    expect(keysSecret()).not.to.equal(undefined);
    expect(world.own.countOf('eraseTenant')).to.equal(0);
  });
});
