import { createGridfsBlobStore } from '../../../services/common/storage/blobs/gridfs/blob-store.ts';
import { blobStoreConformance } from '../../conformance/blob-store.ts';
import { withBackend } from '../backend.ts';
import { openDatabase } from './mongodb-subject.ts';

withBackend('mongodb', ({ ENGRAM_TEST_MONGODB_URL: url }) => {
  blobStoreConformance('gridfs', async () => {
    const { connection, dispose } = await openDatabase(url);
    return { store: createGridfsBlobStore(connection), dispose };
  });
});
