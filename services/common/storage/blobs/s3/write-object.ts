import { Readable } from 'node:stream';
import { Upload } from '@aws-sdk/lib-storage';
import type { BlobInfo } from '../../ports/blob-store.ts';
import { contentChunks, createContentDigest } from '../rules/incoming-content.ts';
import type { S3Connection } from './connection.ts';

/** S3 takes 10 000 parts, so a blob may have 78 GiB. */
const PART_BYTES = 8 * 1024 * 1024;
/** Parts that travel at the same time; one more is being filled. */
const PARTS_IN_FLIGHT = 2;

/**
 * Content up to a part is one request, larger content a multipart upload: readers see all of it or nothing. A broken or
 * aborted stream ends the upload and removes its parts before this rejects with what broke it.
 */
export async function writeObject(
  { client, bucket, errorOf }: S3Connection,
  name: string,
  content: Readable | Uint8Array,
  signal: AbortSignal | undefined,
): Promise<Omit<BlobInfo, 'key'>> {
  const digest = createContentDigest();
  // A client that goes away is not a server that cannot be reached, though both are a reset connection.
  const source: { fault: unknown } = { fault: null };
  async function* digested(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of contentChunks(content, signal)) {
        digest.add(chunk);
        yield chunk;
      }
    } catch (fault) {
      source.fault = fault;
      throw fault;
    }
  }
  // `Upload.abort` does not wait for what it stops: the stream's error does, so that nothing is left behind.
  const upload = new Upload({
    client,
    params: { Bucket: bucket, Key: name, Body: Readable.from(digested(), { objectMode: false }) },
    partSize: PART_BYTES,
    queueSize: PARTS_IN_FLIGHT,
  });
  try {
    await upload.done();
  } catch (error) {
    throw source.fault ?? errorOf(error);
  }
  return digest.result();
}
