import { expect } from 'chai';
import type { RequestOf } from '../../services/common/platform/messaging/messages.ts';
import { createFakeAdministrators } from '../../test/support/kube/fake-administrators.ts';
import { endActivator, runEverything } from '../../test/support/kube/fake-workloads.ts';
import { createTenantWorld, dedicatedTo, PLACE, type TenantWorld } from '../../test/support/kube/tenant-world.ts';
import { WAKE_REQUESTED_EXIT_CODE } from '../activator/answer.ts';
import { WAKE_AT } from '../api/names.ts';
import { KINDS, type KubeObject } from '../kube-runtime/kube-object.ts';

interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly template: { readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] } };
  };
}

describe('hibernation of an unused Dedicated tenant', () => {
  let world: TenantWorld;
  beforeEach(async () => {
    world = await createTenantWorld({
      dedicated: dedicatedTo(createFakeAdministrators()),
    });
  });
  afterEach(() => world.close());

  const tenant = () => {
    const [held] = [...world.own.tenants.values()];
    if (held === undefined) throw new Error('There is no tenant.');
    return held;
  };
  const deployment = (part: string) =>
    world.kube.read<Deployment>(KINDS.deployment, { ...PLACE, name: `tenant-acme-${part}` });
  const replicas = () => deployment('auth')?.spec.replicas;
  const ready = () => world.conditions()['Ready'];
  const lastRequest = () =>
    world.own.calls.findLast(({ method }) => method === 'ensureTenant')?.request as RequestOf<'auth.EnsureTenant'>;
  const settle = async () => {
    await world.reconcile();
    runEverything(world.kube);
    await world.reconcile();
    runEverything(world.kube);
    await world.reconcile();
  };
  const hibernate = async (wake: 'OnRequest' | 'Manual' = 'OnRequest') => {
    world.put({ isolation: 'Dedicated', hibernation: { afterIdle: '72h', wake } });
    await settle();
    expect(ready()).to.equal('True Available');
    tenant().isIdle = true;
    expect((await world.reconcile()).requeueAfterMs).to.be.lessThan(10_000);
    await settle();
    expect([ready(), replicas()]).to.deep.equal(['False Hibernated', 0]);
  };
  const ring = async () => {
    endActivator(world.kube, WAKE_REQUESTED_EXIT_CODE);
    await world.reconcile();
  };

  it('stops the services once the activator runs', async () => {
    await hibernate();
    const calls = world.own.calls.length;
    await world.clock.advance(600_000);
    await world.reconcile();
    const version = world.kube.store.version();
    await world.reconcile();
    expect([world.own.calls.length, world.kube.store.version()]).to.deep.equal([calls, version]);
    expect(world.condition('Ready')?.message).to.equal('Unused for 72h: the next request wakes it');
    expect(world.read()?.status?.state).to.equal('Hibernated');
    expect(deployment('asleep')?.spec.template.spec.containers[0]?.args).to.deep.equal([
      ...['operator/activator/main.ts', '8000', 'OnRequest', '/tmp/rung'],
    ]);
  });

  it('wakes by a request, and stays awake when its credential is valid', async () => {
    await hibernate();
    await ring();
    expect([ready(), replicas()]).to.deep.equal(['False WorkloadsStarting', 1]);
    runEverything(world.kube);
    // What auth answers as it starts: nobody came in yet.
    await world.reconcile();
    expect(lastRequest()).not.to.have.property('wake');
    expect(ready()).to.equal('True Available');
    expect(world.read()?.status?.waking?.by).to.equal('Request');
    Object.assign(tenant(), { isIdle: false, state: 'Active' });
    await world.reconcile();
    expect(world.read()?.status?.waking).to.equal(undefined);
    await world.clock.advance(600_000);
    await settle();
    expect([ready(), replicas()]).to.deep.equal(['True Available', 1]);
    expect(deployment('asleep')).to.equal(undefined);
  });

  it('hibernates again after five minutes without a valid credential', async () => {
    await hibernate();
    await ring();
    runEverything(world.kube);
    await world.reconcile();
    await world.clock.advance(290_000);
    await settle();
    expect(ready()).to.equal('True Available');
    await world.clock.advance(10_000);
    await settle();
    await settle();
    expect([ready(), replicas()]).to.deep.equal(['False Hibernated', 0]);
    expect(world.read()?.status?.waking).to.equal(undefined);
  });

  it('waits for a request from when the services answer', async () => {
    await hibernate();
    await ring();
    await world.clock.advance(600_000);
    runEverything(world.kube);
    await settle();
    expect([ready(), replicas()]).to.deep.equal(['True Available', 1]);
    await world.clock.advance(290_000);
    await settle();
    expect(ready()).to.equal('True Available');
    await world.clock.advance(10_000);
    await settle();
    await settle();
    expect([ready(), replicas()]).to.deep.equal(['False Hibernated', 0]);
  });

  it('finds a request that came while no operator ran, and ignores other exits', async () => {
    await hibernate();
    endActivator(world.kube, 137);
    await world.reconcile();
    expect(replicas()).to.equal(0);
    await ring();
    expect(replicas()).to.equal(1);
  });

  it('wakes only by the annotation with wake: Manual', async () => {
    await hibernate('Manual');
    expect(deployment('asleep')?.spec.template.spec.containers[0]?.args).not.to.include('OnRequest');
    await ring();
    expect(replicas()).to.equal(0);
    world.change({ metadata: { annotations: { [WAKE_AT]: '1' } } });
    await settle();
    expect([ready(), tenant().isIdle]).to.deep.equal(['True Available', false]);
    await world.reconcile();
    expect(lastRequest()).not.to.have.property('wake');
    expect(world.read()?.status).not.to.have.property('waking');
  });

  it('wakes by a change of the spec', async () => {
    await hibernate('Manual');
    world.change({ spec: { displayName: 'Acme Corp' } });
    await settle();
    expect([ready(), tenant().name]).to.deep.equal(['True Available', 'Acme Corp']);
  });

  it('wakes after a declared hibernation ends', async () => {
    await hibernate();
    world.change({ spec: { state: 'Hibernated' } });
    await settle();
    expect([ready(), replicas()]).to.deep.equal(['False Hibernated', 0]);
    world.change({ spec: { state: 'Active' } });
    await settle();
    expect([ready(), tenant().isIdle]).to.deep.equal(['True Available', false]);
  });
});
