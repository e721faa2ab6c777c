import { S3ServiceException } from '@aws-sdk/client-s3';
import { type EngramError, type ErrorName, engramError, isEngramError } from '../../../kernel/errors.ts';
import {
  codeOf,
  isForbidden,
  isMissingBucket,
  isTimeout,
  isUnreachable,
  isWithoutKey,
  isWrongKey,
  statusOf,
} from './s3-failures.ts';

/** Where a store is, for messages: bucket and endpoint, never a key. */
export interface S3Place {
  readonly bucket: string;
  /** Host of the endpoint, or AWS and the region. */
  readonly address: string;
  readonly region: string;
}

/** An answer that has none of what S3 says: another kind of server, or the page of a proxy. */
export class NotS3Error extends Error {
  override readonly name = 'NotS3Error';
}

type Because = (name: ErrorName, text: string, retryable?: boolean) => EngramError;

/** One clear message for what an operator can mend or a caller can repeat; any other error as it is. */
export function s3Error(error: unknown, place: S3Place): unknown {
  if (isEngramError(error) || !(error instanceof Error)) return error;
  const because: Because = (name, text, retryable = false) =>
    engramError(name, text, { cause: error, retryable, ...(retryable ? { retryAfterSeconds: 5 } : {}) });
  return answered(error, place, because) ?? unanswered(error, place, because) ?? error;
}

const OTHER_REGION: ReadonlySet<string> = new Set([
  ...['PermanentRedirect', 'AuthorizationHeaderMalformed', 'IllegalLocationConstraintException'],
]);
const FULL: ReadonlySet<string> = new Set(['XMinioStorageFull', 'InsufficientStorage', 'QuotaExceeded']);

function answered(error: Error, { bucket, address, region }: S3Place, because: Because): EngramError | null {
  const { name } = error;
  const status = statusOf(error);
  const server = `S3 at ${address}`;
  if (isWrongKey(error)) {
    return because('ServiceUnavailableError', `${server} refuses the credentials: wrong access key or secret key`);
  }
  if (isForbidden(error)) {
    if (name === 'RequestTimeTooSkewed') {
      return because('ServiceUnavailableError', `The clocks of ${server} and of this machine differ too much`);
    }
    const needed = 'it needs to list the bucket and to get, put and delete its objects';
    return because('ServiceUnavailableError', `${server} does not allow this to the access key: ${needed}`);
  }
  if (isMissingBucket(error)) {
    return because('ServiceUnavailableError', `${server} has no bucket ${bucket}: make it first`);
  }
  if (OTHER_REGION.has(name)) {
    return because('ServiceUnavailableError', `The bucket ${bucket} at ${address} is not in the region ${region}`);
  }
  if (FULL.has(name) || status === 507) {
    return because('ServiceUnavailableError', `${server} is full; nothing was written`, true);
  }
  if (name === 'EntityTooLarge') return because('PayloadTooLargeError', 'The blob is larger than S3 holds');
  if (name === 'KeyTooLongError') {
    return because('InvalidRequestError', 'The blob key is too long for S3 together with the prefix of the store');
  }
  if (status === 429 || (status !== null && status >= 500) || name === 'NoSuchUpload') {
    return because('ServiceUnavailableError', `${server} cannot answer just now: ${name}`, true);
  }
  return null;
}

function unanswered(error: Error, { address }: S3Place, because: Because): EngramError | null {
  const server = `S3 at ${address}`;
  if (isWithoutKey(error)) {
    return because('ServiceUnavailableError', `There are no credentials for ${server}: set access key and secret key`);
  }
  if (isTimeout(error)) {
    return because('DeadlineExceededError', `${server} did not answer in time`, true);
  }
  const code = codeOf(error);
  if (isUnreachable(error)) {
    return because('ServiceUnavailableError', `${server} cannot be reached: ${code || 'the connection was cut'}`, true);
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO/.test(code)) {
    return because('ServiceUnavailableError', `The certificate of ${server} is not to be trusted: ${code}`);
  }
  if (error instanceof NotS3Error || ('$metadata' in error && !(error instanceof S3ServiceException))) {
    return because('ServiceUnavailableError', `What answers at ${address} is not S3`);
  }
  return null;
}
