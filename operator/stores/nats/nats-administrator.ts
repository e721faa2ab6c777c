import { readFileSync } from 'node:fs';
import {
  type Authenticator,
  credsAuthenticator,
  type JetStreamManager,
  NatsError,
  nanos,
  type StreamInfo,
  usernamePasswordAuthenticator,
} from 'nats';
import { nullIf } from '../../../services/common/platform/async/null-if.ts';
import { ownedByAnother, requireOwner } from '../administrator-errors.ts';
import { namesOf, type Realm } from '../realm.ts';
import type { Provision, StoreAdministrator } from '../store-administrator.ts';
import { storeAt, TIMEOUT_MS, withConnection, withScheme } from './connection.ts';

interface NatsAdministratorOptions {
  /** Comma-separated; user and password in the first one, unless there is a credentials file. The services get the same. */
  readonly url: string;
  readonly credentialsFile?: string;
  /** PEM; turns TLS on. */
  readonly caFile?: string;
}

/** The mark: the description of a stream without messages. */
const MARK = 'Engram, owner ';
const STREAM_MISSING = 10059;
const STREAM_DIFFERS = 10058;

/** Isolates realms by prefixes of subjects and streams. A client cannot create users. */
export function createNatsAdministrator(options: NatsAdministratorOptions): StoreAdministrator {
  const { url, credentialsFile, caFile } = options;
  const store = storeAt(url);
  const guarded = <T>(signal: AbortSignal, work: (manager: JetStreamManager) => Promise<T>): Promise<T> =>
    withConnection(
      options,
      {
        authenticator: () => loginOf(options),
        look: 'look at the user in ENGRAM_OPERATOR_NATS_URL, who needs $JS.API.> too',
      },
      signal,
      async (connection) => work(await connection.jetstreamManager({ timeout: TIMEOUT_MS })),
    );
  return {
    driver: 'nats',
    roles: ['Bus'],
    makesUsers: false,
    async ensure(realm, _credentials, signal) {
      const { subject } = namesOf(realm);
      await guarded(signal, async (manager) => {
        if (!(await requireOurs(manager, realm, store))) await mark(manager, realm, store);
      });
      const provision: Provision = {
        settings: { ENGRAM_NATS_SUBJECT_PREFIX: subject },
        secrets: { ENGRAM_NATS_URL: url },
        files: {
          ...(caFile === undefined ? {} : { ENGRAM_NATS_CA_FILE: readFileSync(caFile, 'utf8') }),
          ...(credentialsFile === undefined
            ? {}
            : { ENGRAM_NATS_CREDENTIALS_FILE: readFileSync(credentialsFile, 'utf8') }),
        },
        stores: [{ role: 'Bus', driver: 'nats', name: subject, isolation: 'Label', ownCredentials: false }],
      };
      return provision;
    },
    async remove(realm, signal) {
      const ofMark = markOf(realm);
      await guarded(signal, async (manager) => {
        if (!(await requireOurs(manager, realm, store))) return;
        const names = (await streamsOf(manager, realm)).map(({ config }) => config.name);
        // The mark goes last, so that the rest of an interrupted removal is known to be ours.
        for (const name of [...names.filter((one) => one !== ofMark), ofMark]) {
          await nullIf(isAbsent, manager.streams.delete(name));
        }
      });
    },
    async residue(realm, signal) {
      namesOf(realm);
      return guarded(signal, async (manager) => (await streamsOf(manager, realm)).length);
    },
    async close() {},
  };
}

function loginOf({ url, credentialsFile }: NatsAdministratorOptions): Authenticator | null {
  if (credentialsFile !== undefined) return credsAuthenticator(readFileSync(credentialsFile));
  const { username, password } = new URL(withScheme(url.split(',')[0] ?? ''));
  if (username === '') return null;
  return usernamePasswordAuthenticator(decodeURIComponent(username), decodeURIComponent(password));
}

/** Name prefix of the services' streams, as `nats-bus.ts` makes it. */
function markOf(realm: Realm): string {
  return `${namesOf(realm).subject.replaceAll('.', '_').toUpperCase()}_OWNER`;
}

async function streamsOf(manager: JetStreamManager, realm: Realm): Promise<readonly StreamInfo[]> {
  return Array.fromAsync(manager.streams.list(`${namesOf(realm).subject}.>`));
}

async function mark(manager: JetStreamManager, realm: Realm, store: string): Promise<void> {
  const { subject } = namesOf(realm);
  try {
    await manager.streams.add({
      name: markOf(realm),
      description: MARK + realm.ownerUid,
      subjects: [`${subject}.owner`],
      max_msgs: 1,
      max_age: nanos(60_000),
    });
  } catch (error) {
    if (!(error instanceof NatsError) || error.api_error?.err_code !== STREAM_DIFFERS) throw error;
    // Another process was faster: read its mark.
    await requireOurs(manager, realm, store);
  }
}

/** Whether the mark exists; throws when it is another owner's, or when there are streams without a mark. */
async function requireOurs(manager: JetStreamManager, realm: Realm, store: string): Promise<boolean> {
  const name = markOf(realm);
  // Listed before the mark is read: another process may create the mark between the two, and no other stream before it.
  const [first] = await streamsOf(manager, realm);
  const found = await nullIf(isAbsent, manager.streams.info(name));
  if (found !== null) {
    const { description = '' } = found.config;
    const owner = description.startsWith(MARK) ? description.slice(MARK.length) : null;
    requireOwner(realm, owner, store, `The stream ${name}`);
    return true;
  }
  if (first !== undefined) throw ownedByAnother(store, `The stream ${first.config.name}`, null);
  return false;
}

function isAbsent(error: unknown): boolean {
  return error instanceof NatsError && error.api_error?.err_code === STREAM_MISSING;
}
