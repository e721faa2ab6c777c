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
  type Write,
} from '../../services/common/storage/ports/document-store.ts';
import { rejection } from '../support/refusal-of.ts';
import {
  datasetThings,
  newDataset,
  newTenant,
  numberedThings,
  systemThings,
  tenantThings,
} from './document-store-subject.ts';

export function documentCommitConformance(store: () => DocumentStore): void {
  describe('commits', () => {
    it('writes a state, its job and its event together', async () => {
      const scope = newDataset();
      const id = randomUUID();
      const results = await store().commit(scope, [
        insert(datasetThings, id, { name: 'state' }),
        insert(systemThings, id, { name: 'job' }),
        insert(numberedThings, id, { name: 'event' }),
      ]);
      expect(results.map(({ stored }) => stored?.value['name'])).to.deep.equal(['state', 'job', 'event']);
      expect((await store().get(scope, systemThings, id))?.value).to.deep.equal({ name: 'job' });
    });

    it('writes nothing when one of its writes fails, whatever the reason', async () => {
      const scope = newDataset();
      const system = randomUUID();
      await store().commit(scope, [insert(datasetThings, 'there', { name: 'old', key: 'taken', rank: 1 })]);
      const failing: readonly Write[] = [
        insert(datasetThings, 'there', {}),
        insert(datasetThings, 'other', { key: 'taken' }),
        replace(datasetThings, 'there', { name: 'x' }, 9),
        update(datasetThings, 'there', { where: { name: 'no' }, set: { rank: 0 }, required: true }),
        update(datasetThings, 'there', { increment: { name: 1 } }),
        remove(datasetThings, 'there', 9),
      ];
      for (const write of failing) {
        const commit = store().commit(scope, [
          insert(systemThings, system, {}),
          insert(datasetThings, 'new', { key: 'free' }),
          update(datasetThings, 'there', { set: { rank: 2 } }),
          removeWhere(datasetThings, { name: 'old' }),
          insert(datasetThings, 'there', { key: 'taken' }),
          ...(write.kind === 'insert' ? [] : [update(datasetThings, 'there', { set: { name: 'old' } })]),
          write,
        ]);
        await rejection(commit);
        const left = await store().find(scope, datasetThings, { limit: 10 });
        expect(left.items.map(({ id, version, value }) => ({ id, version, ...value }))).to.deep.equal([
          { id: 'there', version: 1, name: 'old', key: 'taken', rank: 1 },
        ]);
        expect(await store().get(scope, systemThings, system)).to.equal(null);
      }
      await store().commit(scope, [insert(datasetThings, 'later', { key: 'free' })]);
    });

    it('lets each write see those before it', async () => {
      const scope = newTenant();
      const results = await store().commit(scope, [
        insert(tenantThings, 'a', { key: 'k', count: 1 }),
        update(tenantThings, 'a', { where: { count: 1 }, increment: { count: 1 } }),
        remove(tenantThings, 'a'),
        insert(tenantThings, 'a', { key: 'k', count: 7 }),
        removeWhere(tenantThings, { key: 'k' }),
        insert(tenantThings, 'b', { key: 'k' }),
      ]);
      expect(results.map(({ changed }) => changed)).to.deep.equal([1, 1, 1, 1, 1, 1]);
      expect((await store().find(scope, tenantThings, { limit: 5 })).items.map(({ id }) => id)).to.deep.equal(['b']);
    });

    it('does nothing for an empty commit', async () => {
      expect(await store().commit(newTenant(), [])).to.deep.equal([]);
    });

    it('names the index that a duplicate breaks', async () => {
      const scope = newTenant();
      await store().commit(scope, [insert(tenantThings, 'a', { key: 'k' })]);
      expect(await rejection(store().commit(scope, [insert(tenantThings, 'b', { key: 'k' })]))).to.deep.include({
        name: 'DuplicateKeyError',
        collection: 'tenant_things',
        index: ['key'],
      });
      expect(await rejection(store().commit(scope, [insert(tenantThings, 'a', {})]))).to.deep.include({
        name: 'DuplicateKeyError',
        index: ['id'],
      });
      await store().commit(scope, [insert(tenantThings, 'b', {})]);
      const take = update(tenantThings, 'b', { set: { key: 'k' } });
      expect(await rejection(store().commit(scope, [take]))).to.include({ name: 'DuplicateKeyError' });
      await store().commit(scope, [update(tenantThings, 'a', { set: { key: null } })]);
      await store().commit(scope, [take]);
    });

    it('counts null as absent in unique keys, and keeps them apart by owner', async () => {
      const scope = newDataset();
      await store().commit(scope, [
        insert(datasetThings, 'a', { key: null }),
        insert(datasetThings, 'b', { key: null }),
        insert(datasetThings, 'c', {}),
        insert(datasetThings, 'd', { key: 'k' }),
      ]);
      await store().commit(newDataset(scope), [insert(datasetThings, 'd', { key: 'k' })]);
      await store().commit(newDataset(), [insert(datasetThings, 'd', { key: 'k' })]);
      const key = randomUUID();
      await store().commit(newTenant(), [insert(systemThings, randomUUID(), { key })]);
      const again = store().commit(newTenant(), [insert(systemThings, randomUUID(), { key })]);
      expect(await rejection(again)).to.include({ name: 'DuplicateKeyError' });
    });

    it('loses none of 32 increments made at the same time', async () => {
      const scope = newTenant();
      await store().commit(scope, [insert(tenantThings, 'counter', { count: 0 })]);
      await Promise.all(
        Array.from({ length: 32 }, async () => {
          for (let done = false; !done; ) {
            const read = await store().get(scope, tenantThings, 'counter');
            const count = read?.value.count ?? 0;
            const set = update(tenantThings, 'counter', { where: { count }, set: { count: count + 1 } });
            const [result] = await store().commit(scope, [set]);
            done = result?.changed === 1;
          }
        }),
      );
      const end = await store().get(scope, tenantThings, 'counter');
      expect(end).to.deep.include({ version: 33, value: { count: 32 } });
    });

    it('lets one of many concurrent takers of a unique key win, and fails no other commit with theirs', async () => {
      const scope = newTenant();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 40 }, (_, index) =>
          store().commit(scope, [
            insert(tenantThings, `t${index}`, index % 2 === 0 ? { key: 'one' } : { key: `own ${index}` }),
          ]),
        ),
      );
      const won = outcomes.map(({ status }) => status === 'fulfilled');
      expect(won.filter((_, index) => index % 2 === 1)).to.not.include(false);
      expect(won.filter((ok, index) => ok && index % 2 === 0)).to.have.length(1);
      expect(await store().count(scope, tenantThings, {})).to.equal(21);
    });

    it('lets one of many concurrent takers win also where documents are numbered', async () => {
      const scope = newDataset();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 40 }, (_, index) =>
          store().commit(scope, [
            insert(numberedThings, `t${index}`, index % 4 === 0 ? { key: 'one' } : { name: 'x' }),
            insert(datasetThings, `t${index}`, { rank: index }),
          ]),
        ),
      );
      const won = outcomes.flatMap(({ status }, index) => (status === 'fulfilled' ? [index] : []));
      expect(won.filter((index) => index % 4 === 0)).to.have.length(1);
      expect(won).to.have.length(31);
      const { items } = await store().find(scope, datasetThings, { sort: [{ field: 'rank' }], limit: 50 });
      expect(items.map(({ value }) => value.rank)).to.deep.equal(won);
      const numbers = outcomes.flatMap((each) =>
        each.status === 'fulfilled' ? [each.value[0]?.stored?.sequence] : [],
      );
      expect(new Set(numbers).size).to.equal(31);
    });

    it('commits thousands of writes at once, and none of them when the last fails', async () => {
      const scope = newTenant();
      const many = Array.from({ length: 3000 }, (_, index) => insert(tenantThings, `m${index}`, { rank: index }));
      await rejection(store().commit(scope, [...many, insert(tenantThings, 'm0', {})]));
      expect(await store().count(scope, tenantThings, {})).to.equal(0);
      const results = await store().commit(scope, many);
      expect(results).to.have.length(3000);
      expect(results[2999]?.stored).to.deep.include({ id: 'm2999', version: 1, value: { rank: 2999 } });
      const [removed] = await store().commit(scope, [removeWhere(tenantThings, { rank: { atLeast: 1000 } })]);
      expect(removed).to.deep.equal({ stored: null, changed: 2000 });
      expect(await store().count(scope, tenantThings, {})).to.equal(1000);
    });

    it('refuses more writes than it says it can commit', async () => {
      const { maxWritesPerCommit } = store().capabilities;
      const writes = Array.from({ length: maxWritesPerCommit + 1 }, () => remove(systemThings, 'x'));
      expect(await rejection(store().commit(SYSTEM_SCOPE, writes))).to.include({ wireName: 'InvalidRequestError' });
    });

    it('shows a commit to every read that begins after it resolved', async () => {
      const scope = newTenant();
      await Promise.all(
        Array.from({ length: 50 }, async (_, index) => {
          await store().commit(scope, [insert(tenantThings, `r${index}`, { name: `r${index}` })]);
          expect(await store().get(scope, tenantThings, `r${index}`)).to.not.equal(null);
          expect(await store().count(scope, tenantThings, { name: `r${index}` })).to.equal(1);
        }),
      );
    });
  });
}
