import type { BlobStore } from '../common/storage/ports/blob-store.ts';
import type { SnapshotPlaces } from '../common/storage/ports/snapshot-places.ts';

/** The blob store of the installation, and buckets of S3 by what each call says of them. */
export function createSnapshotPlaces(own: BlobStore): SnapshotPlaces {
  return {
    async open(place) {
      if (place === null) return { blobs: own, close: async () => {} };
      const { openS3BlobStore } = await import('../common/storage/blobs/s3/blob-store.ts');
      const { endpoint, bucket, prefix, region, accessKey, secretKey } = place;
      const store = await openS3BlobStore({
        ...{ bucket, prefix, region, accessKey, secretKey },
        ...(endpoint === null ? {} : { endpoint }),
      });
      return { blobs: store, close: () => store.close() };
    },
  };
}
