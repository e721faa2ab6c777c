import { AbortMultipartUploadCommand, ListMultipartUploadsCommand, type MultipartUpload } from '@aws-sdk/client-s3';
import type { S3Connection } from './connection.ts';
import { isDenied, isMissing, isNotOffered } from './s3-errors.ts';

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
  let marker: { readonly KeyMarker?: string; readonly UploadIdMarker?: string } | null = {};
  try {
    while (marker !== null) {
      const page: ListPage = await client.send(
        new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...marker }),
      );
      const old = (page.Uploads ?? []).filter(({ Initiated }) => (Initiated?.getTime() ?? 0) <= before);
      for (const upload of old) await abort({ client, bucket }, upload);
      marker = nextOf(page);
    }
  } catch (error) {
    if (!isNotOffered(error) && !isDenied(error)) throw error;
  }
}

interface ListPage {
  readonly Uploads?: readonly MultipartUpload[] | undefined;
  readonly IsTruncated?: boolean | undefined;
  readonly NextKeyMarker?: string | undefined;
  readonly NextUploadIdMarker?: string | undefined;
}

function nextOf({ IsTruncated, NextKeyMarker, NextUploadIdMarker }: ListPage) {
  if (IsTruncated !== true || NextKeyMarker === undefined) return null;
  return {
    KeyMarker: NextKeyMarker,
    ...(NextUploadIdMarker === undefined ? {} : { UploadIdMarker: NextUploadIdMarker }),
  };
}

async function abort(
  { client, bucket }: Pick<S3Connection, 'client' | 'bucket'>,
  { Key, UploadId }: MultipartUpload,
): Promise<void> {
  try {
    await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }));
  } catch (error) {
    if (!isMissing(error)) throw error; // ended meanwhile
  }
}
