import { readFileSync } from 'node:fs';
import {
  type Authenticator,
  type ConnectionOptions,
  credsAuthenticator,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from 'nats';
import type { KeptSubjects } from '../../ports/bus.ts';
import type { OnListenerError } from '../rules/listener.ts';

export interface NatsBusOptions {
  /** A comma list of `nats://host:4222` or `tls://…`. */
  readonly url: string;
  readonly user?: string;
  readonly password?: string;
  readonly token?: string;
  /** A JWT with its key, as `nsc` writes it. Files are read again with each connection, so credentials can be replaced. */
  readonly credentialsFile?: string;
  /** An nkey seed. */
  readonly nkeyFile?: string;
  /** PEM files; each turns TLS on. */
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  /** First word of all subjects in place of `engram`, and start of the names of streams. */
  readonly prefix?: string;
  /** The service: shown by the server beside the connection, and the last word of where its answers arrive, for permissions. */
  readonly name?: string;
  /** Subjects that JetStream keeps. */
  readonly kept?: readonly KeptSubjects[];
  /** Installation that owns the streams; processes of another one are refused. Absent: not checked. */
  readonly installation?: string;
  /** Time limit of one attempt to connect; default 5 s. */
  readonly connectTimeoutMs?: number;
  /** A silent server is given up after three of these; default 5 s. */
  readonly pingIntervalMs?: number;
  /** Called when a listener of `publish` fails, since its result is not awaited. Default: a process warning. */
  readonly onListenerError?: OnListenerError;
  /** The connection was lost, came back, or was refused something. */
  readonly onConnection?: (change: ConnectionChange) => void;
  /** Called when a lost stream was created again: its messages are lost. */
  readonly onStreamLost?: (stream: string) => void;
  /** Interval in which lost streams are looked for. Default 5 s. */
  readonly streamCheckMs?: number;
}

export interface ConnectionChange {
  readonly kind: 'lost' | 'restored' | 'refused';
  /** Reason of the server, with `refused`. */
  readonly reason?: string;
}

const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 5000;
/** Unanswered pings beyond which the connection counts as lost. */
const MAX_PINGS_OUT = 2;

/** Since when the connection has been away, as `performance.now()`. */
export interface Absence {
  sinceMs: number | null;
}

/** Reconnects for ever, the longer it is away the less often. */
export function connectionOptions(options: NatsBusOptions, absence: Absence): ConnectionOptions {
  const { caFile, certFile, keyFile } = options;
  const files = { ...(caFile ? { caFile } : {}), ...(certFile ? { certFile } : {}), ...(keyFile ? { keyFile } : {}) };
  const isSecure = Object.keys(files).length > 0 || serverUrls(options).some((url) => url.startsWith('tls:'));
  const authenticator = authenticatorOf(options);
  return {
    servers: serverUrls(options).map((url) => new URL(url).host),
    ...(isSecure ? { tls: files } : {}),
    ...(authenticator === null ? {} : { authenticator }),
    ...(options.name === undefined ? {} : { name: options.name }),
    timeout: options.connectTimeoutMs ?? 5000,
    pingInterval: options.pingIntervalMs ?? 5000,
    maxPingOut: MAX_PINGS_OUT,
    maxReconnectAttempts: -1,
    // A server that comes back before its users do must not end us.
    ignoreAuthErrorAbort: true,
    // Asked more than once for each attempt, so attempts cannot be counted here.
    reconnectDelayHandler: () => {
      absence.sinceMs ??= performance.now();
      const longest = Math.max(MIN_RETRY_MS, (performance.now() - absence.sinceMs) / 2);
      return Math.round(Math.min(MAX_RETRY_MS, longest) * (0.5 + Math.random() / 2));
    },
    inboxPrefix: inboxOf(options),
  };
}

/** Apart by service, so that no service's user may listen to the answers of another. */
export function inboxOf({ prefix = 'engram', name }: NatsBusOptions): string {
  return name === undefined ? `_INBOX.${prefix}` : `_INBOX.${prefix}.${name}`;
}

function authenticatorOf(options: NatsBusOptions): Authenticator | null {
  const { user, password, token, credentialsFile, nkeyFile } = options;
  if (credentialsFile) return rereading(credentialsFile, credsAuthenticator);
  if (nkeyFile) return rereading(nkeyFile, (content) => nkeyAuthenticator(Buffer.from(content.toString().trim())));
  if (token) return tokenAuthenticator(token);
  if (user) return usernamePasswordAuthenticator(user, password ?? '');
  // The client ignores what stands in the address.
  const inUrl = serverUrls(options).map((url) => new URL(url))[0];
  if (inUrl === undefined || inUrl.username === '') return null;
  const name = decodeURIComponent(inUrl.username);
  return inUrl.password === ''
    ? tokenAuthenticator(name)
    : usernamePasswordAuthenticator(name, decodeURIComponent(inUrl.password));
}

/**
 * Reads the file for each connection. Whoever renews it may be in the middle of that; the client would close for ever if it
 * got nothing, so it gets what was right before, and asks again after the refusal.
 */
function rereading(file: string, open: (content: Buffer) => Authenticator): Authenticator {
  let last: Authenticator | null = null;
  return (nonce) => {
    try {
      const next = open(readFileSync(file));
      const answer = next(nonce);
      last = next;
      return answer;
    } catch (error) {
      if (last === null) throw error;
      return last(nonce);
    }
  };
}

function serverUrls({ url }: NatsBusOptions): string[] {
  const urls = url.split(',').map((one) => one.trim());
  return urls.map((one) => (one.includes('://') ? one : `nats://${one}`));
}

/** For messages: without credentials. */
export function addressOf(options: NatsBusOptions): string {
  return serverUrls(options)
    .map((url) => new URL(url))
    .map(({ protocol, host }) => `${protocol}//${host}`)
    .join(', ');
}
