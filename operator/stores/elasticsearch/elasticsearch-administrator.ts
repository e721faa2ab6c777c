import { readFileSync } from 'node:fs';
import { Client, type ClientOptions, errors } from '@elastic/elasticsearch';
import { isEngramError } from '../../../services/common/kernel/errors.ts';
import { slices } from '../../../services/common/kernel/slices.ts';
import { nullIf } from '../../../services/common/platform/async/null-if.ts';
import {
  away,
  failed,
  ownedByAnother,
  refused,
  requireOwner,
  tooSlow,
  translatingErrors,
  unfit,
} from '../administrator-errors.ts';
import { type CredentialSlot, namesOf, type Realm } from '../realm.ts';
import { type Credential, type Provision, type StoreAdministrator, validCredentials } from '../store-administrator.ts';

interface ElasticsearchAdministratorOptions {
  /** Contains user and password of an administrator with `manage_security`, and `all` on indexes `engram_*`. */
  readonly url: string;
  /** PEM. */
  readonly caFile?: string;
  /** Replicas of each shard of the realm's indexes. */
  readonly replicas: number;
}

interface Metadata {
  readonly [key: string]: unknown;
  readonly engram_owner_uid?: string;
}

const REQUEST_TIMEOUT_MS = 30_000;
/** Names in the path of one request: a name has up to 255 bytes, and the server accepts 4096. */
const INDEXES_PER_REQUEST = 12;
const SLOTS: readonly CredentialSlot[] = ['a', 'b'];

/** Isolates realms by prefixes of index names, with a role for that prefix and users that have only this role. */
export function createElasticsearchAdministrator(options: ElasticsearchAdministratorOptions): StoreAdministrator {
  const { url } = options;
  const address = URL.canParse(url) ? new URL(url).host : 'no URL';
  const store = `Elasticsearch at ${address}`;
  let opened: Client | null = null;
  const translated = (error: unknown) => administratorError(error, store);
  const guarded = <T>(signal: AbortSignal, work: (client: Client) => Promise<T>): Promise<T> =>
    translatingErrors(signal, translated, async () => {
      opened ??= openClient(options);
      return work(opened);
    });
  return {
    driver: 'elasticsearch',
    roles: ['Text', 'Vectors'],
    makesUsers: true,
    ensure(realm, credentials, signal) {
      const names = namesOf(realm);
      return guarded(signal, async (client) => {
        await requireOurs(client, realm, store, signal);
        await client.security.putRole({ name: names.underscored, ...roleOf(realm) }, { signal });
        const valid = validCredentials(credentials);
        for (const slot of SLOTS) {
          const username = names.user(slot);
          const password = valid.find((one) => one.slot === slot)?.password;
          if (password === undefined) await nullIf(isAbsent, client.security.deleteUser({ username }, { signal }));
          else {
            const metadata: Metadata = { engram_owner_uid: realm.ownerUid };
            await client.security.putUser({ username, password, roles: [names.underscored], metadata }, { signal });
          }
        }
        return provisionOf(options, realm, credentials.current);
      });
    },
    remove(realm, signal) {
      const names = namesOf(realm);
      return guarded(signal, async (client) => {
        await requireOurs(client, realm, store, signal);
        // Users go first, so that no data is written after its removal; the role is the mark and goes last.
        for (const slot of SLOTS) {
          await nullIf(isAbsent, client.security.deleteUser({ username: names.user(slot) }, { signal }));
        }
        const indexes = await indexesOf(client, realm, signal);
        for (const some of slices(indexes, INDEXES_PER_REQUEST)) {
          await client.indices.delete({ index: [...some], ignore_unavailable: true }, { signal });
        }
        await nullIf(isAbsent, client.security.deleteRole({ name: names.underscored }, { signal }));
      });
    },
    residue(realm, signal) {
      namesOf(realm);
      return guarded(signal, async (client) => {
        const indexes = await indexesOf(client, realm, signal);
        return indexes.length + (await marksOf(client, realm, signal)).length;
      });
    },
    async close() {
      await opened?.close();
    },
  };
}

function provisionOf(
  { url, caFile, replicas }: ElasticsearchAdministratorOptions,
  realm: Realm,
  { slot, password }: Credential,
): Provision {
  const name = namesOf(realm).underscored;
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return {
    settings: {
      ENGRAM_ELASTICSEARCH_USER: namesOf(realm).user(slot),
      ENGRAM_ELASTICSEARCH_INDEX_PREFIX: name,
      ENGRAM_ELASTICSEARCH_REPLICAS: String(replicas),
    },
    // The services read the address as a secret, because in other setups it contains a password.
    secrets: { ENGRAM_ELASTICSEARCH_URL: bare.href, ENGRAM_ELASTICSEARCH_PASSWORD: password },
    files: caFile === undefined ? {} : { ENGRAM_ELASTICSEARCH_CA_FILE: readFileSync(caFile, 'utf8') },
    stores: (['Text', 'Vectors'] as const).map((role) => ({
      role,
      driver: 'elasticsearch',
      name,
      isolation: 'Index',
      ownCredentials: true,
    })),
  };
}

function openClient({ url, caFile }: ElasticsearchAdministratorOptions): Client {
  const node = new URL(url);
  const auth = { username: decodeURIComponent(node.username), password: decodeURIComponent(node.password) };
  node.username = '';
  node.password = '';
  const settings: ClientOptions = {
    node: node.href,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // The caller retries.
    maxRetries: 0,
    enableMetaHeader: false,
    ...(auth.username === '' ? {} : { auth }),
    ...(caFile === undefined ? {} : { tls: { ca: readFileSync(caFile) } }),
  };
  return new Client(settings);
}

function roleOf(realm: Realm) {
  const metadata: Metadata = { engram_owner_uid: realm.ownerUid };
  return {
    // The services read the version and check that the server answers. The named privileges, which are all that the types
    // of the client know, would also show them the names of other realms' indexes.
    cluster: ['cluster:monitor/main'] as never[],
    indices: [{ names: [patternOf(realm)], privileges: ['all' as const], allow_restricted_indices: false }],
    metadata,
  };
}

/** Pattern of the realm's indexes. No other realm matches: the separator is not part of a realm's name. */
function patternOf(realm: Realm): string {
  return `${namesOf(realm).underscored}-*`;
}

/** Aliases are removed with their indexes. */
async function indexesOf(client: Client, realm: Realm, signal: AbortSignal): Promise<readonly string[]> {
  const query = { index: patternOf(realm), expand_wildcards: ['all' as const], allow_no_indices: true };
  return Object.keys(await client.indices.getSettings({ ...query, name: 'index.uuid' }, { signal }));
}

/** Owners in the marks of role and users; null for each one without a mark. */
async function marksOf(client: Client, realm: Realm, signal: AbortSignal): Promise<readonly (string | null)[]> {
  const names = namesOf(realm);
  const role = await nullIf(isAbsent, client.security.getRole({ name: names.underscored }, { signal }));
  const users = await nullIf(isAbsent, client.security.getUser({ username: SLOTS.map(names.user) }, { signal }));
  const found = [...Object.values(role ?? {}), ...Object.values(users ?? {})];
  return found.map(({ metadata }) => (metadata as Metadata | undefined)?.engram_owner_uid ?? null);
}

/** Throws when a role, users or, without these, indexes of the name have another owner. */
async function requireOurs(client: Client, realm: Realm, store: string, signal: AbortSignal): Promise<void> {
  const marks = await marksOf(client, realm, signal);
  const name = namesOf(realm).underscored;
  for (const mark of marks) requireOwner(realm, mark, store, `The role or a user ${name}`);
  if (marks.length > 0) return;
  if ((await indexesOf(client, realm, signal)).length > 0) throw ownedByAnother(store, `An index ${name}-…`, null);
}

function isAbsent(error: unknown): boolean {
  return error instanceof errors.ResponseError && error.statusCode === 404;
}

const SETTING = 'ENGRAM_OPERATOR_ELASTICSEARCH_URL';

/** Translates an error of the client to one of the port. */
export function administratorError(error: unknown, store: string): unknown {
  if (isEngramError(error)) return error;
  if (error instanceof TypeError && /URL/.test(error.message)) {
    return refused(store, `${SETTING} is not an http:// or https:// address`, undefined);
  }
  if (error instanceof errors.TimeoutError) return tooSlow(store, error);
  if (error instanceof errors.ConnectionError || error instanceof errors.NoLivingConnectionsError) {
    return away(store, error);
  }
  if (error instanceof errors.ProductNotSupportedError) return refused(store, 'it is not Elasticsearch', error);
  if (!(error instanceof errors.ResponseError)) return error;
  const { statusCode = 500, body } = error;
  const text = JSON.stringify(body ?? '');
  if (/no handler found for uri|security.*(not enabled|must be (explicitly )?enabled)/i.test(text)) {
    return unfit(store, 'turn its security on (xpack.security.enabled)', error);
  }
  if (statusCode === 401) return refused(store, `look at user and password in ${SETTING}`, error);
  if (statusCode === 403)
    return refused(store, `the user in ${SETTING} needs manage_security and all of engram_*`, error);
  return failed(store, `HTTP ${statusCode}`, error);
}
