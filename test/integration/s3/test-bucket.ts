import { randomUUID } from 'node:crypto';
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectsCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import type { S3Options } from '../../../services/common/storage/blobs/s3/connection.ts';
import type { BackendAddress } from '../backend.ts';

/** A bucket of the test's own; `dispose` removes it with what is in it. */
export interface TestBucket {
  readonly client: S3Client;
  readonly bucket: string;
  /** For `openS3BlobStore`. */
  readonly options: S3Options;
  names(): Promise<readonly string[]>;
  uploads(): Promise<readonly string[]>;
  dispose(): Promise<void>;
}

export async function openTestBucket(address: BackendAddress<'s3'>): Promise<TestBucket> {
  const bucket = `engram-test-${randomUUID().slice(0, 8)}`;
  const options = {
    bucket,
    endpoint: address.ENGRAM_TEST_S3_URL,
    region: address.ENGRAM_TEST_S3_REGION || 'us-east-1',
    accessKey: address.ENGRAM_TEST_S3_ACCESS_KEY,
    secretKey: address.ENGRAM_TEST_S3_SECRET_KEY,
  };
  const { endpoint, region, accessKey: accessKeyId, secretKey: secretAccessKey } = options;
  const client = new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  const names = async () => {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
    return Contents.map(({ Key = '' }) => Key);
  };
  return {
    client,
    bucket,
    options,
    names,
    async uploads() {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
      return Uploads.map(({ Key = '' }) => Key);
    },
    async dispose() {
      for (let left = await names(); left.length > 0; left = await names()) {
        const Objects = left.map((Key) => ({ Key }));
        await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects } }));
      }
      await client.send(new DeleteBucketCommand({ Bucket: bucket }));
      client.destroy();
    },
  };
}
