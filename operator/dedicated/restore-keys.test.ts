import { expect } from 'chai';
import { createFakeAdministrators, type FakeAdministrator } from '../../test/support/kube/fake-administrators.ts';
import { endPods, runEverything } from '../../test/support/kube/fake-workloads.ts';
import {
  createTenantWorld,
  dedicatedTo,
  PLACE,
  SERVICES_NAMESPACE,
  type TenantWorld,
} from '../../test/support/kube/tenant-world.ts';
import { TENANT_KIND, type Tenant, type TenantSpec } from '../api/tenant.ts';
import { findCondition } from '../kube-runtime/conditions.ts';
import { KINDS, keyOf, type Secret, secretText } from '../kube-runtime/kube-object.ts';

const TRUSTED = { name: 'heir', namespace: 'trusted' };
const ELSEWHERE = { name: 'heir', namespace: 'elsewhere' };

describe('keys of a Dedicated tenant whose Secret was deleted', () => {
  let world: TenantWorld;
  let administrators: readonly FakeAdministrator[];
  beforeEach(async () => {
    administrators = createFakeAdministrators();
    world = await createTenantWorld({
      trustedNamespaces: ['trusted'],
      dedicated: dedicatedTo(administrators),
    });
  });
  afterEach(() => world.close());

  const settle = async (place = PLACE) => {
    for (let i = 0; i < 3; i += 1) {
      await world.reconcile(keyOf(place));
      runEverything(world.kube);
    }
  };
  const become = async (spec: Partial<TenantSpec> = {}, place = PLACE) => {
    world.put({ isolation: 'Dedicated', ...spec }, place);
    await settle(place);
    return world.kube.read<Tenant>(TENANT_KIND, place);
  };
  const secretsIn = (namespace: string) =>
    world.kube.store.list('/api/v1/secrets', namespace) as unknown as readonly Secret[];
  const keysIn = (namespace: string) =>
    secretsIn(namespace).find(({ metadata }) => metadata.labels?.['engram.dev/realm'] !== undefined);
  const records = () =>
    secretsIn(SERVICES_NAMESPACE).filter(({ metadata }) => metadata.name.startsWith('engram-realm-'));
  const rootKeys = (secret: Secret | undefined) => secretText(secret ?? {}, 'ENGRAM_ROOT_KEYS');
  const ready = (place = PLACE) => {
    const condition = findCondition(world.kube.read<Tenant>(TENANT_KIND, place)?.status?.conditions, 'Ready');
    return `${condition?.status} ${condition?.reason}`;
  };
  /** As the cluster does it: everything that no finalizer holds is gone at once. */
  const deleteNamespace = async () => {
    for (const secret of secretsIn(PLACE.namespace)) world.kube.remove(KINDS.secret, secret.metadata);
    world.kube.remove(TENANT_KIND, PLACE);
    endPods(world.kube);
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
  };

  it('records the keys in the operator’s namespace before they are used, without logins', async () => {
    const [mongodb] = administrators;
    if (mongodb === undefined) throw new Error('No administrator.');
    mongodb.failure = new Error('killed');
    world.put({ isolation: 'Dedicated' });
    await world.reconcile();
    const [record] = records();
    expect(rootKeys(record)).to.equal(rootKeys(keysIn(PLACE.namespace)));
    expect(Object.keys(record?.data ?? {}).toSorted()).to.deep.equal([
      ...['ENGRAM_ROOT_KEYS', 'FASTAPI_USERS_JWT_SECRET', 'realm-proof'],
    ]);
  });

  it('restores the keys of a Tenant', async () => {
    await become();
    const before = keysIn(PLACE.namespace);
    world.kube.remove(KINDS.secret, before?.metadata ?? PLACE);
    await settle();
    expect([ready(), rootKeys(keysIn(PLACE.namespace))]).to.deep.equal(['True Available', rootKeys(before)]);
    const [realm] = [...(administrators[0]?.realms.values() ?? [])];
    const key = 'mongodb-password';
    expect(realm?.credentials.current.password)
      .to.equal(secretText(keysIn(PLACE.namespace) ?? {}, key))
      .and.not.equal(secretText(before ?? {}, key));
  });

  it('restores the keys for an adopting Tenant of the same namespace and name', async () => {
    const { status, metadata } = (await become()) ?? {};
    const before = rootKeys(keysIn(PLACE.namespace));
    await deleteNamespace();
    expect(world.notes.map(({ reason }) => reason))
      .to.include('Retained')
      .and.not.include('KeysMissing');
    expect(administrators.map(({ realms }) => realms.size)).to.deep.equal([1, 1, 1, 1]);
    const { tenantId = '', realm } = status ?? {};
    const heir = await become({ tenantId });
    expect([ready(), rootKeys(keysIn(PLACE.namespace))]).to.deep.equal(['True Available', before]);
    expect(heir?.status).to.include({ tenantId, realm });
    const released = world.own.calls.filter(({ method }) => method === 'releaseTenant').map(({ request }) => request);
    expect(released).to.deep.equal([{ tenantId, crUid: metadata?.uid, resource: 'memory/acme' }]);
    expect(records()).to.have.length(1);
  });

  it('restores the keys for a Tenant of another name only in a trusted namespace', async () => {
    const { status } = (await become()) ?? {};
    const before = rootKeys(keysIn(PLACE.namespace));
    await deleteNamespace();
    const { tenantId = '' } = status ?? {};
    await become({ tenantId }, ELSEWHERE);
    expect([ready(ELSEWHERE), keysIn(ELSEWHERE.namespace)]).to.deep.equal(['False AdoptionNotAllowed', undefined]);
    await become({ tenantId }, TRUSTED);
    expect([ready(TRUSTED), rootKeys(keysIn(TRUSTED.namespace))]).to.deep.equal(['True Available', before]);
  });

  it('finds the record of a Tenant among several with its id, and never guesses', async () => {
    const { status } = (await become()) ?? {};
    const { tenantId = '' } = status ?? {};
    const before = rootKeys(keysIn(PLACE.namespace));
    await become({}, ELSEWHERE);
    const forged = { metadata: { labels: { 'engram.dev/tenant-id': tenantId } } };
    world.kube.change(KINDS.secret, keysIn(ELSEWHERE.namespace)?.metadata ?? ELSEWHERE, forged);
    await world.reconcile(keyOf(ELSEWHERE));
    await deleteNamespace();
    world.kube.remove(TENANT_KIND, ELSEWHERE);
    await world.reconcile(keyOf(ELSEWHERE));
    // As if it had been noted first, with the record of what was forged before the other in every list.
    for (const { metadata } of records()) {
      const labels = { 'engram.dev/realm-of-tenant': tenantId };
      world.kube.change(KINDS.secret, metadata, { metadata: { labels } });
    }
    await become({ tenantId }, TRUSTED);
    expect([ready(TRUSTED), keysIn(TRUSTED.namespace)]).to.deep.equal(['False AdoptionNotAllowed', undefined]);
    await become({ tenantId });
    expect([ready(), rootKeys(keysIn(PLACE.namespace))]).to.deep.equal(['True Available', before]);
  });

  it('does not take the tenant id of a record from the label of the Secret', async () => {
    const { status } = (await become()) ?? {};
    const forged = { metadata: { labels: { 'engram.dev/tenant-id': 'another' } } };
    world.kube.change(KINDS.secret, keysIn(PLACE.namespace)?.metadata ?? PLACE, forged);
    world.kube.fail({ method: 'PATCH', path: /secrets.*-keys-/, fault: { status: 503 } });
    await world.reconcile().catch(() => {});
    world.kube.heal();
    expect(records().map(({ metadata }) => metadata.labels?.['engram.dev/realm-of-tenant'])).to.deep.equal([
      status?.tenantId,
    ]);
  });

  it('reports a foreign Secret with the name of the keys', async () => {
    await become();
    const { name, namespace } = keysIn(PLACE.namespace)?.metadata ?? {};
    world.kube.remove(KINDS.secret, keysIn(PLACE.namespace)?.metadata ?? PLACE);
    const metadata = { name: name ?? '', namespace: namespace ?? '' };
    world.kube.put(KINDS.secret, { apiVersion: 'v1', kind: 'Secret', metadata });
    await world.reconcile().catch(() => {});
    expect(ready()).to.equal('False ObjectExists');
  });

  it('restores no keys that another Tenant has', async () => {
    const { status } = (await become()) ?? {};
    await become({ tenantId: status?.tenantId ?? '' }, TRUSTED);
    expect([ready(TRUSTED), keysIn(TRUSTED.namespace)]).to.deep.equal(['False OwnedByAnother', undefined]);
    // Nor with a copy of the Secret.
    const { labels, annotations } = keysIn(PLACE.namespace)?.metadata ?? {};
    const copied = { 'engram.dev/owner-uid': world.kube.read<Tenant>(TENANT_KIND, TRUSTED)?.metadata.uid ?? '' };
    world.kube.put(KINDS.secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      data: keysIn(PLACE.namespace)?.data ?? {},
      metadata: { ...TRUSTED, name: 'copied', labels: { ...labels, ...copied }, annotations: annotations ?? {} },
    } as Secret);
    const before = administrators.map(({ realms }) => [...realms.entries()]);
    await world.reconcile(keyOf(TRUSTED));
    expect(ready(TRUSTED)).to.equal('False OwnedByAnother');
    expect(administrators.map(({ realms }) => [...realms.entries()])).to.deep.equal(before);
  });

  it('removes the record with the stores, also without the Secret', async () => {
    const { status } = (await become()) ?? {};
    await deleteNamespace();
    await become({ tenantId: status?.tenantId ?? '', deletionPolicy: 'Delete' });
    await deleteNamespace();
    expect(administrators.map(({ realms }) => realms.size)).to.deep.equal([0, 0, 0, 0]);
    expect(records()).to.deep.equal([]);
  });
});
