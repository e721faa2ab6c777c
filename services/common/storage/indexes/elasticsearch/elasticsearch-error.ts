import { errors } from '@elastic/elasticsearch';
import { type EngramError, engramError, isEngramError } from '../../../kernel/errors.ts';

/** The server's error as one of ours. `address` must hold no password. Reasons may quote content: they stay in `cause`. */
export function elasticsearchError(error: unknown, address: string): Error {
  if (isEngramError(error)) return error;
  const server = `Elasticsearch at ${address}`;
  if (error instanceof errors.TimeoutError) {
    return engramError('DeadlineExceededError', `${server} did not answer in time.`, { cause: error, retryable: true });
  }
  if (isUnreachable(error)) return busy(`${server} cannot be reached: ${error.message}`, error);
  if (error instanceof errors.ProductNotSupportedError) {
    return refused(`The server at ${address} is not Elasticsearch.`, error);
  }
  if (!(error instanceof errors.ResponseError)) {
    return error instanceof Error ? error : new TypeError('Elasticsearch failed without an error.');
  }
  return answerError(error, server);
}

export function isLostConnection(error: unknown): boolean {
  return isUnreachable(error) && !/ECONNREFUSED|ENOTFOUND/.test(error.message);
}

/** Worth another try in a moment: too much to do, or a shard that is not allocated yet, as that of an index just made. */
export function isBusy(error: unknown): boolean {
  return error instanceof errors.ResponseError && (error.statusCode === 429 || error.statusCode === 503);
}

/** The server has no such index, alias or document. Takes errors of `request` too. */
export function isMissing(error: unknown): boolean {
  const answer = error instanceof Error && isEngramError(error) ? error.cause : error;
  return answer instanceof errors.ResponseError && answer.statusCode === 404;
}

/** `index_not_found_exception` and the like. */
export function errorType({ body, statusCode }: errors.ResponseError): string {
  const described: unknown = typeof body === 'object' && body !== null ? (body as { error?: unknown }).error : null;
  const type = typeof described === 'object' && described !== null ? (described as { type?: unknown }).type : null;
  return typeof type === 'string' ? type : `HTTP ${statusCode ?? 'error'}`;
}

/** The error of a row that a bulk request could not write. */
export function rowError(type: string, status: number, address: string): EngramError {
  const message = `Elasticsearch at ${address} did not take a row: ${type}.`;
  return status === 429 || status === 503 || status === 403
    ? engramError('ServiceUnavailableError', message, { retryable: true, retryAfterSeconds: 5 })
    : engramError('CogneeSystemError', message);
}

export function rowTooLarge(characters: number, address: string): EngramError {
  const megabytes = (characters / 1024 / 1024).toFixed(1);
  return engramError(
    'PayloadTooLargeError',
    `A passage of ${megabytes} MB is too large for Elasticsearch at ${address}: give the server more heap, or split the document.`,
  );
}

function answerError(error: errors.ResponseError, server: string): EngramError {
  const type = errorType(error);
  const status = error.statusCode ?? 500;
  if (status === 401) return refused(`${server} refused the credentials.`, error);
  if (status === 403 && type !== 'cluster_block_exception') {
    return refused(`${server} does not permit this to the configured user or key.`, error);
  }
  if (status === 403 || status === 429 || status >= 502) return busy(`${server} is busy: ${type}.`, error);
  return engramError('CogneeSystemError', `${server} failed: ${type}.`, { cause: error });
}

function isUnreachable(error: unknown): error is Error {
  return error instanceof errors.ConnectionError || error instanceof errors.NoLivingConnectionsError;
}

function busy(message: string, cause: unknown): EngramError {
  return engramError('ServiceUnavailableError', message, { cause, retryable: true, retryAfterSeconds: 5 });
}

function refused(message: string, cause: unknown): EngramError {
  return engramError('ServiceUnavailableError', message, { cause });
}

/** A writer that found its dataset dropped again and again. */
export function writeConflict(address: string): EngramError {
  return engramError('ServiceUnavailableError', `The dataset is being dropped from Elasticsearch at ${address}.`, {
    retryable: true,
  });
}
