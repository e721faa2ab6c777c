import { type Db, MongoClient, MongoError, MongoNetworkTimeoutError, MongoParseError, MongoServerError } from 'mongodb';
import { isEngramError } from '../../../services/common/kernel/errors.ts';
import { abortable } from '../../../services/common/platform/async/abortable.ts';
import {
  addressOf,
  CODES,
  codeOf,
  isDuplicateKey,
} from '../../../services/common/storage/documents/mongodb/mongodb-errors.ts';
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
import { namesOf, type Realm } from '../realm.ts';
import {
  type Credential,
  type Provision,
  type StoreAdministrator,
  type StoreRole,
  validCredentials,
} from '../store-administrator.ts';

interface MongodbAdministratorOptions {
  /** `mongodb://` or `mongodb+srv://` with a user who may create users: `userAdminAnyDatabase` and `dbAdminAnyDatabase`, or `root`. */
  readonly url: string;
  /** Whether files are stored in GridFS in the same database. */
  readonly holdsBlobs: boolean;
  /** Timeout of the server selection. Default: 5000. */
  readonly connectTimeoutMs?: number;
}

/** Collection with the mark. No collection of the services has a dot in its name. */
const MARKS = 'engram.realm';
const MARK = 'owner';
const SILENCE_MS = 30_000;

const USER_EXISTS = 51003;
const USER_MISSING = 11;

/** Gives each realm a database, and users in it that reach nothing else. */
export function createMongodbAdministrator(options: MongodbAdministratorOptions): StoreAdministrator {
  const { url, connectTimeoutMs = 5_000 } = options;
  const open = (address: string) => openClient(address, connectTimeoutMs, store);
  const store = `MongoDB at ${addressOf(url)}`;
  let client: MongoClient | null = null;
  let isGuarded = false;
  const databaseOf = (realm: Realm) => {
    const { underscored } = namesOf(realm);
    client ??= open(url);
    return client.db(underscored);
  };
  const translated = (error: unknown) => administratorError(error, store);
  const guarded = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
    translatingErrors(signal, translated, () => abortable(work(), signal));
  return {
    driver: 'mongodb',
    roles: rolesOf(options),
    makesUsers: true,
    ensure: (realm, credentials, signal) =>
      guarded(signal, async () => {
        const db = databaseOf(realm);
        if (!isGuarded) isGuarded = await requireAuthorization(open(withoutUser(url)), db, store);
        await claim(db, realm, store);
        const valid = validCredentials(credentials);
        for (const credential of valid) {
          signal.throwIfAborted();
          await ensureUser(db, realm, credential, store);
        }
        const kept = valid.map(({ slot }) => namesOf(realm).user(slot));
        await dropUsers(db, realm, store, kept);
        return provisionOf(options, realm, credentials.current);
      }),
    remove: (realm, signal) =>
      guarded(signal, async () => {
        const db = databaseOf(realm);
        const isOurs = await requireOurs(db, realm, store);
        // Users go first, so that no data is written after its removal.
        await dropUsers(db, realm, store, []);
        if (!isOurs) return;
        for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
          signal.throwIfAborted();
          if (name !== MARKS && !name.startsWith('system.')) await db.dropCollection(name);
        }
        // The mark goes last, so that the rest of an interrupted removal is known to be ours.
        await db.dropDatabase();
      }),
    residue: (realm, signal) =>
      guarded(signal, async () => {
        const db = databaseOf(realm);
        const admin = db.client.db('admin');
        const { databases } = await admin.command({
          listDatabases: 1,
          nameOnly: true,
          filter: { name: db.databaseName },
        });
        return databases.length + (await usersOf(db)).length;
      }),
    async close() {
      await client?.close();
    },
  };
}

function rolesOf({ holdsBlobs }: MongodbAdministratorOptions): readonly StoreRole[] {
  return holdsBlobs ? ['Documents', 'Blobs'] : ['Documents'];
}

function provisionOf(options: MongodbAdministratorOptions, realm: Realm, credential: Credential): Provision {
  const name = namesOf(realm).underscored;
  const user = { name: namesOf(realm).user(credential.slot), password: credential.password, database: name };
  return {
    settings: { ENGRAM_MONGODB_DATABASE: name },
    secrets: { ENGRAM_MONGODB_URL: urlFor(options.url, user) },
    files: {},
    stores: rolesOf(options).map((role) => ({
      role,
      driver: role === 'Blobs' ? 'gridfs' : 'mongodb',
      name,
      isolation: 'Database',
      ownCredentials: true,
    })),
  };
}

/** Hides the message of the parser, which may contain the whole URL with its password. */
function openClient(url: string, connectTimeoutMs: number, store: string): MongoClient {
  try {
    return new MongoClient(url, {
      serverSelectionTimeoutMS: connectTimeoutMs,
      connectTimeoutMS: connectTimeoutMs,
      socketTimeoutMS: SILENCE_MS,
      appName: 'engram operator',
      maxPoolSize: 4,
      maxIdleTimeMS: 60_000,
      readPreference: 'primary',
      writeConcern: { w: 'majority', journal: true },
      readConcern: { level: 'majority' },
    });
  } catch (error) {
    throw administratorError(error, store);
  }
}

/** Throws when the server runs without authorization, checked by an unauthenticated command: users would isolate nothing. */
async function requireAuthorization(anonymous: MongoClient, db: Db, store: string): Promise<true> {
  try {
    await anonymous.db(db.databaseName).collection(MARKS).findOne({});
  } catch (error) {
    if (error instanceof MongoServerError && error.code === CODES.unauthorized) return true;
    throw error;
  } finally {
    await anonymous.close();
  }
  throw unfit(store, 'turn its authorization on, and name a user in ENGRAM_OPERATOR_MONGODB_URL');
}

/** Writes the mark, or finds that of the realm. A database without a mark has another owner. */
async function claim(db: Db, realm: Realm, store: string): Promise<void> {
  if (await requireOurs(db, realm, store)) return;
  const marks = db.collection<{ _id: string; ownerUid: string }>(MARKS);
  try {
    await marks.insertOne({ _id: MARK, ownerUid: realm.ownerUid });
  } catch (error) {
    // Another process was faster: read its mark.
    if (!isDuplicateKey(error)) throw error;
    await requireOurs(db, realm, store);
  }
}

/** Whether the database exists; throws when it has another owner. */
async function requireOurs(db: Db, realm: Realm, store: string): Promise<boolean> {
  const what = `The database ${db.databaseName}`;
  const mark = await db.collection<{ _id: string; ownerUid: string }>(MARKS).findOne({ _id: MARK });
  if (mark !== null) {
    requireOwner(realm, mark.ownerUid, store, what);
    return true;
  }
  const collections = await db.listCollections({}, { nameOnly: true }).toArray();
  if (collections.some(({ name }) => name !== MARKS)) throw ownedByAnother(store, what, null);
  return false;
}

interface FoundUser {
  readonly user: string;
  readonly customData?: { readonly ownerUid?: string };
}

async function usersOf(db: Db): Promise<readonly FoundUser[]> {
  const { users } = await db.command({ usersInfo: 1, showCustomData: true });
  return users;
}

async function ensureUser(db: Db, realm: Realm, { slot, password }: Credential, store: string): Promise<void> {
  const user = namesOf(realm).user(slot);
  const settings = {
    pwd: password,
    roles: [{ role: 'readWrite', db: db.databaseName }],
    customData: { ownerUid: realm.ownerUid },
  };
  const found = (await usersOf(db)).find((one) => one.user === user);
  if (found === undefined) {
    try {
      await db.command({ createUser: user, ...settings });
      return;
    } catch (error) {
      if (!(error instanceof MongoServerError) || error.code !== USER_EXISTS) throw error;
    }
  } else requireOwner(realm, found.customData?.ownerUid, store, `The user ${user}`);
  await db.command({ updateUser: user, ...settings });
}

/** Removes all users of the database except those to keep. */
async function dropUsers(db: Db, realm: Realm, store: string, kept: readonly string[]): Promise<void> {
  for (const { user, customData } of await usersOf(db)) {
    if (kept.includes(user)) continue;
    requireOwner(realm, customData?.ownerUid, store, `The user ${user}`);
    try {
      await db.command({ dropUser: user });
    } catch (error) {
      if (!(error instanceof MongoServerError) || error.code !== USER_MISSING) throw error;
    }
  }
}

/** Error codes of servers that do not know the command. */
const COMMAND_MISSING = [59, 73];

/** Translates an error of the driver to one of the port; its message never contains the URL. */
function administratorError(error: unknown, store: string): unknown {
  if (isEngramError(error)) return error;
  const setting = 'ENGRAM_OPERATOR_MONGODB_URL';
  // Errors of the parser, or of Node's `URL`, quote the address.
  if (error instanceof MongoParseError || (error instanceof TypeError && /URL/.test(error.message))) {
    return refused(store, `${setting} is not a mongodb:// address`, undefined);
  }
  if (!(error instanceof MongoError)) return error;
  const code = codeOf(error);
  if (code === CODES.authenticationFailed) return refused(store, `look at user and password in ${setting}`, error);
  if (code === CODES.unauthorized) {
    const look = `the user in ${setting} needs userAdminAnyDatabase, readWriteAnyDatabase and dbAdminAnyDatabase`;
    return refused(store, look, error);
  }
  if (code !== null && COMMAND_MISSING.includes(code)) return unfit(store, 'it makes no users', error);
  if (error instanceof MongoNetworkTimeoutError) return tooSlow(store, error);
  if (error instanceof MongoServerError) return failed(store, error.codeName ?? `code ${error.code}`, error);
  return away(store, error);
}

/** Returns the URL with a user of the given database. */
export function urlFor(
  administratorUrl: string,
  user: { readonly name: string; readonly password: string; readonly database: string },
): string {
  const { scheme, hosts, options } = partsOf(administratorUrl);
  options.set('authSource', user.database);
  return `${scheme}://${encodeURIComponent(user.name)}:${encodeURIComponent(user.password)}@${hosts}/?${options}`;
}

export function withoutUser(administratorUrl: string): string {
  const { scheme, hosts, options } = partsOf(administratorUrl);
  return `${scheme}://${hosts}/?${options}`;
}

/** Options of the administrator's login, which do not apply to the created users. */
function partsOf(url: string) {
  const [, scheme = 'mongodb', hosts = '', query = ''] =
    /^(mongodb(?:\+srv)?):\/\/(?:[^/?]*@)?([^/?@]+)(?:\/[^?]*)?(?:\?(.*))?$/i.exec(url) ?? [];
  const options = new URLSearchParams(query);
  for (const name of [...options.keys()]) {
    if (/^auth(Source|Mechanism|MechanismProperties)$/i.test(name)) options.delete(name);
  }
  return { scheme, hosts, options };
}
