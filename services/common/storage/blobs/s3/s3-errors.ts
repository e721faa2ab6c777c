import { S3ServiceException } from '@aws-sdk/client-s3';
import { type EngramError, engramError, isEngramError } from '../../../kernel/errors.ts';
import { type StoreFaults, storeFaults } from '../../rules/store-faults.ts';

/** Address of a store, for messages: bucket and endpoint, never a key. */
export interface S3Place {
  readonly bucket: string;
  /** Host of the endpoint, or AWS and the region. */
  readonly address: string;
  readonly region: string;
}

/** An answer without any of the fields of S3: another kind of server, or the page of a proxy. */
export class NotS3Error extends Error {
  override readonly name = 'NotS3Error';
}

const RETRY_AFTER_SECONDS = 5;
const OTHER_REGION: ReadonlySet<string> = new Set([
  'PermanentRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
]);
const FULL: ReadonlySet<string> = new Set(['XMinioStorageFull', 'InsufficientStorage', 'QuotaExceeded']);
const CUT: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ECONNABORTED']);
const UNREACHABLE: ReadonlySet<string> = new Set([
  ...CUT,
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EPROTO',
]);
const WRONG_KEY: ReadonlySet<string> = new Set([
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'InvalidToken',
  'ExpiredToken',
  'AuthFailure',
  'InvalidClientTokenId',
  'UnrecognizedClientException',
  'XAdminUserNotFound',
]);
const FORBIDDEN: ReadonlySet<string> = new Set(['AccessDenied', 'Forbidden', 'AllAccessDisabled', 'AccountProblem']);

/** One clear message for what an operator can fix or a caller can repeat; any other error as it is. */
export function s3Error(error: unknown, place: S3Place): unknown {
  if (isEngramError(error) || !(error instanceof Error)) return error;
  const faults = storeFaults(error, RETRY_AFTER_SECONDS);
  return answered(error, place, faults) ?? unanswered(error, place, faults) ?? error;
}

function answered(error: Error, { bucket, address, region }: S3Place, faults: StoreFaults): EngramError | null {
  const { name } = error;
  const status = statusOf(error);
  const server = `S3 at ${address}`;
  if (isWrongKey(error)) return faults.refused(`${server} refuses the credentials: wrong access key or secret key`);
  if (name === 'RequestTimeTooSkewed') {
    return faults.refused(`The clocks of ${server} and of this machine differ too much`);
  }
  if (isForbidden(error)) {
    const needed = 'it needs to list the bucket and to get, put and delete its objects';
    return faults.refused(`${server} does not allow this to the access key: ${needed}`);
  }
  if (isMissingBucket(error)) return faults.refused(`${server} has no bucket ${bucket}: make it first`);
  if (OTHER_REGION.has(name)) {
    return faults.refused(`The bucket ${bucket} at ${address} is not in the region ${region}`);
  }
  if (FULL.has(name) || status === 507) return faults.unavailable(`${server} is full; nothing was written`);
  if (name === 'EntityTooLarge') return faults.tooLarge('The blob is larger than S3 holds');
  if (name === 'KeyTooLongError') {
    const message = 'The blob key is too long for S3 together with the prefix of the store';
    return engramError('InvalidRequestError', message, { cause: error });
  }
  if (status === 429 || (status !== null && status >= 500) || name === 'NoSuchUpload') {
    return faults.unavailable(`${server} cannot answer just now: ${name}`);
  }
  return null;
}

function unanswered(error: Error, { address }: S3Place, faults: StoreFaults): EngramError | null {
  const server = `S3 at ${address}`;
  if (isWithoutKey(error)) {
    return faults.refused(`There are no credentials for ${server}: set access key and secret key`);
  }
  if (isTimeout(error)) return faults.timedOut(`${server} did not answer in time`);
  const code = codeOf(error);
  if (isUnreachable(error)) {
    return faults.unavailable(`${server} cannot be reached: ${code || 'the connection was cut'}`);
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO/.test(code)) {
    return faults.refused(`The certificate of ${server} is not trusted: ${code}`);
  }
  if (error instanceof NotS3Error || ('$metadata' in error && !(error instanceof S3ServiceException))) {
    return faults.refused(`The server at ${address} is not S3`);
  }
  return null;
}

/** Whether the object, or the upload, does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && ['NoSuchKey', 'NotFound', 'NoSuchUpload'].includes(error.name);
}

export function isMissingBucket(error: unknown): boolean {
  return error instanceof Error && error.name === 'NoSuchBucket';
}

/** Whether the object has another entity tag than the one that was named. */
export function isReplaced(error: unknown): boolean {
  return error instanceof Error && (error.name === 'PreconditionFailed' || statusOf(error) === 412);
}

/** Whether the server lacks this function. */
export function isNotOffered(error: unknown): boolean {
  return error instanceof Error && [405, 501].includes(statusOf(error) ?? 0);
}

/** Whether the key may not do this one thing. */
export function isDenied(error: unknown): boolean {
  return error instanceof Error && error.name === 'AccessDenied';
}

/** Whether the key may not do this, or nothing at all. */
export function isForbidden(error: Error): boolean {
  return FORBIDDEN.has(error.name) || statusOf(error) === 403;
}

/** Whether access key or secret key is wrong. */
export function isWrongKey({ name }: Error): boolean {
  return WRONG_KEY.has(name);
}

/** Whether there is no key to sign with. */
export function isWithoutKey({ name }: Error): boolean {
  return name === 'CredentialsProviderError';
}

export function isTimeout({ name }: Error): boolean {
  return name === 'TimeoutError';
}

/** Whether the way to the server, or the server, failed; the same request may succeed now. */
export function isBrokenConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return isTimeout(error) || CUT.has(codeOf(error)) || error.message === 'aborted';
}

export function isUnreachable(error: Error): boolean {
  return UNREACHABLE.has(codeOf(error)) || error.message === 'aborted';
}

/** Null: the server did not answer. */
export function statusOf(error: Error): number | null {
  const status = (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata?.httpStatusCode;
  return status ?? null;
}

/** Code of the socket, or of the TLS below it. Empty: none. */
function codeOf(error: Error): string {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  if (typeof code === 'string') return code;
  return cause instanceof Error ? codeOf(cause) : '';
}
