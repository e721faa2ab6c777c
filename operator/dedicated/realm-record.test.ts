import { expect } from 'chai';
import { createFakeAdministrators, type FakeAdministrator } from '../../test/support/kube/fake-administrators.ts';
import { runEverything } from '../../test/support/kube/fake-workloads.ts';
import {
  createTenantWorld,
  dedicatedTo,
  MANAGER,
  PLACE,
  SERVICES_NAMESPACE,
  type TenantWorld,
} from '../../test/support/kube/tenant-world.ts';
import { TENANT_KIND, type Tenant, type TenantSpec } from '../api/tenant.ts';
import { findCondition } from '../kube-runtime/conditions.ts';
import { KINDS, type Secret } from '../kube-runtime/kube-object.ts';

const MALLORY = { name: 'mallory', namespace: 'elsewhere' };

describe('realm of a Dedicated tenant and the Secret that names it', () => {
  let world: TenantWorld;
  let administrators: readonly FakeAdministrator[];
  beforeEach(async () => {
    administrators = createFakeAdministrators();
    world = await createTenantWorld({
      dedicated: dedicatedTo(administrators),
    });
  });
  afterEach(() => world.close());

  const make = async (spec: Partial<TenantSpec> = {}) => {
    world.put({ isolation: 'Dedicated', ...spec });
    await world.reconcile();
    runEverything(world.kube);
    await world.reconcile();
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available' });
  };
  const secretsOf = (namespace: string) =>
    (world.kube.store.list('/api/v1/secrets', namespace) as unknown as Secret[]).filter(
      ({ metadata }) => metadata.labels?.['engram.dev/realm'] !== undefined,
    );
  const keysOf = (namespace: string): Secret => {
    const [secret] = secretsOf(namespace);
    if (secret === undefined) throw new Error('No keys.');
    return secret;
  };
  const stalled = () =>
    findCondition(world.kube.read<Tenant>(TENANT_KIND, MALLORY)?.status?.conditions, 'Stalled')?.reason;
  const held = () => administrators.map(({ realms }) => [...realms.entries()]);
  /** All that somebody in another namespace can write: labels and annotations as they like, and the victim's uid. */
  const forge = (owner: string, labels: Readonly<Record<string, string>>, data: Secret['data'] = {}) =>
    world.kube.put(KINDS.secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        ...MALLORY,
        name: 'forged',
        labels: { 'app.kubernetes.io/managed-by': MANAGER, 'engram.dev/realm': 'any', ...labels },
        annotations: { 'engram.dev/realm-owner': owner },
      },
      data: {
        ENGRAM_ROOT_KEYS: Buffer.from(`k1:${'A'.repeat(43)}=`).toString('base64'),
        FASTAPI_USERS_JWT_SECRET: Buffer.from('m'.repeat(48)).toString('base64'),
        ...data,
      },
    } as Secret);

  for (const deletionPolicy of ['Retain', 'Delete'] as const) {
    it(`ignores a forged Secret that names a realm, also when it is deleted (${deletionPolicy})`, async () => {
      await make();
      const victim = world.read();
      const before = held();
      const own = world.put({ isolation: 'Dedicated', deletionPolicy }, MALLORY);
      forge(victim?.metadata.uid ?? '', { 'engram.dev/owner-uid': own.metadata.uid ?? '' });
      await world.reconcile('elsewhere/mallory');
      expect(stalled()).to.equal('OwnedByAnother');
      world.kube.remove(TENANT_KIND, MALLORY);
      await world.reconcile('elsewhere/mallory');
      expect(held()).to.deep.equal(before);
    });
  }

  it('refuses an adoption with a forged Secret', async () => {
    await make();
    const { uid = '' } = world.read()?.metadata ?? {};
    const { tenantId = '' } = world.read()?.status ?? {};
    world.kube.remove(TENANT_KIND, PLACE);
    await world.reconcile();
    const before = held();
    world.put({ isolation: 'Dedicated', tenantId, deletionPolicy: 'Delete' }, MALLORY);
    forge(uid, { 'engram.dev/tenant-id': tenantId });
    await world.reconcile('elsewhere/mallory');
    expect(stalled()).to.equal('OwnedByAnother');
    expect(held()).to.deep.equal(before);
  });

  it('adopts a realm with the Secret of its former Tenant in any namespace', async () => {
    await make();
    const { uid = '' } = world.read()?.metadata ?? {};
    const { tenantId = '', realm } = world.read()?.status ?? {};
    world.kube.remove(TENANT_KIND, PLACE);
    await world.reconcile();
    world.put({ isolation: 'Dedicated', tenantId }, MALLORY);
    forge(uid, { 'engram.dev/tenant-id': tenantId }, keysOf(PLACE.namespace).data);
    await world.reconcile('elsewhere/mallory');
    expect(stalled()).to.equal(undefined);
    expect(world.kube.read<Tenant>(TENANT_KIND, MALLORY)?.status).to.include({ realm });
  });

  it('keeps the realm of a tenant when its annotation is removed', async () => {
    await make();
    const before = held();
    const annotations = { 'engram.dev/realm-owner': 'somebody' };
    world.kube.change(KINDS.secret, keysOf(PLACE.namespace).metadata, { metadata: { annotations } });
    await world.reconcile();
    expect(world.conditions()).to.include({ Stalled: 'True SecretInvalid' });
    expect(held()).to.deep.equal(before);
  });

  it('generates no new keys when Secret and record are lost', async () => {
    await make();
    const before = held();
    const keys = keysOf(PLACE.namespace);
    world.kube.remove(KINDS.secret, keys.metadata);
    world.kube.remove(KINDS.secret, recordOf(world));
    await world.reconcile();
    expect(world.conditions()).to.include({ Stalled: 'True SecretMissing' });
    expect([secretsOf(PLACE.namespace), held()]).to.deep.equal([[], before]);
    const { name, namespace, labels = {}, annotations = {} } = keys.metadata;
    world.kube.put(KINDS.secret, { ...keys, metadata: { name, namespace, labels, annotations } } as Secret);
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available' });
    expect(held()).to.deep.equal(before);
  });
});

/** Records that the operator keeps beside itself. */
function recordOf(world: TenantWorld) {
  return { name: `engram-realm-${world.read()?.status?.realm}`, namespace: SERVICES_NAMESPACE };
}
