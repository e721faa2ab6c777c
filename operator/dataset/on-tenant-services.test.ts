import { expect } from 'chai';
import { createDatasetWorld, type DatasetWorld } from '../../test/support/kube/dataset-world.ts';

describe('a dataset of a Dedicated tenant', () => {
  let world: DatasetWorld;
  beforeEach(async () => {
    world = await createDatasetWorld();
  });
  afterEach(() => world.close());

  it('uses only the services of its Dedicated tenant', async () => {
    world.putTenant({ isolation: 'Dedicated' });
    world.put({ deletionPolicy: 'Delete' });
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available' });
    expect([...world.own.datasets.values()].map(({ name }) => name)).to.deep.equal(['tickets']);
    world.remove();
    await world.reconcile();
    expect(world.read()).to.equal(undefined);
    expect(world.own.datasets.size).to.equal(0);
    expect(world.configMaps()).to.have.length(1);
    expect(world.services.calls).to.deep.equal([]);
  });

  it('waits while its Dedicated tenant is hibernated, and tells how to wake it', async () => {
    world.putTenant({ isolation: 'Dedicated', state: 'Hibernated' });
    world.put();
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'False TenantHibernated', Reconciling: 'True TenantHibernated' });
    expect(world.condition('Ready')?.message).to.include('set its state to Active');
    expect([world.own.calls, world.services.calls]).to.deep.equal([[], []]);
    world.changeTenant({ spec: { state: 'Active' } });
    await world.reconcile();
    expect(world.conditions()).to.include({ Ready: 'True Available' });
  });
});
