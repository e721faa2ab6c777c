/** What an error of the driver is about. The administrator of buckets, in the operator, reads its errors by this too. */

/** The object, or the upload, is not there. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && ['NoSuchKey', 'NotFound', 'NoSuchUpload'].includes(error.name);
}

export function isMissingBucket(error: unknown): boolean {
  return error instanceof Error && error.name === 'NoSuchBucket';
}

/** The range begins after the last byte. */
export function isBeyondEnd(error: unknown): boolean {
  return error instanceof Error && (error.name === 'InvalidRange' || statusOf(error) === 416);
}

/** The object is not the one whose entity tag was named. */
export function isReplaced(error: unknown): boolean {
  return error instanceof Error && (error.name === 'PreconditionFailed' || statusOf(error) === 412);
}

/** The server does not have this function. */
export function isNotOffered(error: unknown): boolean {
  return error instanceof Error && [405, 501].includes(statusOf(error) ?? 0);
}

/** The key may not do this one thing. */
export function isDenied(error: unknown): boolean {
  return error instanceof Error && error.name === 'AccessDenied';
}

/** The key may not do this, or nothing at all. */
export function isForbidden(error: Error): boolean {
  return FORBIDDEN.has(error.name) || statusOf(error) === 403;
}

/** Access key or secret key is wrong. */
export function isWrongKey({ name }: Error): boolean {
  return WRONG_KEY.has(name);
}

/** There is no key to try with. */
export function isWithoutKey({ name }: Error): boolean {
  return name === 'CredentialsProviderError';
}

export function isTimeout({ name }: Error): boolean {
  return name === 'TimeoutError';
}

/** The way to the server, or the server, failed; the same request may succeed now. */
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

/** Of the socket, or of the TLS below it. Empty: none. */
export function codeOf(error: Error): string {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  if (typeof code === 'string') return code;
  return cause instanceof Error ? codeOf(cause) : '';
}

const CUT: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ECONNABORTED']);
const UNREACHABLE: ReadonlySet<string> = new Set([
  ...CUT,
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EPROTO'],
]);
const WRONG_KEY: ReadonlySet<string> = new Set([
  ...['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'InvalidToken', 'ExpiredToken', 'AuthFailure'],
  ...['InvalidClientTokenId', 'UnrecognizedClientException', 'XAdminUserNotFound'],
]);
const FORBIDDEN: ReadonlySet<string> = new Set(['AccessDenied', 'Forbidden', 'AllAccessDisabled', 'AccountProblem']);
