import { connect, Events, type NatsConnection } from 'nats';
import { engramError } from '../../../kernel/errors.ts';
import { withTimeout } from '../../../platform/async/time-limit.ts';
import { connectError } from './nats-errors.ts';
import { type Absence, addressOf, connectionOptions, type NatsBusOptions } from './nats-options.ts';

/** One connection for everything, and what is known of its state. */
export interface NatsLink {
  readonly connection: NatsConnection;
  readonly address: string;
  /** The largest message that the server takes, with its headers. */
  readonly maxMessageBytes: () => number;
  /** `ServiceUnavailableError` while the connection is lost: the client would keep what we send, without bound. */
  requireUp(): void;
  /** Resolves when the server has seen everything sent so far; `ServiceUnavailableError` when it does not in time. */
  flushed(): Promise<void>;
  /** Called with the subject that this user may not publish to or subscribe to. */
  onRefusal(listener: (subject: string, operation: string) => void): void;
  close(): Promise<void>;
}

/** The first with the consumers that we use. */
const OLDEST_SERVER = [2, 9] as const;
const FLUSH_TIMEOUT_MS = 5000;

/**
 * Throws `ServiceUnavailableError`: `retryable` when the server may only be away, not when credentials, certificates or the
 * server's age are at fault. Once connected, it reconnects for ever.
 */
export async function openLink(options: NatsBusOptions): Promise<NatsLink> {
  const address = addressOf(options);
  const absence: Absence = { sinceMs: null };
  const connection = await connect(connectionOptions(options, absence)).catch((error: unknown) => {
    throw connectError(error, address);
  });
  absence.sinceMs = null;
  let isUp = true;
  const refusals: ((subject: string, operation: string) => void)[] = [];
  const away = () => engramError('ServiceUnavailableError', `NATS at ${address} is away`, AWAY);
  const watch = async (): Promise<void> => {
    for await (const status of connection.status()) {
      if (status.type === Events.Disconnect) {
        if (isUp) options.onConnection?.({ kind: 'lost' });
        isUp = false;
      } else if (status.type === Events.Reconnect) {
        isUp = true;
        absence.sinceMs = null;
        options.onConnection?.({ kind: 'restored' });
      } else if (status.type === Events.Error) {
        options.onConnection?.({ kind: 'refused', reason: String(status.data) });
        const context = status.permissionContext;
        if (context !== undefined) for (const listener of refusals) listener(context.subject, context.operation);
      }
    }
  };
  void watch();
  const link: NatsLink = {
    connection,
    address,
    maxMessageBytes: () => connection.info?.max_payload ?? 2 ** 20,
    requireUp() {
      if (!isUp || connection.isClosed()) throw away();
    },
    async flushed() {
      this.requireUp();
      const done = connection.flush().catch((cause: unknown) => {
        throw engramError('ServiceUnavailableError', `NATS at ${address} is away`, { ...AWAY, cause });
      });
      await withTimeout(done, FLUSH_TIMEOUT_MS, () => {
        throw away();
      });
    },
    onRefusal: (listener) => void refusals.push(listener),
    close: () => connection.close(),
  };
  const { version = '' } = connection.info ?? {};
  if (!isNewEnough(version)) {
    await link.close();
    const needed = OLDEST_SERVER.join('.');
    throw engramError('ServiceUnavailableError', `NATS at ${address} is ${version}; ${needed} or newer is needed.`);
  }
  return link;
}

const AWAY = { retryable: true, retryAfterSeconds: 1 };

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > OLDEST_SERVER[0] || (major === OLDEST_SERVER[0] && minor >= OLDEST_SERVER[1]);
}
