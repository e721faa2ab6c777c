import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { SYSTEM_SCOPE } from '../../../services/common/kernel/scope.ts';
import { createGridfsBlobStore } from '../../../services/common/storage/blobs/gridfs/blob-store.ts';
import { createMongodbDocumentStore } from '../../../services/common/storage/documents/mongodb/document-store.ts';
import {
  type DocumentStore,
  insert,
  remove,
  removeWhere,
  update,
} from '../../../services/common/storage/ports/document-store.ts';
import {
  allThings,
  newDataset,
  newTenant,
  numberedThings,
  rejection,
  systemThings,
  tenantThings,
} from '../../conformance/document-store-subject.ts';
import { withBackend } from '../backend.ts';
import { type MongodbSubject, openDatabase } from './mongodb-subject.ts';

withBackend('mongodb', ({ ENGRAM_TEST_MONGODB_URL: url }) => {
  describe('a Dedicated tenant in MongoDB', () => {
    const own = `engram_test_${randomUUID().slice(0, 8)}`;
    const dedicated = newTenant();
    const shared = newTenant();
    let subject: MongodbSubject;
    let store: DocumentStore;
    const ids = async (database: string, collection: string) =>
      (await subject.connection.client.db(database).collection(collection).find().sort({ id: 1 }).toArray()).map(
        (row) => row['id'],
      );
    before(async () => {
      subject = await openDatabase(url, { databaseOf: (tenant) => (tenant === dedicated.tenant ? own : null) });
      store = createMongodbDocumentStore(subject.connection);
      await store.prepare(allThings);
      for (const scope of [dedicated, shared]) {
        await store.commit(scope, [
          insert(tenantThings, 'same', { name: scope.tenant, rank: 1 }),
          insert(tenantThings, `of ${scope.tenant}`, { key: 'k', rank: scope === shared ? 0 : 2 }),
          insert(numberedThings, 'n', { name: 'n' }),
          insert(systemThings, `of ${scope.tenant}`, {}),
        ]);
      }
    });
    after(async () => {
      await subject.connection.client.db(own).dropDatabase();
      await subject.dispose();
    });

    it('has its documents in a database of its own, and what belongs to no tenant in the shared one', async () => {
      expect(await ids(own, 'tenant_things')).to.have.members(['same', `of ${dedicated.tenant}`]);
      expect(await ids(subject.database, 'tenant_things')).to.have.members(['same', `of ${shared.tenant}`]);
      expect(await ids(own, 'system_things')).to.deep.equal([]);
      expect(await ids(subject.database, 'system_things')).to.have.length(2);
      expect((await store.get(dedicated, tenantThings, 'same'))?.value.name).to.equal(dedicated.tenant);
      expect(await store.count(dedicated, tenantThings, {})).to.equal(2);
    });

    it('has its unique keys there too', async () => {
      expect(await rejection(store.commit(dedicated, [insert(tenantThings, 'x', { key: 'k' })]))).to.deep.include({
        name: 'DuplicateKeyError',
        index: ['key'],
      });
    });

    it('is seen by a scope over all tenants, page by page, whichever process prepared its database', async () => {
      const other = createMongodbDocumentStore(subject.connection);
      await other.prepare(allThings);
      const seen: (number | null | undefined)[] = [];
      for (let after: string | null = null; ; ) {
        const page: Awaited<ReturnType<typeof next>> = await next(after);
        seen.push(...page.items.map(({ value }) => value.rank));
        after = page.next;
        if (after === null) break;
      }
      expect(seen).to.deep.equal([2, 1, 1, 0]);
      expect(await other.count(SYSTEM_SCOPE, tenantThings, {})).to.equal(4);
      expect((await other.find(SYSTEM_SCOPE, tenantThings, { limit: 2, offset: 3 })).items).to.have.length(1);
      expect(await rejection(other.get(SYSTEM_SCOPE, tenantThings, 'same'))).to.include({ wireName: 'ConflictError' });
      const numbers = await other.find(SYSTEM_SCOPE, numberedThings, { sort: [{ field: 'sequence' }], limit: 9 });
      expect(numbers.items.map(({ tenant }) => tenant)).to.deep.equal([dedicated.tenant, shared.tenant]);
      expect(new Set(numbers.items.map(({ sequence }) => sequence)).size).to.equal(2);

      function next(after: string | null) {
        return other.find(SYSTEM_SCOPE, tenantThings, { sort: [{ field: 'rank', descending: true }], limit: 1, after });
      }
    });

    it('is changed by a scope over all tenants where its document is', async () => {
      const id = `of ${dedicated.tenant}`;
      const writes = [update(tenantThings, id, { set: { rank: 7 } }), update(systemThings, id, { set: { rank: 7 } })];
      await store.commit(SYSTEM_SCOPE, writes);
      expect((await store.get(dedicated, tenantThings, id))?.value.rank).to.equal(7);
      const [removed] = await store.commit(SYSTEM_SCOPE, [remove(tenantThings, id)]);
      expect(removed?.changed).to.equal(1);
      const [wiped] = await store.commit(SYSTEM_SCOPE, [removeWhere(tenantThings, { name: dedicated.tenant })]);
      expect(wiped?.changed).to.equal(1);
      expect(await ids(own, 'tenant_things')).to.deep.equal([]);
    });

    it('has its blobs there', async () => {
      const blobs = createGridfsBlobStore(subject.connection);
      await blobs.put(newDataset(dedicated), 'a', Buffer.from('x'));
      await blobs.put(newDataset(shared), 'a', Buffer.from('x'));
      for (const database of [own, subject.database]) {
        expect(await subject.connection.client.db(database).collection('blobs.files').countDocuments()).to.equal(1);
      }
    });
  });
});
