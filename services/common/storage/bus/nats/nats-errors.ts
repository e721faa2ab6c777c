import { ErrorCode, NatsError } from 'nats';
import type { EngramError } from '../../../kernel/errors.ts';
import { storeFaults } from '../../rules/store-faults.ts';

const CREDENTIALS: readonly string[] = [
  ErrorCode.AuthorizationViolation,
  ErrorCode.BadAuthentication,
  ErrorCode.BadCreds,
  ErrorCode.AuthenticationExpired,
  ErrorCode.AccountExpired,
];

/** Error of a connection that failed: with the address, never with a credential. */
export function connectError(cause: unknown, address: string): EngramError {
  const code = codeOf(cause);
  const faults = storeFaults(cause);
  const server = `NATS at ${address}`;
  if (CREDENTIALS.includes(code)) return faults.refused(`${server} refuses the credentials.`);
  if (code === 'ENOENT') return faults.refused(`${server} needs a file that does not exist: ${messageOf(cause)}`);
  // The names of OpenSSL's verdicts on a certificate have nothing in common.
  if (/TLS|SSL|CERT|VERIFY|ISSUER/.test(code)) {
    return faults.refused(`${server} cannot be reached over TLS: ${messageOf(cause)}`);
  }
  if (code === ErrorCode.Timeout) return faults.unavailable(`${server} does not answer.`);
  return faults.unavailable(`${server} cannot be reached: ${messageOf(cause)}`);
}

/** Error of a request about a stream or a message. */
export function jetStreamError(cause: unknown, address: string, stream: string): EngramError {
  const told = cause instanceof NatsError ? cause.api_error : undefined;
  const faults = storeFaults(cause);
  const server = `JetStream at ${address}`;
  if (told?.err_code === NOT_ENABLED || told?.err_code === NOT_ENABLED_FOR_ACCOUNT || isDisabled(cause)) {
    return faults.refused(`${server} is not enabled: start the server with it (-js), and enable it for the account.`);
  }
  if (told !== undefined && FULL.includes(told.err_code ?? 0)) {
    return faults.unavailable(`${server} is full, the stream ${stream} takes no message: ${told.description}.`);
  }
  if (told !== undefined) return faults.unavailable(`${server} refuses the stream ${stream}: ${told.description}.`);
  return faults.unavailable(`${server} does not answer about the stream ${stream}: ${messageOf(cause)}`);
}

const NOT_ENABLED = 10_076;
const NOT_ENABLED_FOR_ACCOUNT = 10_039;
/** No memory, no storage, insufficient resources; maximum of bytes, messages or messages per subject reached. */
const FULL: readonly number[] = [10_023, 10_028, 10_047, 10_077, 10_110, 10_122, 10_123];

/** Whether JetStream is missing: then no responder listens on its subjects. */
function isDisabled(error: unknown): boolean {
  const code = codeOf(error);
  return code === ErrorCode.JetStreamNotEnabled || code === ErrorCode.NoResponders;
}

function codeOf(error: unknown): string {
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
