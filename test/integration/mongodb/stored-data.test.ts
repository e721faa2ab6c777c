import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'chai';
import { GridFSBucket } from 'mongodb';
import { createGridfsBlobStore } from '../../../services/common/storage/blobs/gridfs/blob-store.ts';
import { createMongodbDocumentStore } from '../../../services/common/storage/documents/mongodb/document-store.ts';
import { type Collection, insert, removeWhere } from '../../../services/common/storage/ports/document-store.ts';
import { newDataset, newTenant, type Thing, tenantThings } from '../../conformance/document-store-subject.ts';
import { rejection } from '../../support/refusal-of.ts';
import { withBackend } from '../backend.ts';
import { type MongodbSubject, openDatabase } from './mongodb-subject.ts';

withBackend('mongodb', ({ ENGRAM_TEST_MONGODB_URL: url }) => {
  let subject: MongodbSubject;
  before(async () => {
    subject = await openDatabase(url);
  });
  after(() => subject.dispose());
  const store = () => createMongodbDocumentStore(subject.connection);

  describe('collections of an earlier release in MongoDB', () => {
    const earlier: Collection<Thing> = { name: 'growing_things', level: 'tenant', indexes: [{ fields: ['name'] }] };
    const later: Collection<Thing> = {
      ...earlier,
      indexes: [{ fields: ['rank', 'name'] }, { fields: ['key'], unique: true }],
    };

    it('get the indexes of the next, which hold the documents that are there', async () => {
      const scope = newTenant();
      const [old, next] = [store(), store()];
      await old.prepare([earlier]);
      const things = [{ rank: 3, key: 'k' }, { rank: 1 }, {}];
      await old.commit(
        scope,
        things.map((thing, index) => insert(earlier, `t${index}`, thing)),
      );
      await Promise.all([next.prepare([later]), store().prepare([later])]);
      const { items } = await next.find(scope, later, { sort: [{ field: 'rank', descending: true }], limit: 5 });
      expect(items.map(({ id }) => id)).to.deep.equal(['t0', 't1', 't2']);
      const again = next.commit(scope, [insert(later, 'new', { key: 'k' })]);
      expect(await rejection(again)).to.deep.include({ name: 'DuplicateKeyError', index: ['key'] });
      await next.commit(scope, [insert(later, 'x', {}), insert(later, 'y', {})]);
      // The earlier release still runs beside it.
      expect((await old.find(scope, earlier, { sort: [{ field: 'name' }], limit: 9 })).items).to.have.length(5);
    });

    it('cannot become collections of another level', async () => {
      const error = await rejection(store().prepare([{ ...earlier, level: 'dataset' }]));
      expect(error.message).to.contain('growing_things').and.to.contain('migration');
    });
  });

  describe('documents in MongoDB', () => {
    it('of more than 15 MB are refused', async () => {
      const documents = store();
      await documents.prepare([tenantThings]);
      const refused = documents.commit(newTenant(), [insert(tenantThings, 'a', { text: 'x'.repeat(16_000_000) })]);
      expect(await rejection(refused)).to.include({ wireName: 'PayloadTooLargeError', status: 413 });
    });

    it('are removed also when there are more of them than fit a transaction', async () => {
      const documents = store();
      await documents.prepare([tenantThings]);
      const [scope, other] = [newTenant(), newTenant()];
      await documents.commit(other, [insert(tenantThings, 'a', {})]);
      for (let part = 0; part < 3; part += 1) {
        const writes = Array.from({ length: 4000 }, (_, index) => insert(tenantThings, `${part}-${index}`, {}));
        await documents.commit(scope, writes);
      }
      const [removed] = await documents.commit(scope, [removeWhere(tenantThings, {})]);
      expect(removed).to.deep.equal({ stored: null, changed: 12_000 });
      expect(await documents.count(scope, tenantThings, {})).to.equal(0);
      expect(await documents.count(other, tenantThings, {})).to.equal(1);
    });
  });

  describe('blobs in MongoDB', () => {
    const chunkCount = () => subject.connection.client.db(subject.database).collection('blobs.chunks').countDocuments();
    const content = Buffer.alloc(5_000_000, 'engram ');

    it('are read to their end by who opened them, also when they are removed meanwhile', async () => {
      const blobs = createGridfsBlobStore(subject.connection);
      const scope = newDataset();
      await blobs.put(scope, 'a', content);
      const reading = (await blobs.get(scope, 'a')) ?? [];
      const pieces: Uint8Array[] = [];
      for await (const piece of reading) {
        if (pieces.length === 0) await blobs.remove(scope, ['a']);
        pieces.push(piece as Uint8Array);
      }
      expect(Buffer.concat(pieces).equals(content)).to.equal(true);
      expect(await blobs.get(scope, 'a')).to.equal(null);
      expect(await chunkCount()).to.equal(0);
    });

    it('leave no content behind that nobody can reach', async () => {
      const blobs = createGridfsBlobStore(subject.connection);
      const scope = newDataset();
      const broken = async function* () {
        yield content;
        throw new Error('the client went away');
      };
      await rejection(blobs.put(scope, 'a', Readable.from(broken())));
      expect(await chunkCount()).to.equal(0);
      await blobs.put(scope, 'a', content);
      await blobs.put(scope, 'a', Buffer.from('small'));
      expect(await chunkCount()).to.equal(1);
      await blobs.removeAll(scope);
      expect(await chunkCount()).to.equal(0);
    });

    it('that a dead process left half written are swept when their scope is emptied, and by and by', async () => {
      const scope = newDataset();
      const db = subject.connection.client.db(subject.database);
      const leave = async (uploadDate: Date) => {
        const metadata = { tenant: scope.tenant, dataset: scope.dataset, state: 'incoming' };
        const { insertedId } = await db.collection('blobs.files').insertOne({ filename: 'a', uploadDate, metadata });
        await db.collection('blobs.chunks').insertOne({ files_id: insertedId, n: 0, data: Buffer.from('half') });
      };
      await leave(new Date());
      const blobs = createGridfsBlobStore(subject.connection);
      expect(await blobs.stat(scope, 'a')).to.equal(null);
      expect(await chunkCount()).to.equal(1);
      expect(await blobs.removeAll(scope)).to.equal(0);
      expect(await chunkCount()).to.equal(0);
      await leave(new Date(Date.now() - 86_400_000));
      expect(await createGridfsBlobStore(subject.connection).stat(newDataset(), 'x')).to.equal(null);
      expect(await chunkCount()).to.equal(0);
    });

    it('can be read by the tools of GridFS', async () => {
      const scope = newDataset();
      await createGridfsBlobStore(subject.connection).put(scope, 'a/b', content);
      const bucket = new GridFSBucket(subject.connection.client.db(subject.database), { bucketName: 'blobs' });
      expect((await buffer(bucket.openDownloadStreamByName('a/b'))).equals(content)).to.equal(true);
    });
  });
});
