import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import {
  type DocumentStore,
  insert,
  remove,
  removeWhere,
  replace,
  update,
} from '../../services/common/storage/ports/document-store.ts';
import { rejection } from '../support/refusal-of.ts';
import { datasetThings, newDataset, newTenant, systemThings, tenantThings } from './document-store-subject.ts';

export function documentScopeConformance(store: () => DocumentStore): void {
  describe('scopes', () => {
    it('show nothing of another tenant, by any method', async () => {
      const mine = newTenant();
      await store().commit(mine, [insert(tenantThings, 'a', { name: 'mine', key: 'k', rank: 1 })]);
      const other = newTenant();
      await expectNothing(other, mine);
    });

    it('show nothing of another dataset, by any method', async () => {
      const mine = newDataset();
      await store().commit(mine, [insert(datasetThings, 'a', { name: 'mine', key: 'k', rank: 1 })]);
      for (const other of [newDataset(mine), { ...newTenant(), dataset: mine.dataset }]) {
        expect(await store().get(other, datasetThings, 'a')).to.equal(null);
        expect(await store().getMany(other, datasetThings, ['a'])).to.deep.equal([]);
        expect((await store().find(other, datasetThings, { limit: 5 })).items).to.deep.equal([]);
        expect(await store().count(other, datasetThings, {})).to.equal(0);
        const [changed, removed, wiped] = await store().commit(other, [
          update(datasetThings, 'a', { set: { name: 'stolen' } }),
          remove(datasetThings, 'a'),
          removeWhere(datasetThings, {}),
        ]);
        expect([changed?.changed, removed?.changed, wiped?.changed]).to.deep.equal([0, 0, 0]);
        await rejection(store().commit(other, [replace(datasetThings, 'a', {}, 1)]));
      }
      expect((await store().get(mine, datasetThings, 'a'))?.value.name).to.equal('mine');
    });

    it('without a dataset read, count and remove all datasets of their tenant, and insert into none', async () => {
      const tenant = newTenant();
      const [first, second, foreign] = [newDataset(tenant), newDataset(tenant), newDataset()];
      for (const scope of [first, second, foreign]) {
        await store().commit(scope, [
          insert(datasetThings, `a of ${scope.dataset}`, { rank: 1 }),
          insert(datasetThings, 'same id', { rank: 2 }),
        ]);
      }
      expect(await store().count(tenant, datasetThings, {})).to.equal(4);
      expect((await store().get(tenant, datasetThings, `a of ${first.dataset}`))?.dataset).to.equal(first.dataset);
      const both = await store().getMany(tenant, datasetThings, ['same id']);
      expect(both.map(({ dataset }) => dataset)).to.have.members([first.dataset, second.dataset]);
      const page = await store().find(tenant, datasetThings, { sort: [{ field: 'rank' }], limit: 3 });
      const rest = await store().find(tenant, datasetThings, { sort: [{ field: 'rank' }], limit: 3, after: page.next });
      expect([...page.items, ...rest.items].map(({ value }) => value.rank)).to.deep.equal([1, 1, 2, 2]);
      await rejection(store().commit(tenant, [insert(datasetThings, 'x', {})]));
      const [removed] = await store().commit(tenant, [removeWhere(datasetThings, {})]);
      expect(removed?.changed).to.equal(4);
      expect(await store().count(foreign, datasetThings, {})).to.equal(2);
    });

    it('count several collections in one read, each for itself', async () => {
      const tenant = newTenant();
      const [mine, other] = [newDataset(tenant), newDataset(tenant)];
      for (const scope of [mine, other, newDataset()]) {
        await store().commit(scope, [insert(datasetThings, 'a', { rank: 1 }), insert(datasetThings, 'b', { rank: 2 })]);
      }
      await store().commit(other, [removeWhere(datasetThings, { rank: 2 })]);
      await store().commit(tenant, [insert(tenantThings, 'a', { name: 'one' })]);
      expect(await store().countEach(mine, [datasetThings, datasetThings])).to.deep.equal([2, 2]);
      expect(await store().countEach(tenant, [tenantThings, datasetThings])).to.deep.equal([1, 3]);
      expect(await store().countEach(newDataset(tenant), [datasetThings])).to.deep.equal([0]);
      expect(await store().countEach(mine, [])).to.deep.equal([]);
    });

    it('count the changes of their documents, whatever is changed', async () => {
      const [mine, other] = [newDataset(), newDataset()];
      const changes = async () => (await store().countChanges(mine, [datasetThings]))[0];
      expect(await changes()).to.equal(0);
      await store().commit(mine, [insert(datasetThings, 'a', { rank: 1 }), insert(datasetThings, 'b', { rank: 2 })]);
      await store().commit(other, [insert(datasetThings, 'a', { rank: 1 })]);
      expect(await changes()).to.equal(2);
      await store().commit(mine, [update(datasetThings, 'a', { set: { rank: 5 } })]);
      await store().commit(mine, [update(datasetThings, 'a', { where: { rank: 7 }, set: { rank: 6 } })]);
      expect(await changes()).to.equal(3);
      await store().commit(mine, [replace(datasetThings, 'b', { rank: 2 }, 1)]);
      expect(await changes()).to.equal(4);
      expect(await store().countChanges(other, [datasetThings])).to.deep.equal([1]);
      await store().commit(mine, [insert(tenantThings, 'a', {}), insert(tenantThings, 'b', {})]);
      expect(await store().countChanges(mine, [tenantThings, datasetThings])).to.deep.equal([2, 4]);
      expect(await store().countChanges(newDataset(), [datasetThings, tenantThings])).to.deep.equal([0, 0]);
      expect(await store().countChanges(mine, [])).to.deep.equal([]);
    });

    it('refuse to guess which document an ambiguous id means', async () => {
      const tenant = newTenant();
      for (const scope of [newDataset(tenant), newDataset(tenant)]) {
        await store().commit(scope, [insert(datasetThings, 'twice', {})]);
      }
      expect(await rejection(store().get(tenant, datasetThings, 'twice'))).to.include({ wireName: 'ConflictError' });
      for (const write of [
        update(datasetThings, 'twice', { set: { name: 'x' } }),
        replace(datasetThings, 'twice', {}, 1),
        remove(datasetThings, 'twice'),
      ]) {
        expect(await rejection(store().commit(tenant, [write]))).to.include({ wireName: 'ConflictError' });
      }
    });

    it('of the system reach every tenant, and insert only what belongs to none', async () => {
      const scope = newDataset();
      const id = randomUUID();
      await store().commit(scope, [insert(datasetThings, id, { name: id }), insert(tenantThings, id, { name: id })]);
      expect(await store().get(SYSTEM_SCOPE, datasetThings, id)).to.include({
        tenant: scope.tenant,
        dataset: scope.dataset,
      });
      expect(await store().get(SYSTEM_SCOPE, tenantThings, id)).to.include({ tenant: scope.tenant, dataset: null });
      const found = await store().find(SYSTEM_SCOPE, tenantThings, { where: { name: id }, limit: 5 });
      expect(found.items.map((item) => item.id)).to.deep.equal([id]);
      await store().commit(SYSTEM_SCOPE, [update(tenantThings, id, { set: { rank: 3 } })]);
      expect((await store().get(scope, tenantThings, id))?.value.rank).to.equal(3);
      await rejection(store().commit(SYSTEM_SCOPE, [insert(tenantThings, randomUUID(), {})]));
      await rejection(store().commit(SYSTEM_SCOPE, [insert(datasetThings, randomUUID(), {})]));
      const [result] = await store().commit(SYSTEM_SCOPE, [insert(systemThings, id, { name: 'everybody' })]);
      expect(result?.stored).to.include({ tenant: null, dataset: null });
    });

    it('all reach documents without a tenant, so that a job is written with the state that asks for it', async () => {
      const id = randomUUID();
      const [result] = await store().commit(newDataset(), [insert(systemThings, id, { name: 'job' })]);
      expect(result?.stored).to.include({ tenant: null, dataset: null });
      await store().commit(newTenant(), [update(systemThings, id, { where: { name: 'job' }, set: { name: 'done' } })]);
      expect((await store().get(SYSTEM_SCOPE, systemThings, id))?.value.name).to.equal('done');
    });

    it('with a dataset see the documents of their tenant in collections of that level', async () => {
      const scope = newDataset();
      await store().commit(scope, [insert(tenantThings, 'a', {})]);
      const stored = await store().get({ tenant: scope.tenant }, tenantThings, 'a');
      expect(stored).to.include({ tenant: scope.tenant, dataset: null });
    });

    async function expectNothing(other: ReturnType<typeof newTenant>, mine: ReturnType<typeof newTenant>) {
      expect(await store().get(other, tenantThings, 'a')).to.equal(null);
      expect(await store().getMany(other, tenantThings, ['a'])).to.deep.equal([]);
      const filters = [{}, { name: 'mine' }, { id: 'a' }, { rank: { atLeast: 0 } }, { key: { in: ['k'] } }];
      for (const where of filters) {
        expect((await store().find(other, tenantThings, { where, limit: 5 })).items).to.deep.equal([]);
        expect(await store().count(other, tenantThings, where)).to.equal(0);
        expect((await store().commit(other, [removeWhere(tenantThings, where)]))[0]?.changed).to.equal(0);
      }
      const results = await store().commit(other, [
        update(tenantThings, 'a', { set: { name: 'stolen' } }),
        remove(tenantThings, 'a'),
      ]);
      expect(results.map(({ changed }) => changed)).to.deep.equal([0, 0]);
      await rejection(store().commit(other, [replace(tenantThings, 'a', {}, 1)]));
      await store().commit(other, [insert(tenantThings, 'a', { name: 'theirs', key: 'k' })]);
      expect((await store().get(mine, tenantThings, 'a'))?.value.name).to.equal('mine');
    }
  });
}
