import { expect } from 'chai';
import { createFakeAdministrators } from '../../test/support/kube/fake-administrators.ts';
import { runEverything } from '../../test/support/kube/fake-workloads.ts';
import { createTenantWorld, dedicatedTo, PLACE, type TenantWorld } from '../../test/support/kube/tenant-world.ts';
import { TENANT_KIND, type Tenant } from '../api/tenant.ts';
import { findCondition } from '../kube-runtime/conditions.ts';

const MALLORY = { name: 'mallory', namespace: 'elsewhere' };
const routing = { type: 'Ingress', hostname: 'acme.example.com' } as const;

describe('host name of a Dedicated tenant', () => {
  let world: TenantWorld;
  beforeEach(async () => {
    world = await createTenantWorld({
      dedicated: dedicatedTo(createFakeAdministrators()),
    });
  });
  afterEach(() => world.close());

  const settle = async () => {
    for (const key of ['memory/acme', 'elsewhere/mallory', 'memory/acme', 'elsewhere/mallory']) {
      await world.reconcile(key);
      runEverything(world.kube);
    }
  };
  const routedOf = () =>
    findCondition(world.kube.read<Tenant>(TENANT_KIND, MALLORY)?.status?.conditions, 'Routed')?.reason;
  const namespaces = () => world.objects('ingresses').map(({ metadata }) => metadata.namespace);

  for (const isolation of ['Shared', 'Dedicated'] as const) {
    it(`refuses a host name under which a ${isolation} tenant is routed`, async () => {
      world.put({ isolation: 'Dedicated' }, MALLORY);
      await settle();
      await world.clock.advance(60_000);
      world.put({ isolation, routing });
      await settle();
      world.kube.change(TENANT_KIND, MALLORY, { spec: { routing } });
      await settle();
      expect(routedOf()).to.equal('HostnameConflict');
      expect(namespaces()).to.deep.equal([isolation === 'Shared' ? 'engram' : 'memory']);
      expect(world.conditions()).to.include({ Routed: 'True Accepted' });
      // The other one gives it up.
      world.change({ spec: { routing: null } });
      await settle();
      await world.reconcile('elsewhere/mallory');
      expect([routedOf(), namespaces()]).to.deep.equal(['Accepted', ['elsewhere']]);
      expect(world.kube.read(TENANT_KIND, PLACE)).not.to.equal(undefined);
    });
  }
});
