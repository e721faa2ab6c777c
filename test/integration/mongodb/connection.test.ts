import { expect } from 'chai';
import { connectMongodb } from '../../../services/common/storage/documents/mongodb/connection.ts';
import { createMongodbDocumentStore } from '../../../services/common/storage/documents/mongodb/document-store.ts';
import { newTenant, tenantThings } from '../../conformance/document-store-subject.ts';
import { rejection } from '../../support/refusal-of.ts';
import { withBackend } from '../backend.ts';
import { openDatabase } from './mongodb-subject.ts';

withBackend('mongodb', ({ ENGRAM_TEST_MONGODB_URL: url }) => {
  describe('connection to MongoDB', () => {
    const refused = (changed: string) =>
      rejection(connectMongodb({ url: changed, database: 'engram_test_none', connectTimeoutMs: 500 }));
    const hosts = new URL(url).host;

    it('says that credentials are wrong, without telling them', async () => {
      const error = await refused(url.replace(/\/\/(.*@)?/, '//nobody:secret@'));
      expect(error).to.include({ wireName: 'ServiceUnavailableError', retryable: false });
      expect(error.message).to.contain(hosts).and.to.contain('credentials');
      expect(error.message).to.not.match(/nobody|secret/);
    });

    it('says which server does not answer, and that it may come back', async () => {
      const error = await refused('mongodb://user:secret@127.0.0.1:1/?replicaSet=rs0');
      expect(error).to.include({ wireName: 'ServiceUnavailableError', status: 503, retryable: true });
      expect(error.message).to.equal('MongoDB at 127.0.0.1:1 cannot be reached');
    });

    it('refuses another replica set and an address that is none', async () => {
      const other = await refused(`mongodb://${hosts}/?replicaSet=other`);
      expect(other).to.include({ wireName: 'ServiceUnavailableError' });
      expect(other.message).to.contain('the replica set that its URL names');
      for (const address of ['http://127.0.0.1', 'mongodb://', 'mongodb://a:b@']) {
        expect(await refused(address), address).to.include({ wireName: 'CogneeSystemError' });
      }
    });

    it('answers with an error of ours once it is closed', async () => {
      const { connection, dispose } = await openDatabase(url);
      const store = createMongodbDocumentStore(connection);
      await store.prepare([tenantThings]);
      await dispose();
      const error = await rejection(store.get(newTenant(), tenantThings, 'a'));
      expect(error).to.include({ wireName: 'ServiceUnavailableError' });
    });
  });
});
