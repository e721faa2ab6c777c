import { type Authenticator, connect, ErrorCode, type NatsConnection, NatsError } from 'nats';
import { isEngramError } from '../../../services/common/kernel/errors.ts';
import { abortable } from '../../../services/common/platform/async/abortable.ts';
import { away, failed, refused, tooSlow, translatingErrors, unfit } from '../administrator-errors.ts';

interface NatsServers {
  /** Comma-separated. */
  readonly url: string;
  /** PEM; turns TLS on. */
  readonly caFile?: string;
}

interface NatsLogin {
  /** Null: none. */
  readonly authenticator: () => Authenticator | null;
  /** Advice when the server rejects the login: a part of a sentence. */
  readonly look: string;
}

export const TIMEOUT_MS = 5_000;

/** Opens a connection for one piece of work. Throws errors of the port; an abort rejects with the signal's reason. */
export async function withConnection<T>(
  servers: NatsServers,
  { authenticator, look }: NatsLogin,
  signal: AbortSignal,
  work: (connection: NatsConnection) => Promise<T>,
): Promise<T> {
  let opened: NatsConnection | undefined;
  const connected = async () => {
    const login = authenticator();
    opened = await connect({
      servers: addressesOf(servers.url),
      name: 'engram operator stores',
      timeout: TIMEOUT_MS,
      reconnect: false,
      ...(login === null ? {} : { authenticator: login }),
      ...(servers.caFile === undefined ? {} : { tls: { caFile: servers.caFile } }),
    });
    // The caller has left, so close the connection here.
    if (signal.aborted) await opened.close();
    return work(opened);
  };
  const translated = (error: unknown) => administratorError(error, storeAt(servers.url), look);
  try {
    return await translatingErrors(signal, translated, () => abortable(connected(), signal));
  } finally {
    await opened?.close();
  }
}

/** Name of the servers for messages, without credentials. */
export function storeAt(url: string): string {
  return `NATS at ${addressesOf(url).join(', ')}`;
}

export function addressesOf(url: string): string[] {
  return url.split(',').map((one) => (URL.canParse(withScheme(one)) ? new URL(withScheme(one)).host : 'no address'));
}

export function withScheme(url: string): string {
  return url.includes('://') ? url.trim() : `nats://${url.trim()}`;
}

const SETTING = 'ENGRAM_OPERATOR_NATS_URL';
const REFUSALS: ReadonlySet<string> = new Set([
  ErrorCode.AuthorizationViolation,
  ErrorCode.AuthenticationExpired,
  ErrorCode.PermissionsViolation,
  ErrorCode.BadAuthentication,
  ErrorCode.BadCreds,
]);

/** Translates an error of the client to one of the port; `look` names the setting of the login. */
function administratorError(error: unknown, store: string, look: string): unknown {
  if (isEngramError(error)) return error;
  if (error instanceof TypeError && /URL/.test(error.message)) {
    return refused(store, `${SETTING} is not a list of nats:// addresses`, undefined);
  }
  if (!(error instanceof NatsError)) return error;
  const { code } = error;
  if (REFUSALS.has(code)) return refused(store, look, error);
  if (code === ErrorCode.JetStreamNotEnabled || code === ErrorCode.NoResponders) {
    return unfit(store, 'turn JetStream on, for the account of the user too', error);
  }
  if (code === ErrorCode.Timeout) return tooSlow(store, error);
  if (error.api_error !== undefined) return failed(store, error.api_error.description, error);
  return away(store, error);
}
