import { Readable } from 'node:stream';
import { Upload } from '@aws-sdk/lib-storage';
import { createContentDigest } from '../../../kernel/hashes.ts';
import type { BlobInfo } from '../../ports/blob-store.ts';
import { contentChunks } from '../rules/incoming-content.ts';
import type { S3Connection } from './connection.ts';
import { abortUpload, unfinishedUploads } from './s3-client.ts';
import { isDenied } from './s3-errors.ts';

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

/**
 * Removes the parts of uploads below a prefix that began at least so long ago: their process died, or what they belong to
 * is being erased. Servers without such a listing are left alone; a life-cycle rule of the bucket does the same there.
 */
export async function removeUnfinishedUploads(
  { client, bucket }: S3Connection,
  prefix: string,
  olderThanMs: number,
): Promise<void> {
  const before = Date.now() - olderThanMs;
  try {
    for await (const page of unfinishedUploads({ client, bucket, prefix })) {
      const old = page.filter(({ Initiated }) => (Initiated?.getTime() ?? 0) <= before);
      for (const upload of old) await abortUpload({ client, bucket }, upload);
    }
  } catch (error) {
    if (!isDenied(error)) throw error;
  }
}
