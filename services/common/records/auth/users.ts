import { emailKey } from '../../domain/email-address.ts';
import type { TenantId, UserId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import type { Principal } from '../../kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  replace,
  type Stored,
  update,
  type Write,
} from '../../storage/ports/document-store.ts';
import { findAll } from '../base/find-all.ts';

/** Stored in place of a hash: no password ever matches. Agents and the default account of the open mode have it. */
export const NO_PASSWORD = '!';

type UserDocument = {
  readonly email: string;
  /** `emailKey(email)`: two addresses that differ only in case are one account. */
  readonly emailKey: string;
  /** PHC string, or `NO_PASSWORD`. */
  readonly passwordHash: string;
  readonly isActive: boolean;
  readonly isSuperuser: boolean;
  readonly isVerified: boolean;
  /** The tenant the user works in now. */
  readonly tenant: string;
  /** Set for agents: the user they work for. */
  readonly parentId: string | null;
  /** Counts keys made, so that two requests cannot both take the last free place. */
  readonly keysMade: number;
  /** Grows whenever the account is written as an inactive one; absent in accounts of before, which counts as 0. */
  readonly shutOuts?: number;
  readonly createdAt: string;
  readonly updatedAt: string | null;
};

/** Not a tenant's: a person keeps one account in all of them. */
export const usersCollection: Collection<UserDocument> = {
  name: 'users',
  level: 'system',
  indexes: [{ fields: ['emailKey'], unique: true }, { fields: ['parentId'] }, { fields: ['isSuperuser', 'createdAt'] }],
};

export interface User {
  readonly id: UserId;
  /** Of the document, for `replaceWrite`. */
  readonly version: number;
  readonly email: string;
  readonly passwordHash: string;
  readonly isActive: boolean;
  readonly isSuperuser: boolean;
  readonly isVerified: boolean;
  readonly tenant: TenantId;
  readonly parentId: UserId | null;
  readonly keysMade: number;
  /** Another number after each time that the account was inactive: what was handed out before stays ended. */
  readonly shutOuts: number;
  readonly createdAt: string;
  readonly updatedAt: string | null;
}

export type NewUser = Omit<User, 'version' | 'keysMade' | 'shutOuts' | 'updatedAt'>;

/** Accounts. The writes are committed by the caller, under any scope, together with their events. */
export interface Users {
  get(id: UserId): Promise<User | null>;
  /** Unknown ids are left out; the order is that of `ids`. */
  getMany(ids: readonly UserId[]): Promise<readonly User[]>;
  findByEmail(address: string): Promise<User | null>;
  /** Whether there is any account. */
  exist(): Promise<boolean>;
  /** Ids of the agents that work for a user. */
  childAgents(parent: UserId): Promise<readonly UserId[]>;
  /** The agents that work for a user, oldest first. */
  agentsOf(parent: UserId): Promise<readonly User[]>;
  /** Active ones, oldest first. */
  superusers(): Promise<readonly User[]>;
  /** `DuplicateKeyError` in the commit when the address is taken. */
  insertWrite(user: NewUser): Write;
  /** `VersionConflictError` in the commit when the account changed since it was read. */
  replaceWrite(user: User): Write;
  /**
   * For a commit that gives the account something: it fails with `VersionConflictError` when the account is gone or is not as
   * demanded, and a deletion or deactivation that read the account before starts anew.
   */
  touchWrite(id: UserId, demanded?: Partial<Pick<User, 'isActive' | 'isSuperuser' | 'tenant'>>): Write;
  /** `VersionConflictError` in the commit when the account changed since it was read. */
  removeWrite(user: User): Write;
}

export function createUsers(store: DocumentStore): Users {
  return {
    async get(id) {
      const stored = await store.get(SYSTEM_SCOPE, usersCollection, id);
      return stored === null ? null : userOf(stored);
    },
    async getMany(ids) {
      return (await store.getMany(SYSTEM_SCOPE, usersCollection, ids)).map(userOf);
    },
    async findByEmail(address) {
      const where = { emailKey: emailKey(address) };
      const { items } = await store.find(SYSTEM_SCOPE, usersCollection, { where, limit: 1 });
      return items[0] === undefined ? null : userOf(items[0]);
    },
    async exist() {
      return (await store.find(SYSTEM_SCOPE, usersCollection, { limit: 1 })).items.length > 0;
    },
    async childAgents(parent) {
      const children = await findAll(store, SYSTEM_SCOPE, usersCollection, { where: { parentId: parent } });
      return children.map(({ id }) => asId<UserId>(id));
    },
    async agentsOf(parent) {
      const children = await findAll(store, SYSTEM_SCOPE, usersCollection, { where: { parentId: parent } });
      return children.map(userOf).sort((one, other) => (one.createdAt < other.createdAt ? -1 : 1));
    },
    async superusers() {
      const found = await findAll(store, SYSTEM_SCOPE, usersCollection, {
        where: { isSuperuser: true },
        sort: [{ field: 'isSuperuser' }, { field: 'createdAt' }],
      });
      return found.map(userOf).filter(({ isActive }) => isActive);
    },
    insertWrite: (user) =>
      insert(usersCollection, user.id, documentOf({ ...user, keysMade: 0, shutOuts: 0, updatedAt: null })),
    replaceWrite(user) {
      // Here, so that no way of making an account inactive can forget it.
      const shutOuts = user.shutOuts + (user.isActive ? 0 : 1);
      return replace(usersCollection, user.id, documentOf({ ...user, shutOuts }), user.version);
    },
    touchWrite: (id, demanded = {}) => update(usersCollection, id, { where: demanded, required: true }),
    removeWrite: ({ id, version }) => remove(usersCollection, id, version),
  };
}

export function principalOf(user: User): Principal {
  const { id, email, tenant, isSuperuser, parentId } = user;
  return { id, email, tenant, isSuperuser, parentId };
}

function documentOf(user: Omit<User, 'version'>): UserDocument {
  const { email, passwordHash, isActive, isSuperuser, isVerified, tenant, parentId, keysMade, shutOuts } = user;
  const flags = { isActive, isSuperuser, isVerified };
  const times = { createdAt: user.createdAt, updatedAt: user.updatedAt };
  return { email, emailKey: emailKey(email), passwordHash, ...flags, tenant, parentId, keysMade, shutOuts, ...times };
}

function userOf({ id, version, value }: Stored<UserDocument>): User {
  const { emailKey: _, ...fields } = value;
  return {
    ...fields,
    id: asId(id),
    version,
    shutOuts: value.shutOuts ?? 0,
    tenant: asId(value.tenant),
    parentId: value.parentId === null ? null : asId(value.parentId),
  };
}
