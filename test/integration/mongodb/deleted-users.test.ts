import { createMongodbDocumentStore } from '../../../services/common/storage/documents/mongodb/document-store.ts';
import { deletedUsersConformance } from '../../conformance/deleted-users.ts';
import { withBackend } from '../backend.ts';
import { openDatabase } from './mongodb-subject.ts';

withBackend('mongodb', ({ ENGRAM_TEST_MONGODB_URL: url }) => {
  deletedUsersConformance('mongodb', async () => {
    const { connection, dispose } = await openDatabase(url);
    return { stores: [createMongodbDocumentStore(connection), createMongodbDocumentStore(connection)], dispose };
  });
});
