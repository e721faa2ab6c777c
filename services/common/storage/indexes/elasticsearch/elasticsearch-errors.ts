import { errors } from '@elastic/elasticsearch';
import { type EngramError, engramError, isEngramError } from '../../../kernel/errors.ts';
import { storeFaults } from '../../rules/store-faults.ts';

const RETRY_AFTER_SECONDS = 5;

/** Translates an error of the client. `address` must hold no password. Reasons may quote content: they stay in `cause`. */
export function elasticsearchError(error: unknown, address: string): Error {
  if (isEngramError(error)) return error;
  const server = `Elasticsearch at ${address}`;
  const faults = storeFaults(error, RETRY_AFTER_SECONDS);
  if (error instanceof errors.TimeoutError) return storeFaults(error).timedOut(`${server} did not answer in time.`);
  if (isUnreachable(error)) return faults.unavailable(`${server} cannot be reached: ${error.message}`);
  if (error instanceof errors.ProductNotSupportedError) {
    return faults.refused(`The server at ${address} is not Elasticsearch.`);
  }
  if (!(error instanceof errors.ResponseError)) {
    return error instanceof Error ? error : new TypeError('Elasticsearch failed without an error.');
  }
  return answerError(error, server);
}

export function isLostConnection(error: unknown): boolean {
  return isUnreachable(error) && !/ECONNREFUSED|ENOTFOUND/.test(error.message);
}

/** Whether another try in a moment may succeed: too much to do, or a shard that is not allocated yet, as that of a new index. */
export function isBusy(error: unknown): boolean {
  return error instanceof errors.ResponseError && (error.statusCode === 429 || error.statusCode === 503);
}

/** Whether the server has no such index, alias or document. Takes errors of `request` too. */
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
  const message = `Elasticsearch at ${address} rejected a row: ${type}.`;
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
  const faults = storeFaults(error, RETRY_AFTER_SECONDS);
  if (status === 401) return faults.refused(`${server} refused the credentials.`);
  if (status === 403 && type !== 'cluster_block_exception') {
    return faults.refused(`${server} does not permit this to the configured user or key.`);
  }
  if (status === 403 || status === 429 || status >= 502) return faults.unavailable(`${server} is busy: ${type}.`);
  return engramError('CogneeSystemError', `${server} failed: ${type}.`, { cause: error });
}

function isUnreachable(error: unknown): error is Error {
  return error instanceof errors.ConnectionError || error instanceof errors.NoLivingConnectionsError;
}

/** Error of a writer whose dataset was dropped again and again. */
export function writeConflict(address: string): EngramError {
  return engramError('ServiceUnavailableError', `The dataset is being dropped from Elasticsearch at ${address}.`, {
    retryable: true,
  });
}
