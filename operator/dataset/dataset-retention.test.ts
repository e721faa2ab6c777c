import { expect } from 'chai';
import { createDatasetWorld, type DatasetWorld } from '../../test/support/kube/dataset-world.ts';

describe('retention of a dataset', () => {
  let world: DatasetWorld;
  beforeEach(async () => {
    world = await createDatasetWorld();
    world.putTenant();
  });
  afterEach(() => world.close());

  const itemsMs = () => [...world.services.datasets.values()][0]?.itemsMs;

  it('sets the retention of a dataset once, and removes it when none is declared', async () => {
    world.put({ retention: { itemTTL: '720h' } });
    await world.reconcile();
    await world.reconcile();
    expect(itemsMs()).to.equal(720 * 3_600_000);
    expect(world.services.countOf('setRetention')).to.equal(1);
    world.change({ spec: { retention: null } });
    await world.reconcile();
    expect(itemsMs()).to.equal(undefined);
  });

  it('removes the retention when the dataset is released', async () => {
    world.put({ retention: { itemTTL: '1m' } });
    await world.reconcile();
    world.remove();
    await world.reconcile();
    expect(itemsMs()).to.equal(undefined);
  });
});
