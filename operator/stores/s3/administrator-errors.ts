import { isEngramError } from '../../../services/common/kernel/errors.ts';
import {
  isForbidden,
  isMissing,
  isMissingBucket,
  isTimeout,
  isUnreachable,
  isWithoutKey,
  isWrongKey,
  statusOf,
} from '../../../services/common/storage/blobs/s3/s3-errors.ts';
import { away, failed, refused, tooSlow } from '../administrator-errors.ts';

/** An error of the client as one of the port. */
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

/** It is there already. */
export function isConflict(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ['BucketAlreadyExists', 'BucketAlreadyOwnedByYou', 'PreconditionFailed'].includes(error.name);
}

/** The object, the upload or the bucket is not there. */
export function isGone(error: unknown): boolean {
  return isMissing(error) || isMissingBucket(error);
}
