import { S3ServiceException } from '@aws-sdk/client-s3';
import { type EngramError, type ErrorName, engramError, isEngramError } from '../../domain/errors.ts';

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

/** The object, or the upload, is not there. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && ['NoSuchKey', 'NotFound', 'NoSuchUpload'].includes(error.name);
}

/** The range begins after the last byte. */
export function isBeyondEnd(error: unknown): boolean {
  return error instanceof Error && (error.name === 'InvalidRange' || statusOf(error) === 416);
}

/** The object is not the one whose entity tag was named. */
export function isReplaced(error: unknown): boolean {
  return error instanceof Error && (error.name === 'PreconditionFailed' || statusOf(error) === 412);
}

/** The way to the server, or the server, failed; the same request may succeed now. */
export function isBrokenConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'TimeoutError' || CUT.has(codeOf(error)) || error.message === 'aborted';
}

/** The server does not have this function, or does not allow it. */
export function isNotOffered(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'AccessDenied' || [405, 501].includes(statusOf(error) ?? 0);
}

const CUT: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ECONNABORTED']);
const UNREACHABLE: ReadonlySet<string> = new Set([
  ...CUT,
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EPROTO'],
]);

const REFUSED: ReadonlySet<string> = new Set([
  ...['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'InvalidToken', 'ExpiredToken', 'AuthFailure'],
  ...['InvalidClientTokenId', 'UnrecognizedClientException', 'XAdminUserNotFound'],
]);
const FORBIDDEN: ReadonlySet<string> = new Set(['AccessDenied', 'Forbidden', 'AllAccessDisabled', 'AccountProblem']);
const OTHER_REGION: ReadonlySet<string> = new Set([
  ...['PermanentRedirect', 'AuthorizationHeaderMalformed', 'IllegalLocationConstraintException'],
]);
const FULL: ReadonlySet<string> = new Set(['XMinioStorageFull', 'InsufficientStorage', 'QuotaExceeded']);

function answered(error: Error, { bucket, address, region }: S3Place, because: Because): EngramError | null {
  const { name } = error;
  const status = statusOf(error);
  const server = `S3 at ${address}`;
  if (REFUSED.has(name)) {
    return because('ServiceUnavailableError', `${server} refuses the credentials: wrong access key or secret key`);
  }
  if (FORBIDDEN.has(name) || status === 403) {
    if (name === 'RequestTimeTooSkewed') {
      return because('ServiceUnavailableError', `The clocks of ${server} and of this machine differ too much`);
    }
    const needed = 'it needs to list the bucket and to get, put and delete its objects';
    return because('ServiceUnavailableError', `${server} does not allow this to the access key: ${needed}`);
  }
  if (name === 'NoSuchBucket') {
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
  if (error.name === 'CredentialsProviderError') {
    return because('ServiceUnavailableError', `There are no credentials for ${server}: set access key and secret key`);
  }
  if (error.name === 'TimeoutError') {
    return because('DeadlineExceededError', `${server} did not answer in time`, true);
  }
  const code = codeOf(error);
  if (UNREACHABLE.has(code) || error.message === 'aborted') {
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

function statusOf(error: Error): number | null {
  const status = (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata?.httpStatusCode;
  return status ?? null;
}

function codeOf(error: Error): string {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  if (typeof code === 'string') return code;
  return cause instanceof Error ? codeOf(cause) : '';
}
