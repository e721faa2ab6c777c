import {
  DeleteObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  type ObjectIdentifier,
  type S3Client,
} from '@aws-sdk/client-s3';
import { engramError, isEngramError } from '../../../services/common/kernel/errors.ts';
import { abortUpload, unfinishedUploads } from '../../../services/common/storage/blobs/s3/s3-client.ts';
import {
  isForbidden,
  isMissing,
  isMissingBucket,
  isNotOffered,
  isTimeout,
  isUnreachable,
  isWithoutKey,
  isWrongKey,
  statusOf,
} from '../../../services/common/storage/blobs/s3/s3-errors.ts';
import { away, failed, refused, tooSlow } from '../administrator-errors.ts';

export interface ObjectPlace {
  readonly client: S3Client;
  readonly bucket: string;
  /** Prefix of the names; empty for the whole bucket. */
  readonly prefix: string;
}

/** Counts and removes objects with older versions and delete markers, and unfinished uploads. */
export async function countObjects(place: ObjectPlace, abortSignal: AbortSignal): Promise<number> {
  let count = 0;
  for await (const page of objectPages(place, abortSignal)) count += page.length;
  for await (const page of unfinishedUploads(place, abortSignal)) count += page.length;
  return count;
}

/** Objects with the prefix, with all their versions. */
export async function removeObjects(place: ObjectPlace, fits: (name: string) => boolean, abortSignal: AbortSignal) {
  const { client, bucket } = place;
  for await (const page of objectPages(place, abortSignal)) {
    const Objects = page.filter(({ Key = '' }) => fits(Key));
    if (Objects.length === 0) continue;
    const command = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } });
    const { Errors = [] } = await client.send(command, { abortSignal });
    const [fault] = Errors.filter(({ Code }) => Code !== 'NoSuchKey' && Code !== 'NoSuchVersion');
    if (fault === undefined) continue;
    const text = `S3 did not remove ${Errors.length} of ${Objects.length} objects: ${fault.Code ?? 'unknown error'}`;
    throw engramError('ServiceUnavailableError', text, { retryable: true });
  }
}

export async function abortUploads(place: ObjectPlace, abortSignal: AbortSignal): Promise<void> {
  for await (const page of unfinishedUploads(place, abortSignal)) {
    for (const upload of page) await abortUpload(place, upload, abortSignal);
  }
}

/** Lists versions; servers without versioning list objects. A forbidden list is an error, because it may hide a residue. */
async function* objectPages(place: ObjectPlace, abortSignal: AbortSignal): AsyncGenerator<readonly ObjectIdentifier[]> {
  try {
    yield* versionPages(place, abortSignal);
  } catch (error) {
    if (!isNotOffered(error)) throw error;
    yield* plainPages(place, abortSignal);
  }
}

async function* versionPages({ client, bucket, prefix }: ObjectPlace, abortSignal: AbortSignal) {
  let marker: { readonly KeyMarker?: string; readonly VersionIdMarker?: string } | null = {};
  while (marker !== null) {
    const page: VersionPage = await client.send(
      new ListObjectVersionsCommand({ Bucket: bucket, Prefix: prefix, ...marker }),
      { abortSignal },
    );
    yield [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])].flatMap(({ Key, VersionId }) =>
      Key === undefined ? [] : [{ Key, ...(VersionId === undefined ? {} : { VersionId }) }],
    );
    marker =
      page.IsTruncated === true && page.NextKeyMarker !== undefined
        ? {
            KeyMarker: page.NextKeyMarker,
            ...(page.NextVersionIdMarker === undefined ? {} : { VersionIdMarker: page.NextVersionIdMarker }),
          }
        : null;
  }
}

interface VersionPage {
  readonly Versions?: readonly Partial<ObjectIdentifier>[] | undefined;
  readonly DeleteMarkers?: readonly Partial<ObjectIdentifier>[] | undefined;
  readonly IsTruncated?: boolean | undefined;
  readonly NextKeyMarker?: string | undefined;
  readonly NextVersionIdMarker?: string | undefined;
}

async function* plainPages({ client, bucket, prefix }: ObjectPlace, abortSignal: AbortSignal) {
  let after: string | undefined;
  for (;;) {
    const command: ListObjectsV2Command = new ListObjectsV2Command({
      Bucket: bucket,
      Prefix: prefix,
      ...(after === undefined ? {} : { StartAfter: after }),
    });
    const { Contents = [], IsTruncated } = await client.send(command, { abortSignal });
    yield Contents.flatMap(({ Key }) => (Key === undefined ? [] : [{ Key }]));
    after = Contents.at(-1)?.Key;
    if (IsTruncated !== true || after === undefined) return;
  }
}

/** Translates an error of the client to one of the port. */
export function administratorError(error: unknown, store: string): unknown {
  if (isEngramError(error) || !(error instanceof Error)) return error;
  if (isWrongKey(error) || isWithoutKey(error) || isForbidden(error)) {
    const needs = 'that key needs all of objects, and of buckets engram-* where each tenant has one';
    return refused(store, `look at ENGRAM_S3_ACCESS_KEY and ENGRAM_S3_SECRET_KEY of the operator: ${needs}`, error);
  }
  if (isMissingBucket(error)) return refused(store, 'make the bucket of ENGRAM_S3_BUCKET first', error);
  if (isTimeout(error)) return tooSlow(store, error);
  if (isUnreachable(error)) return away(store, error);
  return statusOf(error) === null ? error : failed(store, error.name, error);
}

/** Whether the object or bucket already exists. */
export function isConflict(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ['BucketAlreadyExists', 'BucketAlreadyOwnedByYou', 'PreconditionFailed'].includes(error.name);
}

/** Whether the object, upload or bucket does not exist. */
export function isGone(error: unknown): boolean {
  return isMissing(error) || isMissingBucket(error);
}
