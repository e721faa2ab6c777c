import type {
  Provision,
  ProvisionedStore,
  RealmCredentials,
  StoreAdministrator,
  StoreDriver,
} from '../../../operator/stores/store-administrator.ts';
import { engramError } from '../../../services/common/kernel/errors.ts';

/** A store in memory with faults. */
export interface FakeAdministrator extends StoreAdministrator {
  /** Name of the realm → its credentials. */
  readonly realms: Map<string, { readonly ownerUid: string; readonly credentials: RealmCredentials }>;
  ensured: number;
  failure: Error | null;
  /** Residue that a removal leaves, one less each time. */
  stubborn: number;
}

function createFakeAdministrator(
  driver: StoreDriver,
  parts: { readonly stores: readonly Omit<ProvisionedStore, 'name' | 'ownCredentials'>[]; readonly settings?: object },
): FakeAdministrator {
  const realms: FakeAdministrator['realms'] = new Map();
  const attempt = () => {
    if (fake.failure !== null) throw fake.failure;
  };
  const fake: FakeAdministrator = {
    driver,
    realms,
    ensured: 0,
    failure: null,
    stubborn: 0,
    makesUsers: true,
    roles: parts.stores.map(({ role }) => role),
    async ensure(realm, credentials): Promise<Provision> {
      attempt();
      fake.ensured += 1;
      const held = realms.get(realm.name);
      if (held !== undefined && held.ownerUid !== realm.ownerUid) {
        throw engramError('OwnedByAnother', `Something of ${realm.name} is another's.`);
      }
      realms.set(realm.name, { ownerUid: realm.ownerUid, credentials });
      const variable = `ENGRAM_${driver.toUpperCase()}`;
      return {
        settings: { [`${variable}_${driver === 'nats' ? 'SUBJECT_PREFIX' : 'NAME'}`]: realm.name, ...parts.settings },
        secrets: { [`${variable}_PASSWORD`]: credentials.current.password },
        files: driver === 'nats' ? { ENGRAM_NATS_CA_FILE: 'of-an-authority' } : {},
        stores: parts.stores.map((store) => ({ ...store, name: realm.name, ownCredentials: true })),
      };
    },
    async remove(realm) {
      attempt();
      if (fake.stubborn > 0) fake.stubborn -= 1;
      else realms.delete(realm.name);
    },
    async residue(realm) {
      attempt();
      return realms.has(realm.name) ? 1 : 0;
    },
    async close() {},
  };
  return fake;
}

/** Administrators of all kinds of an installation. */
export function createFakeAdministrators(): readonly FakeAdministrator[] {
  const store = (role: ProvisionedStore['role'], driver: string, isolation: ProvisionedStore['isolation']) => ({
    role,
    driver,
    isolation,
  });
  return [
    createFakeAdministrator('mongodb', {
      stores: [store('Documents', 'mongodb', 'Database'), store('Blobs', 'gridfs', 'Database')],
    }),
    createFakeAdministrator('nats', { stores: [store('Bus', 'nats', 'Label')] }),
    createFakeAdministrator('elasticsearch', {
      stores: [store('Text', 'elasticsearch', 'Index'), store('Vectors', 'elasticsearch', 'Index')],
    }),
    createFakeAdministrator('neo4j', { stores: [store('Graph', 'neo4j', 'Label')] }),
  ];
}
