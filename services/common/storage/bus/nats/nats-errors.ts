import { ErrorCode, NatsError } from 'nats';
import { type EngramError, engramError } from '../../../kernel/errors.ts';

const CREDENTIALS: readonly string[] = [
  ErrorCode.AuthorizationViolation,
  ErrorCode.BadAuthentication,
  ErrorCode.BadCreds,
  ErrorCode.AuthenticationExpired,
  ErrorCode.AccountExpired,
];

/** Why there is no connection: with the address, never with a credential. */
export function connectError(cause: unknown, address: string): EngramError {
  const code = codeOf(cause);
  const fault = (what: string, retryable: boolean) =>
    engramError('ServiceUnavailableError', `NATS at ${address} ${what}`, { cause, retryable });
  if (CREDENTIALS.includes(code)) return fault('refuses the credentials that were given.', false);
  if (code === 'ENOENT') return fault(`needs a file that is not there: ${messageOf(cause)}`, false);
  // The names of OpenSSL's verdicts on a certificate have nothing in common.
  if (/TLS|SSL|CERT|VERIFY|ISSUER/.test(code)) {
    return fault(`cannot be reached over TLS: ${messageOf(cause)}`, false);
  }
  if (code === ErrorCode.Timeout) return fault('does not answer.', true);
  return fault(`cannot be reached: ${messageOf(cause)}`, true);
}

/** What JetStream answered to a request about a stream or a message. */
export function jetStreamError(cause: unknown, address: string, stream: string): EngramError {
  const told = cause instanceof NatsError ? cause.api_error : undefined;
  const fault = (what: string, retryable: boolean) =>
    engramError('ServiceUnavailableError', `JetStream at ${address} ${what}`, { cause, retryable });
  if (told?.err_code === NOT_ENABLED || told?.err_code === NOT_ENABLED_FOR_ACCOUNT || isDisabled(cause)) {
    return fault('is not enabled: start the server with it (-js), and enable it for the account.', false);
  }
  if (told !== undefined && FULL.includes(told.err_code ?? 0)) {
    return fault(`is full, the stream ${stream} takes no message: ${told.description}.`, true);
  }
  if (told !== undefined) return fault(`refuses the stream ${stream}: ${told.description}.`, true);
  return fault(`does not answer about the stream ${stream}: ${messageOf(cause)}`, true);
}

const NOT_ENABLED = 10_076;
const NOT_ENABLED_FOR_ACCOUNT = 10_039;
/** No memory, no storage, insufficient resources; maximum of bytes, messages or messages per subject reached. */
const FULL: readonly number[] = [10_023, 10_028, 10_047, 10_077, 10_110, 10_122, 10_123];

/** Without JetStream nobody listens on its subjects. */
function isDisabled(error: unknown): boolean {
  const code = codeOf(error);
  return code === ErrorCode.JetStreamNotEnabled || code === ErrorCode.NoResponders;
}

export function codeOf(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null)?.code;
  if (typeof code !== 'string') return '';
  // The client hides what the socket said behind a code of its own.
  const chained = (error as { readonly chainedError?: unknown }).chainedError;
  return code === ErrorCode.ConnectionRefused && chained !== undefined ? codeOf(chained) || code : code;
}

function messageOf(error: unknown): string {
  const chained = (error as { readonly chainedError?: unknown } | null)?.chainedError;
  if (chained instanceof Error) return chained.message;
  return error instanceof Error ? error.message : String(error);
}
