import { type Db, MongoClient, MongoServerError } from 'mongodb';
import { abortable } from '../../../services/common/platform/async/abortable.ts';
import { addressOf, CODES, isDuplicateKey } from '../../../services/common/storage/documents/mongodb/mongodb-errors.ts';
import { ownedByAnother, requireOwner, unfit } from '../administrator-errors.ts';
import type { Realm } from '../realm.ts';
import { namesOf } from '../realm-names.ts';
import type { Credential, Provision, StoreAdministrator, StoreRole } from '../store-administrator.ts';
import { translatingErrors } from '../translating-errors.ts';
import { validCredentials } from '../valid-credentials.ts';
import { administratorError } from './administrator-errors.ts';
import { urlFor, withoutUser } from './service-url.ts';

export interface MongodbAdministratorOptions {
  /** `mongodb://` or `mongodb+srv://` with a user who may make users: `userAdminAnyDatabase` and `dbAdminAnyDatabase`, or `root`. */
  readonly url: string;
  /** Whether files go to GridFS in the same database. */
  readonly holdsBlobs: boolean;
  /** For finding a server; default 5000. */
  readonly connectTimeoutMs?: number;
}

/** Holds the mark. A name with a dot is none of the services' collections. */
const MARKS = 'engram.realm';
const MARK = 'owner';
const SILENCE_MS = 30_000;

const USER_EXISTS = 51003;
const USER_MISSING = 11;

/** A database of each realm, and users in that database which reach nothing else. */
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
        // First, so that nobody writes what was just removed.
        await dropUsers(db, realm, store, []);
        if (!isOurs) return;
        for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray()) {
          signal.throwIfAborted();
          if (name !== MARKS && !name.startsWith('system.')) await db.dropCollection(name);
        }
        // The mark is the last to go: what is left half-way can be told to be ours.
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

/** The parser's own message may hold the whole URL, with the password. */
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

/** Where the server lets everybody do everything, users of a realm would keep nobody out: nobody in particular tries. */
async function requireAuthorization(nobody: MongoClient, db: Db, store: string): Promise<true> {
  try {
    await nobody.db(db.databaseName).collection(MARKS).findOne({});
  } catch (error) {
    if (error instanceof MongoServerError && error.code === CODES.unauthorized) return true;
    throw error;
  } finally {
    await nobody.close();
  }
  throw unfit(store, 'turn its authorization on, and name a user in ENGRAM_OPERATOR_MONGODB_URL');
}

/** Writes the mark, or finds its own. What is there without one belongs to somebody whom we do not know. */
async function claim(db: Db, realm: Realm, store: string): Promise<void> {
  if (await requireOurs(db, realm, store)) return;
  const marks = db.collection<{ _id: string; ownerUid: string }>(MARKS);
  try {
    await marks.insertOne({ _id: MARK, ownerUid: realm.ownerUid });
  } catch (error) {
    // Another process was first: whoever that was for is read now.
    if (!isDuplicateKey(error)) throw error;
    await requireOurs(db, realm, store);
  }
}

/** Whether there is anything; throws when it is not the realm's. */
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

/** All users of the database but those to keep. */
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
