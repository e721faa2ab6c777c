import { emailKey } from '../../domain/email-address.ts';
import type { TenantId, UserId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import type { Principal } from '../../kernel/principal.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { DocumentStore, Stored, Write } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';

/** Stored in place of a hash: no password ever matches. Agents and the default account of the open mode have it. */
export const NO_PASSWORD = '!';

type UserDocument = Omit<User, 'id' | 'version' | 'sessionEpoch'> & {
  /** `emailKey(email)`: two addresses that differ only in case are one account. */
  readonly emailKey: string;
  /** `sessionEpoch` of the user; absent in the oldest accounts, which counts as 0. */
  readonly shutOuts?: number;
};

/** Not a tenant's: a person keeps one account in all of them. */
export const usersCollection: OwnedCollection<UserDocument> = {
  name: 'users',
  level: 'system',
  owner: 'auth',
  readers: ['ingest', 'search'],
  belongsTo: 'system',
  indexes: [{ fields: ['emailKey'], unique: true }, { fields: ['parentId'] }, { fields: ['isSuperuser', 'createdAt'] }],
};

export interface User {
  readonly id: UserId;
  /** Version of the document, for `replaceWrite`. */
  readonly version: number;
  readonly email: string;
  /** PHC string, or `NO_PASSWORD`. */
  readonly passwordHash: string;
  readonly isActive: boolean;
  readonly isSuperuser: boolean;
  readonly isVerified: boolean;
  /** The tenant the user works in now. */
  readonly tenant: TenantId;
  /** Set for agents: the user they work for. */
  readonly parentId: UserId | null;
  /** Counts keys made, so that two requests cannot both take the last free place. */
  readonly keysMade: number;
  /** Grows with each deactivation: tokens and mails that were issued before it stay invalid. */
  readonly sessionEpoch: number;
  readonly createdAt: string;
  readonly updatedAt: string | null;
}

export type NewUser = Omit<User, 'version' | 'keysMade' | 'sessionEpoch' | 'updatedAt'>;

export type Users = ReturnType<typeof createUsers>;

/** Accounts. The writes are committed by the caller, under any scope, together with their events. */
export function createUsers(store: DocumentStore) {
  const records = repository(store, usersCollection, userOf);
  return {
    get: (id: UserId) => records.get(SYSTEM_SCOPE, id),
    /** Unknown ids are left out; the order is that of `ids`. */
    getMany: (ids: readonly UserId[]) => records.getMany(SYSTEM_SCOPE, ids),
    async findByEmail(address: string): Promise<User | null> {
      return records.first(SYSTEM_SCOPE, { where: { emailKey: emailKey(address) } });
    },
    /** Whether there is any account. */
    async exist(): Promise<boolean> {
      return (await records.first(SYSTEM_SCOPE, {})) !== null;
    },
    /** Accounts that are no agents, in the order of their ids. */
    people: (page: { readonly limit: number; readonly after: string | null }) =>
      records.page(SYSTEM_SCOPE, { where: { parentId: { exists: false } }, ...page }),
    /** Ids of the agents that work for a user. */
    async childAgents(parent: UserId): Promise<readonly UserId[]> {
      return (await records.all(SYSTEM_SCOPE, { where: { parentId: parent } })).map(({ id }) => id);
    },
    /** The agents that work for a user, oldest first. */
    async agentsOf(parent: UserId): Promise<readonly User[]> {
      const children = await records.all(SYSTEM_SCOPE, { where: { parentId: parent } });
      return children.toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : 1));
    },
    /** Active ones, oldest first. */
    async superusers(): Promise<readonly User[]> {
      const sort = [{ field: 'isSuperuser' }, { field: 'createdAt' }] as const;
      const found = await records.all(SYSTEM_SCOPE, { where: { isSuperuser: true }, sort });
      return found.filter(({ isActive }) => isActive);
    },
    /** `DuplicateKeyError` in the commit when the address is taken. */
    insertWrite: ({ id, ...user }: NewUser) =>
      records.insertWrite(id, documentOf({ ...user, keysMade: 0, sessionEpoch: 0, updatedAt: null })),
    /** `VersionConflictError` in the commit when the account changed since it was read. */
    replaceWrite({ id, version, ...user }: User): Write {
      // Here, so that no way of making an account inactive can forget it.
      const sessionEpoch = user.sessionEpoch + (user.isActive ? 0 : 1);
      return records.replaceWrite(id, documentOf({ ...user, sessionEpoch }), version);
    },
    /**
     * For a commit that gives the account something: it fails with `VersionConflictError` when the account is gone or is not as
     * demanded, and a deletion or deactivation that read the account before is repeated.
     */
    touchWrite: (id: UserId, demanded: Partial<Pick<User, 'isActive' | 'isSuperuser' | 'tenant'>> = {}) =>
      records.updateWrite(id, { where: demanded, required: true }),
    /** `VersionConflictError` in the commit when the account changed since it was read. */
    removeWrite: ({ id, version }: User) => records.removeWrite(id, version),
  };
}

export function principalOf(user: User): Principal {
  const { id, email, tenant, isSuperuser, parentId } = user;
  return { id, email, tenant, isSuperuser, parentId };
}

function documentOf({ sessionEpoch: shutOuts, ...user }: Omit<User, 'id' | 'version'>): UserDocument {
  return { ...user, shutOuts, emailKey: emailKey(user.email) };
}

function userOf({ id, version, value }: Stored<UserDocument>): User {
  const { emailKey: _, shutOuts: sessionEpoch = 0, ...fields } = value;
  return { ...fields, id: asId(id), version, sessionEpoch };
}
