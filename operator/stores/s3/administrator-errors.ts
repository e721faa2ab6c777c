import { isEngramError } from '../../../services/common/domain/errors.ts';
import { away, failed, refused, tooSlow } from '../administrator-errors.ts';

const LOGIN: ReadonlySet<string> = new Set([
  ...['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'InvalidToken', 'ExpiredToken', 'AuthFailure'],
  ...['InvalidClientTokenId', 'UnrecognizedClientException', 'XAdminUserNotFound', 'CredentialsProviderError'],
]);
const UNREACHABLE: ReadonlySet<string> = new Set([
  ...['ECONNRESET', 'EPIPE', 'ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'],
  ...['EPROTO', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE'],
]);

/** An error of the client as one of the port. */
export function administratorError(error: unknown, store: string): unknown {
  if (isEngramError(error) || !(error instanceof Error)) return error;
  const status = statusOf(error);
  if (LOGIN.has(error.name) || status === 403) {
    const needs = 'that key needs all of objects, and of buckets engram-* where each tenant has one';
    return refused(store, `look at ENGRAM_S3_ACCESS_KEY and ENGRAM_S3_SECRET_KEY of the operator: ${needs}`, error);
  }
  if (error.name === 'NoSuchBucket') return refused(store, 'make the bucket of ENGRAM_S3_BUCKET first', error);
  if (error.name === 'TimeoutError') return tooSlow(store, error);
  if (UNREACHABLE.has(codeOf(error)) || error.message === 'aborted') return away(store, error);
  return status === null ? error : failed(store, error.name, error);
}

/** The object, the upload or the bucket is not there. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && ['NoSuchKey', 'NotFound', 'NoSuchUpload', 'NoSuchBucket'].includes(error.name);
}

/** It is there already. */
export function isConflict(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ['BucketAlreadyExists', 'BucketAlreadyOwnedByYou', 'PreconditionFailed'].includes(error.name);
}

/** The server does not have this function. One that does not allow it may hide what is left. */
export function isNotOffered(error: unknown): boolean {
  return error instanceof Error && [405, 501].includes(statusOf(error) ?? 0);
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
