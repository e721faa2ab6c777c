import { expect } from 'chai';
import { createFakeAdministrators, type FakeAdministrator } from '../../test/support/kube/fake-administrators.ts';
import { endPods, runEverything } from '../../test/support/kube/fake-workloads.ts';
import { createTenantWorld, dedicatedTo, PLACE, type TenantWorld } from '../../test/support/kube/tenant-world.ts';
import { ROTATE_STORES_AT } from '../api/names.ts';
import { KINDS, type KubeObject, type Secret } from '../kube-runtime/kube-object.ts';
import type { RealmCredentials } from '../stores/store-administrator.ts';

describe('rotation of the logins of a Dedicated tenant at its stores', () => {
  let world: TenantWorld;
  let administrators: readonly FakeAdministrator[];
  const open = async (made: readonly FakeAdministrator[]) => {
    administrators = made;
    world = await createTenantWorld({
      dedicated: dedicatedTo(administrators),
    });
  };
  beforeEach(() => open(createFakeAdministrators()));
  afterEach(() => world.close());

  const make = async (spec: object = {}) => {
    world.put({ isolation: 'Dedicated', ...spec });
    await world.reconcile();
    runEverything(world.kube);
    await world.reconcile();
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available', StoreLoginsReady: 'True Issued' });
  };
  const valid = (): RealmCredentials => {
    const [realm] = [...(administrators[0]?.realms.values() ?? [])];
    if (realm === undefined) throw new Error('No realm.');
    return realm.credentials;
  };
  const given = () => {
    const secret = world.kube.read<Secret>(KINDS.secret, { ...PLACE, name: 'tenant-acme-settings' });
    return Buffer.from(secret?.data?.['ENGRAM_MONGODB_PASSWORD'] ?? '', 'base64').toString();
  };
  const annotate = (annotations: Readonly<Record<string, string>>) => world.change({ metadata: { annotations } });
  const reasons = () => world.notes.map(({ reason }) => reason).filter((reason) => reason.startsWith('StoreLogins'));
  /** Of auth, with what it read when it was made. */
  const podLike = (name: string): KubeObject => {
    const deployment = world.kube.read<Workload>(KINDS.deployment, { ...PLACE, name: 'tenant-acme-auth' });
    const { labels = {}, annotations = {} } = deployment?.spec.template.metadata ?? {};
    const { namespace } = PLACE;
    return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels, annotations } };
  };

  it('keeps the former logins until the last pod with them is gone', async () => {
    await make();
    const { current: former } = valid();
    const old = podLike('old');
    annotate({ [ROTATE_STORES_AT]: '1' });
    await world.reconcile();
    expect(valid()).to.deep.equal({ current: former, previous: null });
    await world.reconcile();
    const { current } = valid();
    expect([former.slot, current.slot]).to.deep.equal(['a', 'b']);
    expect(current.password).not.to.equal(former.password);
    expect(valid().previous).to.deep.equal(former);
    expect(given()).to.equal(current.password);
    // No pod was made anew yet.
    await world.reconcile();
    expect(valid().previous).to.deep.equal(former);
    runEverything(world.kube);
    world.kube.put(KINDS.pod, old);
    await world.reconcile();
    await world.reconcile();
    expect(valid().previous).to.deep.equal(former);
    expect(world.conditions()).to.include({ Ready: 'True Available', StoreLoginsReady: 'True Rotating' });
    endPods(world.kube);
    world.kube.put(KINDS.pod, podLike('new'));
    await world.reconcile();
    await world.reconcile();
    expect(valid()).to.deep.equal({ current, previous: null });
    await world.reconcile();
    const version = world.kube.store.version();
    await world.reconcile();
    expect([given(), world.kube.store.version()]).to.deep.equal([current.password, version]);
    expect(world.conditions()).to.include({ Ready: 'True Available', StoreLoginsReady: 'True Issued' });
    expect(world.read()?.status?.lastHandledRotateStoresAt).to.equal('1');
    expect(reasons()).to.deep.equal(['StoreLoginsRotated', 'StoreLoginsRevoked']);
  });

  it('alternates the two users, and starts no rotation before the previous one ends', async () => {
    await make();
    const slots: string[] = [];
    for (const ask of ['1', '2', '3']) {
      annotate({ [ROTATE_STORES_AT]: ask });
      await world.reconcile();
      await world.reconcile();
      slots.push(valid().current.slot);
      const { current } = valid();
      annotate({ [ROTATE_STORES_AT]: `${ask} again` });
      await world.reconcile();
      expect(valid().current).to.deep.equal(current);
      annotate({ [ROTATE_STORES_AT]: ask });
      runEverything(world.kube);
      await world.reconcile();
      await world.reconcile();
      expect(valid().previous).to.equal(null);
    }
    expect(slots).to.deep.equal(['b', 'a', 'b']);
  });

  it('rotates the logins after the interval, and shows the next time', async () => {
    await make({ storeLogins: { rotation: { interval: '24h' } } });
    const next = () =>
      world.read()?.status?.secrets?.find(({ purpose }) => purpose === 'InstallationKeys')?.nextRotation;
    const [before, firstAt] = [valid().current.password, Date.parse(next() ?? '')];
    await world.clock.advance(firstAt - world.clock.now().getTime() - 1000);
    await world.reconcile();
    expect(valid().current.password).to.equal(before);
    await world.clock.advance(1000);
    await world.reconcile();
    await world.reconcile();
    expect(valid().current.password).not.to.equal(before);
    expect(Date.parse(next() ?? '')).to.equal(firstAt + 86_400_000);
  });

  it('continues a rotation after any failed write, with valid logins in every pod', async () => {
    await make();
    annotate({ [ROTATE_STORES_AT]: '1' });
    const paths = [/settings/, /deployments.*-search/, /secrets.*-keys-/, /status$/, /deployments.*-auth/, /no such/];
    for (let round = 0; valid().previous !== null || valid().current.slot === 'a'; round += 1) {
      if (round > 40) throw new Error('It never came to an end.');
      for (const method of ['PATCH', 'PUT', 'POST']) {
        world.kube.fail({ method, path: paths[round % paths.length] ?? /no such/, fault: { status: 503 } });
      }
      await world.reconcile().catch(() => {});
      world.kube.heal();
      runEverything(world.kube);
      expect([valid().current.password, valid().previous?.password]).to.include(given());
    }
    expect(given()).to.equal(valid().current.password);
  });

  it('waits for a running migration with the former logins, but not for ended pods', async () => {
    await make();
    const held = podLike('evicted');
    const ended = { ...held, status: { phase: 'Failed', reason: 'Evicted' } };
    const labels = { ...held.metadata.labels, 'app.kubernetes.io/component': 'migration' };
    const migration = { ...held, metadata: { ...held.metadata, name: 'migration', labels } };
    annotate({ [ROTATE_STORES_AT]: '1' });
    await world.reconcile();
    await world.reconcile();
    runEverything(world.kube);
    world.kube.put(KINDS.pod, ended);
    world.kube.put(KINDS.pod, migration);
    for (let i = 0; i < 3; i += 1) await world.reconcile();
    expect(valid().previous).not.to.equal(null);
    world.kube.remove(KINDS.pod, migration.metadata);
    for (let i = 0; i < 3; i += 1) await world.reconcile();
    expect(valid().previous).to.equal(null);
    expect(world.conditions()).to.include({ StoreLoginsReady: 'True Issued' });
  });

  it('keeps the former logins while new pods do not start', async () => {
    await make();
    annotate({ [ROTATE_STORES_AT]: '1' });
    await world.reconcile();
    await world.reconcile();
    runEverything(world.kube, 0);
    for (let i = 0; i < 3; i += 1) await world.reconcile();
    expect(valid().previous).not.to.equal(null);
  });

  it('reports stores without users as having nothing to rotate', async () => {
    await world.close();
    const [mongodb, nats, ...others] = createFakeAdministrators();
    if (mongodb === undefined || nats === undefined) throw new Error('No administrators.');
    await open([mongodb, { ...nats, makesUsers: false }, ...others]);
    await make();
    expect(world.condition('StoreLoginsReady')?.message).to.equal(
      'The tenant has logins of its own at elasticsearch, mongodb, neo4j; none to rotate at nats',
    );
    await world.close();
    await open(createFakeAdministrators().map((each) => ({ ...each, makesUsers: false })));
    world.put({ isolation: 'Dedicated' });
    await world.reconcile();
    runEverything(world.kube);
    await world.reconcile();
    annotate({ [ROTATE_STORES_AT]: '1' });
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available', StoreLoginsReady: 'True NoneToRotate' });
    expect(reasons()).to.deep.equal([]);
  });
});

interface Workload extends KubeObject {
  readonly spec: { readonly template: { readonly metadata: KubeObject['metadata'] } };
}
