import { expect } from 'chai';
import type { RequestOf } from '../../services/common/platform/messaging/messages.ts';
import { createTenantWorld, type TenantWorld } from '../../test/support/kube/tenant-world.ts';
import { WAKE_AT } from '../api/names.ts';

const IDLE = { hibernation: { afterIdle: '72h', wake: 'OnRequest' } } as const;

describe('hibernation of a tenant', () => {
  let world: TenantWorld;
  beforeEach(async () => {
    world = await createTenantWorld();
  });
  afterEach(() => world.close());

  const tenant = () => {
    const [held] = [...world.services.tenants.values()];
    if (held === undefined) throw new Error('there is no tenant');
    return held;
  };
  const lastRequest = () =>
    world.services.calls.findLast(({ method }) => method === 'ensureTenant')?.request as RequestOf<'auth.EnsureTenant'>;
  const reasons = () => world.notes.map(({ reason }) => reason);

  it('sets the hibernation of a tenant, and none when it is not declared', async () => {
    world.put();
    await world.reconcile();
    expect(lastRequest()).not.to.have.any.keys('hibernation', 'wake');
    world.change({ spec: { hibernation: { afterIdle: '1h30m', wake: 'Manual' } } });
    await world.reconcile();
    expect(lastRequest()).to.deep.include({ hibernation: { afterIdleMs: 5_400_000, wakesOnRequest: false } });
    world.change({ spec: { state: 'Hibernated' } });
    await world.reconcile();
    expect(lastRequest()).not.to.have.any.keys('hibernation', 'wake');
  });

  it('records one event when a tenant is hibernated and one when it wakes', async () => {
    world.put(IDLE);
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available' });
    tenant().isIdle = true;
    await world.reconcile();
    const written = world.statusWrites();
    await world.reconcile();
    expect(world.statusWrites()).to.equal(written);
    expect(world.conditions()).to.include({ Ready: 'False Hibernated' });
    expect(world.conditions()).not.to.have.any.keys('Stalled', 'Reconciling');
    expect(world.condition('Ready')?.message).to.equal('Unused for 72h: the next request wakes it');
    expect(world.read()?.status?.state).to.equal('Hibernated');
    tenant().isIdle = false;
    tenant().state = 'Active';
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available' });
    expect(world.read()?.status?.state).to.equal('Active');
    expect(reasons().filter((reason) => reason === 'Hibernated' || reason === 'Woken')).to.deep.equal([
      'Hibernated',
      'Woken',
    ]);
    expect(reasons()).not.to.include('DriftCorrected');
  });

  it('wakes a tenant once for each new value of the annotation', async () => {
    world.put({ hibernation: { afterIdle: '72h', wake: 'Manual' } });
    await world.reconcile();
    tenant().isIdle = true;
    await world.reconcile();
    expect(world.condition('Ready')?.message).to.contain('engram.dev/wake-at');
    world.change({ metadata: { annotations: { [WAKE_AT]: '1' } } });
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available' });
    expect(world.read()?.status?.lastHandledWakeAt).to.equal('1');
    await world.reconcile();
    expect(lastRequest()).not.to.have.property('wake');
  });

  it('reports no drift when hibernation is no longer declared', async () => {
    world.put(IDLE);
    await world.reconcile();
    tenant().isIdle = true;
    await world.reconcile();
    world.change({ spec: { hibernation: null } });
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available' });
    expect(tenant().state).to.equal('Active');
    expect(reasons()).not.to.include('DriftCorrected');
  });
});
