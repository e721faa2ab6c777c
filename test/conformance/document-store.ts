import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { insert, remove, replace, update } from '../../services/common/storage/ports/document-store.ts';
import type { DocumentStoreSubject } from '../support/document-stores.ts';
import { rejection } from '../support/refusal-of.ts';
import { documentCommitConformance } from './document-store-commits.ts';
import { documentQueryConformance } from './document-store-queries.ts';
import { documentScopeConformance } from './document-store-scopes.ts';
import { allThings, newTenant, numberedThings, tenantThings } from './document-store-subject.ts';
import { documentTextConformance } from './document-store-text.ts';
import { documentViewConformance } from './document-store-views.ts';

/** Every document store passes this; `open` gives an empty one. */
export function documentStoreConformance(name: string, open: () => Promise<DocumentStoreSubject>): void {
  describe(`document store: ${name}`, () => {
    let subject: DocumentStoreSubject;
    before(async () => {
      subject = await open();
      await subject.store.prepare(allThings);
    });
    after(() => subject.dispose());

    documentBasics(() => subject.store);
    documentQueryConformance(() => subject.store);
    documentCommitConformance(() => subject.store);
    documentScopeConformance(() => subject.store);
    documentTextConformance(() => subject.store);
    documentViewConformance(() => subject.store);
  });
}

function documentBasics(store: () => DocumentStoreSubject['store']): void {
  describe('single documents', () => {
    it('gives back what was inserted, with version 1', async () => {
      const scope = newTenant();
      const value = { name: 'Ada', rank: 1.5, flag: true, nested: { deep: 'x' }, list: ['a', 'b'] };
      const [result] = await store().commit(scope, [insert(tenantThings, 'a', value)]);
      const expected = { id: 'a', version: 1, value, tenant: scope.tenant, dataset: null };
      expect(result).to.deep.equal({ stored: expected, changed: 1 });
      expect(await store().get(scope, tenantThings, 'a')).to.deep.equal(expected);
    });

    it('answers null for an unknown id', async () => {
      expect(await store().get(newTenant(), tenantThings, 'nobody')).to.equal(null);
    });

    it('keeps its documents apart from the objects it was given and gives out', async () => {
      const scope = newTenant();
      const value = { name: 'before', list: ['a'] };
      const [result] = await store().commit(scope, [insert(tenantThings, 'a', value)]);
      value.name = 'changed outside';
      value.list.push('b');
      (result?.stored?.value as { name: string }).name = 'changed outside';
      const first = await store().get(scope, tenantThings, 'a');
      (first?.value as { name: string }).name = 'changed outside';
      expect((await store().get(scope, tenantThings, 'a'))?.value).to.deep.equal({ name: 'before', list: ['a'] });
    });

    it('replaces only the version that was read', async () => {
      const scope = newTenant();
      await store().commit(scope, [insert(tenantThings, 'a', { name: 'one' })]);
      const [result] = await store().commit(scope, [replace(tenantThings, 'a', { rank: 2 }, 1)]);
      expect(result?.stored).to.include({ version: 2 });
      expect(result?.stored?.value).to.deep.equal({ rank: 2 });
      const error = await rejection(store().commit(scope, [replace(tenantThings, 'a', { rank: 3 }, 1)]));
      expect(error).to.include({ name: 'VersionConflictError', collection: 'tenant_things', id: 'a' });
      expect(await rejection(store().commit(scope, [replace(tenantThings, 'b', {}, 1)]))).to.include({
        name: 'VersionConflictError',
      });
      expect((await store().get(scope, tenantThings, 'a'))?.value).to.deep.equal({ rank: 2 });
    });

    it('updates fields and counters of a document whose condition holds', async () => {
      const scope = newTenant();
      await store().commit(scope, [insert(tenantThings, 'a', { name: 'one', rank: 1, text: 'stays' })]);
      const [hit, miss] = await store().commit(scope, [
        update(tenantThings, 'a', { where: { name: 'one' }, set: { name: 'two' }, increment: { rank: 4, count: -1 } }),
        update(tenantThings, 'a', { where: { name: 'one' }, set: { name: 'three' } }),
      ]);
      expect(hit?.stored?.value).to.deep.equal({ name: 'two', rank: 5, text: 'stays', count: -1 });
      expect(hit?.stored?.version).to.equal(2);
      expect(miss).to.deep.equal({ stored: null, changed: 0 });
      expect((await store().find(scope, tenantThings, { where: { name: 'two' }, limit: 5 })).items).to.have.length(1);
      expect(await store().count(scope, tenantThings, { name: 'one' })).to.equal(0);
    });

    it('updates on conditions over fields without an index', async () => {
      const scope = newTenant();
      await store().commit(scope, [insert(tenantThings, 'a', { count: 3, text: 'abc' })]);
      const where = { count: { atLeast: 3, lessThan: 4 }, text: { prefix: 'ab' } };
      const [result] = await store().commit(scope, [update(tenantThings, 'a', { where, set: { flag: true } })]);
      expect(result?.changed).to.equal(1);
    });

    it('fails a required update that does not match', async () => {
      const scope = newTenant();
      await store().commit(scope, [insert(tenantThings, 'a', { name: 'one' })]);
      const change = { where: { name: 'other' }, set: { name: 'two' }, required: true };
      expect(await rejection(store().commit(scope, [update(tenantThings, 'a', change)]))).to.include({
        name: 'VersionConflictError',
        id: 'a',
      });
      const missing = update(tenantThings, 'missing', { set: { name: 'two' }, required: true });
      expect(await rejection(store().commit(scope, [missing]))).to.include({ name: 'VersionConflictError' });
    });

    it('removes by id, with the expected version when one is named', async () => {
      const scope = newTenant();
      await store().commit(scope, [insert(tenantThings, 'a', {}), insert(tenantThings, 'b', {})]);
      expect(await rejection(store().commit(scope, [remove(tenantThings, 'a', 7)]))).to.include({
        name: 'VersionConflictError',
      });
      const results = await store().commit(scope, [remove(tenantThings, 'a', 1), remove(tenantThings, 'missing')]);
      expect(results.map(({ changed }) => changed)).to.deep.equal([1, 0]);
      expect(await store().get(scope, tenantThings, 'a')).to.equal(null);
      expect(await store().count(scope, tenantThings, {})).to.equal(1);
    });

    it('reads many ids at once in the order asked for', async () => {
      const scope = newTenant();
      const ids = Array.from({ length: 1500 }, (_, index) => `id-${index}`);
      await store().commit(
        scope,
        ids.map((id) => insert(tenantThings, id, { text: id })),
      );
      const asked = ['missing', ...ids.toReversed(), 'id-3'];
      const found = await store().getMany(scope, tenantThings, asked);
      expect(found.map(({ id }) => id)).to.deep.equal(ids.toReversed());
      expect(await store().getMany(scope, tenantThings, [])).to.deep.equal([]);
    });
  });

  describe('sequences', () => {
    it('numbers documents in commit order and never uses a number twice', async () => {
      const scope = newTenant();
      const add = async (id: string) => {
        const [result] = await store().commit(scope, [insert(numberedThings, id, { name: 'n' })]);
        return result?.stored?.sequence ?? 0;
      };
      const first = await add('a');
      const second = await add('b');
      expect(second).to.be.greaterThan(first);
      await store().commit(scope, [remove(numberedThings, 'b')]);
      expect(await add('c')).to.be.greaterThan(second);
      const changed = await store().commit(scope, [replace(numberedThings, 'a', { name: 'm' }, 1)]);
      expect(changed[0]?.stored?.sequence).to.equal(first);
    });

    it('gives numbers that agree with the order in which concurrent commits are seen', async () => {
      const scope = newTenant();
      let writing = 100;
      const add = async () => {
        await store().commit(scope, [insert(numberedThings, randomUUID(), { name: 'n' })]);
        writing -= 1;
      };
      const seen: number[] = [];
      const follow = async () => {
        while (seen.length < 100) {
          const isLast = writing === 0;
          const { items } = await store().find(scope, numberedThings, {
            where: { sequence: { greaterThan: seen.at(-1) ?? 0 } },
            sort: [{ field: 'sequence' }],
            limit: 1000,
          });
          seen.push(...items.map(({ sequence }) => sequence ?? 0));
          if (isLast) return;
          await setImmediate();
        }
      };
      await Promise.all([follow(), ...Array.from({ length: 100 }, add)]);
      expect(seen).to.have.length(100);
      expect(seen).to.deep.equal([...new Set(seen)].sort((left, right) => left - right));
    });

    it('refuses a query over a field that no index names', async () => {
      const query = store().find(newTenant(), tenantThings, { where: { text: 'x' }, limit: 1 });
      expect((await rejection(query)).message).to.contain('no index on text');
    });
  });
}
