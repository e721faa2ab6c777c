import { type EngramError, engramError } from '../../kernel/errors.ts';
import { CypherRefusedError } from './tokens.ts';
import { QueryFailure } from './values.ts';

/** Errors of a query for the client; any other error is returned as it is. */
export function asSearchError(error: unknown): unknown {
  if (error instanceof QueryFailure) return cannotRun(error.message, error);
  if (!(error instanceof CypherRefusedError) && !(error instanceof RangeError)) return error;
  return engramError('CypherSearchError', error.message, { cause: error });
}

/** `reason` may be ''. */
export function cannotRun(reason: string, cause: unknown): EngramError {
  const text = `The graph store could not run this query${reason === '' ? '' : `: ${reason}`}.`;
  return engramError('CypherSearchError', text, { cause });
}

export function othersAreRunning(): EngramError {
  return engramError('ServiceUnavailableError', 'Other queries in Cypher are running; try again shortly.', {
    retryable: true,
    retryAfterSeconds: 2,
  });
}

export function beingPrepared(): EngramError {
  return engramError('ServiceUnavailableError', 'The graph is being prepared for Cypher; try again shortly.', {
    retryable: true,
    retryAfterSeconds: 2,
  });
}
