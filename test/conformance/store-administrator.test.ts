import { namesOf } from '../../operator/stores/realm.ts';
import type { Provision } from '../../operator/stores/store-administrator.ts';
import { createMemoryStore, type MemoryStore } from '../support/stores/memory-administrator.ts';
import { type AdministratorSubject, describeStoreAdministrator, type RealmAccess } from './store-administrator.ts';

describeStoreAdministrator('a store in memory', async (): Promise<AdministratorSubject> => {
  const store = createMemoryStore();
  const gone = createMemoryStore();
  gone.isAway = true;
  return {
    administrator: store.administrator,
    away: gone.administrator,
    awayPassword: 'none',
    refused: null,
    damages: {
      'a user': async (realm) => void store.homes.get(namesOf(realm).underscored)?.users.clear(),
    },
    holdsMarks: true,
    connect: async (provision) => connect(store, provision),
    async dispose() {},
  };
});

function connect(store: MemoryStore, { settings, secrets }: Provision): RealmAccess {
  const documentsOf = (place: Provision['settings']) => {
    const home = store.homes.get(place['ENGRAM_MONGODB_DATABASE'] ?? '');
    const password = home?.users.get(settings['ENGRAM_MONGODB_USER'] ?? '');
    if (home === undefined || password !== secrets['ENGRAM_MONGODB_PASSWORD']) throw new Error('refused');
    return home.documents;
  };
  return {
    write: async (id) => void documentsOf(settings).set(id, ''),
    has: async (id) => documentsOf(settings).has(id),
    trespass: {
      write: async (there, id) => void documentsOf(there.settings).set(id, ''),
      read: async (there) => documentsOf(there.settings).size,
    },
    async close() {},
  };
}
