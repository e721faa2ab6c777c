import type { ImapFlow } from 'imapflow';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { abortable } from '../../common/platform/async/abortable.ts';
import type { SourceNetwork } from '../../common/ports/source-network.ts';
import {
  type Connector,
  type SourceAccess,
  SourceBusyError,
  type SourceDocument,
  type SourceLogin,
  SourceRevokedError,
} from './connector.ts';
import { slug } from './folder.ts';

const PAGE = 500;
const TIMEOUT_MS = 60_000;
/** A login is used again so long after its last use. */
const KEPT_MS = 30_000;
const REFUSED = 'The mail server does not accept the user name and password';

/**
 * A mailbox over IMAP (RFC 9051), with its folders as resources, of which nothing is read until they are chosen. A mail never
 * changes: its folder's UIDVALIDITY and its UID name it, and the list of all UIDs says which are new and which are gone.
 */
export function createImapConnector({
  network,
  maxBytes,
}: {
  readonly network: SourceNetwork;
  readonly maxBytes: number;
}): Connector {
  const { within, inFolder } = createLogins(network);
  return {
    provider: 'imap',
    capabilities: {
      title: 'Mailbox (IMAP)',
      feeds: ['mails'],
      selection: 'required',
      takesLogin: true,
      accounts: 'of each user',
      everyMs: 300_000,
    },
    datasetName: ({ accountLabel }) => `imap_${slug(accountLabel)}`,
    async connect(address, login) {
      if (login === undefined) throw engramError('InvalidRequestError', 'A mailbox needs a user name and a password.');
      const { host, port, isSecure } = placeOf(address);
      const accountId = `${isSecure ? 'imaps' : 'imap'}://${encodeURIComponent(login.userName)}@${host}:${port}`;
      const client = await openMailbox(network, accountId, login).catch((error: unknown) => {
        if (isEngramError(error)) throw error;
        const { message } = translated(error);
        throw engramError('InvalidRequestError', message, { cause: error });
      });
      await client.logout();
      const label = login.userName.includes('@') ? login.userName : `${login.userName}@${host}`;
      const tokens = { accessToken: login.password, refreshToken: null, expiresAt: null };
      return { accountId, label, authType: 'password', scopes: [], metadata: { user_name: login.userName }, tokens };
    },
    async list(access) {
      const folders = await within(access, (client) => client.list());
      return folders
        .filter(({ flags }) => !flags.has('\\Noselect') && !flags.has('\\NonExistent'))
        .map(({ path, name, specialUse }) => ({
          id: path,
          name: path === 'INBOX' ? 'Inbox' : path,
          description: null,
          attributes: { name, type: specialUse?.replace('\\', '').toLowerCase() ?? null },
        }));
    },
    async *changesSince(access, { resource }) {
      const keys = await inFolder(access, resource, async (client) => {
        // A folder that is open already is as it was when a command was last sent.
        await client.noop();
        const found = (await client.search({ all: true }, { uid: true })) || [];
        return found.map((uid) => `${validityOf(client)}/${uid}`);
      });
      for (let at = 0; at < keys.length || at === 0; at += PAGE) {
        const present = keys.slice(at, at + PAGE).map((key) => ({ key, version: key }));
        const isLast = at + PAGE >= keys.length;
        yield { present, gone: [], cursor: null, total: keys.length, ...(isLast ? { isWhole: true as const } : {}) };
      }
    },
    fetch: (access, { resource, key }) =>
      inFolder(access, resource, async (client): Promise<SourceDocument | null> => {
        const [validity, uid = ''] = key.split('/');
        if (validity !== validityOf(client)) return null;
        const mail = await client.fetchOne(uid, { envelope: true, size: true }, { uid: true });
        if (mail === false) return null;
        if ((mail.size ?? 0) > maxBytes) {
          throw engramError('PayloadTooLargeError', `it is larger than ${maxBytes} bytes`);
        }
        const whole = await client.fetchOne(uid, { source: true }, { uid: true });
        if (whole === false || whole.source === undefined) return null;
        const subject = mail.envelope?.subject?.trim() || 'Without a subject';
        const fileName = `${subject.replaceAll(/[\\/\p{Cc}]+/gu, ' ').slice(0, 120)}.eml`;
        return { fileName, mimeType: 'message/rfc822', content: whole.source, version: key, uri: null };
      }),
  };
}

async function openMailbox(
  network: SourceNetwork,
  address: string,
  { userName, password }: SourceLogin,
): Promise<ImapFlow> {
  const { host, port, isSecure } = placeOf(address);
  // The address that was checked: the client would resolve the name again.
  const checked = await network.addressOf(host);
  const { ImapFlow: Client } = await import('imapflow');
  const client = new Client({
    host: checked,
    servername: host,
    port,
    secure: isSecure,
    ...(isSecure || network.isListed(host) ? {} : { doSTARTTLS: true }),
    auth: { user: userName, pass: password },
    logger: false,
    disableAutoIdle: true,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
  });
  // It is reported by the command under way.
  client.on('error', () => client.close());
  await client.connect();
  return client;
}

/** Logins of connections, each kept for a while after its last use. */
function createLogins(network: SourceNetwork) {
  const kept = new Map<string, { readonly client: Promise<ImapFlow>; users: number; timer?: NodeJS.Timeout }>();
  const drop = (id: string, client: Promise<ImapFlow>) => {
    if (kept.get(id)?.client === client) kept.delete(id);
  };
  /** Works in a login of the connection, which is kept for the next. */
  const within = async <T>(access: SourceAccess, work: (client: ImapFlow) => Promise<T>): Promise<T> => {
    const { connection, signal } = access;
    const { id, accountId, metadata } = connection;
    signal.throwIfAborted();
    const login = { userName: String(metadata['user_name']), password: await access.token() };
    const held = kept.get(id) ?? { client: openMailbox(network, accountId, login), users: 0 };
    clearTimeout(held.timer);
    kept.set(id, held);
    held.users += 1;
    try {
      const client = await abortable(held.client, signal);
      if (!client.usable) throw new Error('The mail server ended the connection.');
      return await abortable(work(client), signal);
    } catch (error) {
      if (isEngramError(error)) throw error;
      drop(id, held.client);
      void held.client.then((client) => client.close()).catch(() => undefined);
      throw translated(error);
    } finally {
      held.users -= 1;
      if (held.users === 0) {
        const end = () => {
          drop(id, held.client);
          void held.client.then((client) => client.logout()).catch(() => undefined);
        };
        held.timer = setTimeout(end, KEPT_MS).unref();
      }
    }
  };
  /** Works in a folder, which is locked meanwhile. */
  const inFolder = <T>(access: SourceAccess, folder: string, work: (client: ImapFlow) => Promise<T>): Promise<T> =>
    within(access, async (client) => {
      const lock = await client.getMailboxLock(folder, { readOnly: true });
      try {
        return await work(client);
      } finally {
        lock.release();
      }
    });
  return { within, inFolder };
}

function validityOf({ mailbox }: ImapFlow): string {
  return mailbox === false ? '' : String(mailbox.uidValidity);
}

/** Reads `imaps://host:port`, `imap://host` or a host alone; TLS from the start unless the scheme is `imap`. */
function placeOf(address: string) {
  const url = URL.parse(/^imaps?:\/\//i.test(address) ? address : `imaps://${address}`);
  if (url === null || url.hostname === '') throw engramError('InvalidRequestError', 'The address is not valid.');
  const isSecure = url.protocol === 'imaps:';
  return { host: url.hostname, port: url.port === '' ? (isSecure ? 993 : 143) : Number(url.port), isSecure };
}

function translated(error: unknown): Error {
  const { authenticationFailed, code, throttleReset, message } = error as Error & {
    readonly authenticationFailed?: boolean;
    readonly code?: string;
    readonly throttleReset?: number;
  };
  if (authenticationFailed === true) return new SourceRevokedError(`${REFUSED}. Connect it again.`, { cause: error });
  if (code === 'ETHROTTLE') return new SourceBusyError(throttleReset ?? TIMEOUT_MS, { cause: error });
  return error instanceof Error ? error : new Error(message);
}
