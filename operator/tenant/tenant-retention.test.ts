import { expect } from 'chai';
import { createTenantWorld, PLACE, type TenantWorld } from '../../test/support/kube/tenant-world.ts';
import { TENANT_KIND } from '../api/tenant.ts';

const DAY = 86_400_000;

describe('retention of a tenant', () => {
  let world: TenantWorld;
  beforeEach(async () => {
    world = await createTenantWorld();
  });
  afterEach(() => world.close());

  const held = () => [...world.services.tenants.values()][0]?.retention;

  it('sets the retention of a tenant, and removes it when none is declared', async () => {
    world.put({ retention: { sessionsDays: 30, eventsDays: 365 } });
    await world.reconcile();
    expect(held()).to.deep.equal({ sessionsMs: 30 * DAY, eventsMs: 365 * DAY });
    world.change({ spec: { retention: { sessionsDays: 7, eventsDays: null } } });
    await world.reconcile();
    expect(held()).to.deep.equal({ sessionsMs: 7 * DAY, eventsMs: undefined });
    world.change({ spec: { retention: null } });
    await world.reconcile();
    expect(held()).to.deep.equal({ sessionsMs: undefined, eventsMs: undefined });
  });

  it('removes the retention when the tenant is released', async () => {
    world.put({ retention: { sessionsDays: 30 } });
    await world.reconcile();
    world.kube.remove(TENANT_KIND, PLACE);
    await world.reconcile();
    expect(held()).to.deep.equal({ sessionsMs: undefined, eventsMs: undefined });
  });
});
