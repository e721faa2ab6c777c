import { expect } from 'chai';
import type { TenantId } from '../../services/common/kernel/brand.ts';
import { asId } from '../../services/common/kernel/ids.ts';
import type { RequestOf } from '../../services/common/platform/messaging/messages.ts';
import { unavailable } from '../../test/support/kube/fake-services.ts';
import { createTenantWorld, PLACE, type TenantWorld } from '../../test/support/kube/tenant-world.ts';
import { TENANT_KIND } from '../api/tenant.ts';

const OTHER = { name: 'other', namespace: 'memory' };
const HALF_HOUR = 1_800_000;

describe('isolation of a tenant', () => {
  let world: TenantWorld;
  beforeEach(async () => {
    world = await createTenantWorld();
  });
  afterEach(() => world.close());

  const idOf = (name: string) => [...world.services.tenants.values()].find((one) => one.name === name)?.id ?? '';
  const checks = () =>
    world.services.calls
      .filter(({ method }) => method === 'checkIsolation')
      .map(({ request }) => request as RequestOf<'ingest.CheckIsolation'>);
  const both = async (spec: Parameters<TenantWorld['put']>[0] = {}) => {
    world.put({}, OTHER);
    await world.reconcile('memory/other');
    world.put(spec);
    await world.reconcile();
  };
  /** Makes the services report that the other tenant sees this one's canary. */
  const leak = () => {
    const [tenantId, seenByTenantId] = [asId<TenantId>(idOf('acme')), asId<TenantId>(idOf('other'))];
    const leaks = ['search', 'dataset id'].map((way) => ({ tenantId, seenByTenantId, way }));
    world.services.isolationAnswer = ({ otherTenantIds }) => ({
      unproven: null,
      comparedTenantIds: otherTenantIds,
      leaks,
    });
  };
  const pass = (ms: number) => world.clock.advance(ms);

  it('verifies the isolation after a comparison with another tenant', async () => {
    world.put({}, OTHER);
    await world.reconcile('memory/other');
    world.put();
    await world.reconcile();
    expect(world.conditions()).to.include({ IsolationVerified: 'True Verified', Ready: 'True Available' });
    expect(checks().at(-1)).to.deep.include({ tenantId: idOf('acme'), otherTenantIds: [idOf('other')] });
    expect(world.read()?.status).not.to.have.property('leaks');
  });

  it('does not claim isolation without another tenant, and is Ready', async () => {
    world.put();
    expect(await world.reconcile()).to.have.property('requeueAfterMs', 600_000);
    expect(world.conditions()).to.include({ IsolationVerified: 'Unknown NotChecked', Ready: 'True Available' });
    expect(world.condition('IsolationVerified')?.message).to.contain('no other tenant');
    world.put({}, OTHER);
    await world.reconcile('memory/other');
    await world.reconcile();
    expect(world.conditions()).to.include({ IsolationVerified: 'True Verified' });
  });

  it('does not compare with a disabled tenant', async () => {
    world.put({ state: 'Disabled' }, OTHER);
    await world.reconcile('memory/other');
    world.services.isolationAnswer = () => ({ unproven: null, comparedTenantIds: [], leaks: [] });
    world.put();
    expect(await world.reconcile()).to.have.property('requeueAfterMs', 600_000);
    expect(checks().at(-1)).to.deep.include({ tenantId: idOf('acme'), otherTenantIds: [] });
    expect(world.condition('IsolationVerified')?.message).to.contain('no other tenant');
  });

  it('keeps a leak when the other tenant is disabled', async () => {
    await both();
    leak();
    await pass(HALF_HOUR);
    await world.reconcile();
    world.kube.change(TENANT_KIND, OTHER, { spec: { state: 'Disabled' } });
    await world.reconcile('memory/other');
    world.services.isolationAnswer = () => ({ unproven: null, comparedTenantIds: [], leaks: [] });
    await pass(HALF_HOUR);
    await world.reconcile();
    expect(checks().at(-1)?.otherTenantIds).to.deep.equal([idOf('other')]);
    expect(world.conditions()).to.include({ IsolationVerified: 'False CanaryLeaked' });
  });

  it('checks the isolation again after the interval without a write', async () => {
    await both();
    const [asked, written] = [checks().length, world.statusWrites()];
    await world.reconcile();
    expect(checks()).to.have.length(asked);
    await pass(HALF_HOUR);
    await world.reconcile();
    await world.reconcile();
    expect(checks()).to.have.length(asked + 1);
    expect(world.statusWrites()).to.equal(written);
  });

  it('compares a tenant with all others in turn, two at a time', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) {
      world.put({ displayName: name }, { name, namespace: 'memory' });
      await world.reconcile(`memory/${name}`);
    }
    world.put();
    await world.reconcile();
    const from = checks().length - 1;
    for (let round = 0; round < 2; round += 1) {
      await pass(HALF_HOUR);
      await world.reconcile();
    }
    const compared = checks()
      .slice(from)
      .map(({ otherTenantIds }) => otherTenantIds);
    expect(compared.map((ids) => ids.length)).to.deep.equal([2, 2, 2]);
    expect(new Set(compared.flat())).to.deep.equal(new Set(names.map(idOf)));
  });

  it('reports why a check has no result, and checks again soon', async () => {
    world.services.isolationAnswer = () => ({
      unproven: 'The canary is being added',
      comparedTenantIds: [],
      leaks: [],
    });
    world.put({}, OTHER);
    await world.reconcile('memory/other');
    world.put();
    expect((await world.reconcile()).requeueAfterMs).to.be.within(5_000, 6_000);
    expect(world.condition('IsolationVerified')).to.include({
      status: 'Unknown',
      message: 'The canary is being added',
    });
    expect(world.conditions()).to.include({ Ready: 'True Available' });
    world.services.isolationAnswer = null;
    await pass(6_000);
    await world.reconcile();
    expect(world.conditions()).to.include({ IsolationVerified: 'True Verified' });
  });

  it('stays verified while services do not answer for a short time', async () => {
    await both();
    await pass(HALF_HOUR);
    world.services.fail('checkIsolation', unavailable(), 3);
    for (let times = 0; times < 2; times += 1) {
      await world.reconcile();
      expect(world.conditions()).to.include({ IsolationVerified: 'True Verified', Ready: 'True Available' });
      await pass(60_000);
    }
    await world.reconcile();
    expect(world.conditions()).to.include({ IsolationVerified: 'Unknown NotChecked', Ready: 'True Available' });
    await pass(60_000);
    await world.reconcile();
    expect(world.conditions()).to.include({ IsolationVerified: 'True Verified' });
  });

  it('is stalled by a leak, with the other tenant and the way', async () => {
    await both();
    leak();
    await pass(HALF_HOUR);
    await world.reconcile();
    expect(world.conditions()).to.include({
      IsolationVerified: 'False CanaryLeaked',
      Ready: 'False CanaryLeaked',
      Stalled: 'True CanaryLeaked',
    });
    expect(world.read()?.status?.leaks).to.deep.equal([
      { otherTenantId: idOf('other'), direction: 'Out', ways: 'dataset id, search' },
    ]);
    expect(world.condition('Ready')?.message).to.contain(idOf('other'));
    expect(world.notes.filter(({ reason }) => reason === 'CanaryLeaked')).to.have.length(1);
    // Reported, by default: it goes on serving.
    await world.reconcile();
    expect([...world.services.tenants.values()].map(({ state }) => state)).to.deep.equal(['Active', 'Active']);
  });

  it('keeps a leak between two checks and writes it once', async () => {
    await both();
    leak();
    await pass(HALF_HOUR);
    await world.reconcile();
    const written = world.statusWrites();
    await world.reconcile();
    await world.reconcile();
    expect(world.conditions()).to.include({ IsolationVerified: 'False CanaryLeaked', Ready: 'False CanaryLeaked' });
    expect(world.statusWrites()).to.equal(written);
  });

  it('checks the other tenant of a leak with its next reconcile', async () => {
    await both();
    await world.reconcile('memory/other');
    leak();
    await pass(HALF_HOUR);
    await world.reconcile();
    const asked = checks().length;
    await world.reconcile('memory/other');
    expect(checks().at(asked)).to.deep.include({ tenantId: idOf('other') });
    expect(world.kube.store.list('/apis/engram.dev/v1alpha1/tenants', undefined)).to.satisfy(
      (all: readonly { status?: { leaks?: readonly { direction: string }[] } }[]) =>
        all.flatMap(({ status }) => status?.leaks ?? []).some(({ direction }) => direction === 'In'),
    );
  });

  it('fences a leaking tenant if declared, and ends the fence with the leak', async () => {
    await both({ isolationCheck: { onLeak: 'Fence' } });
    const state = () => world.services.tenants.get(idOf('acme'))?.state;
    leak();
    await pass(HALF_HOUR);
    expect((await world.reconcile()).requeueAfterMs).to.be.lessThan(1_000);
    await world.reconcile();
    expect([state(), world.read()?.status?.state]).to.deep.equal(['Hibernated', 'Fenced']);
    expect(world.conditions()).to.include({ Ready: 'False CanaryLeaked' });
    world.services.isolationAnswer = null;
    await pass(HALF_HOUR);
    await world.reconcile();
    expect(world.conditions()).to.include({ IsolationVerified: 'True Verified' });
    expect(world.read()?.status).not.to.have.property('leaks');
    await world.reconcile();
    expect([state(), world.read()?.status?.state]).to.deep.equal(['Active', 'Active']);
    expect(world.conditions()).to.include({ Ready: 'True Available' });
    expect(world.notes.map(({ reason }) => reason)).not.to.include('DriftCorrected');
  });

  it('keeps a leak when the other tenant could not be compared', async () => {
    await both();
    leak();
    await pass(HALF_HOUR);
    await world.reconcile();
    world.services.isolationAnswer = () => ({ unproven: null, comparedTenantIds: [], leaks: [] });
    await pass(HALF_HOUR);
    await world.reconcile();
    expect(world.conditions()).to.include({ IsolationVerified: 'False CanaryLeaked', Ready: 'False CanaryLeaked' });
  });

  it('checks a hibernated tenant, but not a suspended one', async () => {
    await both({ state: 'Hibernated' });
    expect(world.conditions()).to.include({ IsolationVerified: 'True Verified', Ready: 'False Hibernated' });
    const asked = checks().length;
    world.change({ spec: { suspend: true } });
    await pass(HALF_HOUR);
    await world.reconcile();
    expect(checks()).to.have.length(asked);
  });

  it('removes the canary before the tenant is released', async () => {
    await both();
    world.kube.remove(TENANT_KIND, PLACE);
    await world.reconcile();
    const methods = world.services.calls.map(({ method }) => method);
    expect(methods.indexOf('removeCanary')).to.be.greaterThan(0).and.lessThan(methods.indexOf('releaseTenant'));
  });
});
