import { requireOwner } from '../../../operator/stores/administrator-errors.ts';
import { namesOf, type Realm } from '../../../operator/stores/realm.ts';
import type {
  RealmCredentials,
  StoreAdministrator,
  StoreDriver,
  StoreIsolation,
  StoreRole,
} from '../../../operator/stores/store-administrator.ts';
import { engramError } from '../../../services/common/kernel/errors.ts';

/** What a server holds, by the names in `realm-names.ts`. */
interface MemoryHome {
  ownerUid: string | null;
  /** User → password. */
  readonly users: Map<string, string>;
  readonly documents: Map<string, string>;
}

/** A server in memory, with its administrator: the fake of the port, which passes the port's conformance suite. */
export interface MemoryStore {
  readonly administrator: StoreAdministrator;
  readonly homes: Map<string, MemoryHome>;
  /** While true every call fails as if the server were away. */
  isAway: boolean;
  /** While true `remove` says that it did it and leaves everything. */
  isStubborn: boolean;
}

interface MemoryStoreOptions {
  readonly driver?: StoreDriver;
  readonly roles?: readonly StoreRole[];
  readonly isolation?: StoreIsolation;
  readonly makesUsers?: boolean;
}

export function createMemoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { driver = 'mongodb', roles = ['Documents'], isolation = 'Database', makesUsers = true } = options;
  const variable = (what: string) => `ENGRAM_${driver.toUpperCase()}_${what}`;
  const reach = async (signal: AbortSignal) => {
    await Promise.resolve();
    signal.throwIfAborted();
    if (!store.isAway) return;
    throw engramError('ServiceUnavailableError', `${driver} in memory cannot be reached`, { retryable: true });
  };
  const homeOf = (realm: Realm): MemoryHome | null => {
    const home = store.homes.get(namesOf(realm).underscored) ?? null;
    if (home !== null) requireOwner(realm, home.ownerUid, `${driver} in memory`, namesOf(realm).underscored);
    return home;
  };
  const store: MemoryStore = {
    homes: new Map(),
    isAway: false,
    isStubborn: false,
    administrator: {
      driver,
      roles,
      makesUsers,
      async ensure(realm, credentials, signal) {
        await reach(signal);
        const name = namesOf(realm).underscored;
        const home = homeOf(realm) ?? { ownerUid: realm.ownerUid, users: new Map(), documents: new Map() };
        store.homes.set(name, home);
        home.users.clear();
        if (makesUsers) for (const [user, password] of usersOf(realm, credentials)) home.users.set(user, password);
        const user = namesOf(realm).user(credentials.current.slot);
        return {
          settings: { [variable('DATABASE')]: name, ...(makesUsers ? { [variable('USER')]: user } : {}) },
          secrets: makesUsers ? { [variable('PASSWORD')]: credentials.current.password } : {},
          files: {},
          stores: roles.map((role) => ({ role, driver, name, isolation, ownCredentials: makesUsers })),
        };
      },
      async remove(realm, signal) {
        await reach(signal);
        if (homeOf(realm) !== null && !store.isStubborn) store.homes.delete(namesOf(realm).underscored);
      },
      async residue(realm, signal) {
        await reach(signal);
        const home = store.homes.get(namesOf(realm).underscored);
        return home === undefined ? 0 : 1 + home.users.size + home.documents.size;
      },
      async close() {},
    },
  };
  return store;
}

function usersOf(realm: Realm, { current, previous }: RealmCredentials): readonly (readonly [string, string])[] {
  return [previous, current].flatMap((one) =>
    one === null ? [] : [[namesOf(realm).user(one.slot), one.password] as const],
  );
}
