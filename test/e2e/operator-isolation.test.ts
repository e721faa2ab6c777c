import { expect } from 'chai';
import { createServices } from '../../operator/installation/services.ts';
import { createSystemClock } from '../../services/common/platform/system/clock.ts';
import { createTenantWorld, type TenantWorld } from '../support/kube/tenant-world.ts';
import { createLeakingStores } from '../support/leaking-stores.ts';
import { type ManagedApp, startManagedApp } from '../support/managed-app.ts';
import { until } from '../support/until.ts';

const OTHER = { name: 'other', namespace: 'memory' };
const HALF_HOUR = 1_800_000;

describe('the operator, and stores that begin to leak', () => {
  const stores = createLeakingStores();
  let app: ManagedApp;
  let world: TenantWorld;

  before(async () => {
    app = await startManagedApp({}, stores.wrap);
    const bus = createServices(app.messenger, createSystemClock());
    // All services are this process, which does not answer for itself over its own bus.
    world = await createTenantWorld({ services: { ...bus, unhealthy: async () => [] } });
  });
  after(async () => {
    await world?.close();
    await app?.stop();
  });

  const key = () => world.secretValue('key', 'apiKey') ?? '';
  const ask = async () => (await fetch(`${app.baseUrl}/api/v1/datasets`, { headers: { 'x-api-key': key() } })).status;
  const look = async () => {
    await world.clock.advance(HALF_HOUR);
    await world.reconcile();
    return world.conditions()['IsolationVerified'];
  };

  it('say that tenants are apart once each finds its canary', async () => {
    const apiKeys = [{ name: 'default', secretName: 'key' }];
    world.put({ owner: { email: 'owner@other.example.com' } }, OTHER);
    world.put({ apiKeys, isolationCheck: { onLeak: 'Fence' } });
    await world.reconcile('memory/other');
    await world.reconcile();
    expect(world.conditions()).to.include({ IsolationVerified: 'Unknown NotChecked', Ready: 'True Available' });
    const isVerified = async () => {
      await world.reconcile('memory/other');
      return (await look()) === 'True Verified';
    };
    await until('the canaries are found', isVerified, { everyMs: 100 });
    expect(world.read()?.status?.usage).to.include({ datasets: 0, items: 0 });
    expect(await ask()).to.equal(200);
  });

  for (const leak of ['rights', 'words'] as const) {
    it(`fence a tenant when ${leak} leak, and open it when they do not any more`, async () => {
      stores.leak = leak;
      expect(await look()).to.equal('False CanaryLeaked');
      expect(world.conditions()).to.include({ Ready: 'False CanaryLeaked' });
      expect(world.read()?.status?.leaks?.map(({ direction }) => direction)).to.include('Out');
      await world.reconcile();
      stores.leak = null;
      expect([await ask(), world.read()?.status?.state]).to.deep.equal([503, 'Fenced']);
      expect(await look()).to.equal('True Verified');
      await world.reconcile();
      expect(world.conditions()).to.include({ Ready: 'True Available' });
      expect([await ask(), world.read()?.status?.state]).to.deep.equal([200, 'Active']);
    });
  }
});
