import { openS3BlobStore } from '../../../services/common/storage/blobs/s3/blob-store.ts';
import { blobStoreConformance } from '../../conformance/blob-store.ts';
import { withBackend } from '../backend.ts';
import { openTestBucket } from './test-bucket.ts';

withBackend('s3', (address) => {
  blobStoreConformance('s3', async () => {
    const bucket = await openTestBucket(address);
    const store = await openS3BlobStore({ ...bucket.options, prefix: 'engram/' });
    return {
      store,
      async dispose() {
        await store.close();
        await bucket.dispose();
      },
    };
  });
});
