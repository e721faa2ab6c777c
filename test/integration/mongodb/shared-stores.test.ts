import { createMongodbDocumentStore } from '../../../services/common/storage/documents/mongodb/document-store.ts';
import { sharedStoreSuites } from '../../conformance/shared-stores.ts';
import { withBackend } from '../backend.ts';
import { openDatabase } from './mongodb-subject.ts';

withBackend('mongodb', ({ ENGRAM_TEST_MONGODB_URL: url }) => {
  sharedStoreSuites('mongodb', async () => {
    const { connection, dispose } = await openDatabase(url);
    return { stores: [createMongodbDocumentStore(connection), createMongodbDocumentStore(connection)], dispose };
  });
});
