import type { RoleId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { findAll } from '../../common/records/base/find-all.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  removeWhere,
  replace,
  type Stored,
  type Write,
} from '../../common/storage/ports/document-store.ts';

type ScimUserDocument = {
  readonly tenantId: string;
  readonly userId: string;
  readonly userName: string;
  /** `userName` as names are compared: without regard to case. */
  readonly userNameKey: string;
  readonly externalId: string | null;
  /** The account was made by this tenant's directory, which so decides over it. */
  readonly isProvisioned: boolean;
  /** The account was deactivated by the directory, which alone it may undo. */
  readonly isSuspended: boolean;
  /** What the directory says of the person beyond the account: RFC 7643 attributes by their names. */
  readonly profile: JsonObject;
  readonly createdAt: string;
  readonly updatedAt: string;
};

type ScimGroupDocument = {
  readonly tenantId: string;
  readonly externalId: string | null;
  readonly updatedAt: string;
};

export const scimUsersCollection: Collection<ScimUserDocument> = {
  name: 'scim_users',
  level: 'system',
  indexes: [
    { fields: ['tenantId', 'userNameKey'], unique: true },
    { fields: ['tenantId', 'externalId'] },
    { fields: ['userId'] },
  ],
};

export const scimGroupsCollection: Collection<ScimGroupDocument> = {
  name: 'scim_groups',
  level: 'system',
  indexes: [{ fields: ['tenantId'] }],
};

export interface ScimUser {
  readonly tenant: TenantId;
  readonly user: UserId;
  readonly userName: string;
  readonly externalId: string | null;
  readonly isProvisioned: boolean;
  readonly isSuspended: boolean;
  readonly profile: JsonObject;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface StoredScimUser extends ScimUser {
  /** Of the document, for `replaceUserWrite`. */
  readonly version: number;
}

export interface ScimGroup {
  readonly tenant: TenantId;
  readonly role: RoleId;
  readonly externalId: string | null;
  readonly updatedAt: string;
}

/** What the directories of tenants know of users and roles: by tenant, each of them for itself. */
export interface ScimResources {
  user(tenant: TenantId, user: UserId): Promise<StoredScimUser | null>;
  userByName(tenant: TenantId, userName: string): Promise<StoredScimUser | null>;
  usersByExternalId(tenant: TenantId, externalId: string): Promise<readonly StoredScimUser[]>;
  usersOf(tenant: TenantId): Promise<readonly StoredScimUser[]>;
  /** `DuplicateKeyError` in the commit for a user or a name that the directory has. */
  insertUserWrite(user: ScimUser): Write;
  /** `VersionConflictError` in the commit when it changed since it was read; `DuplicateKeyError` for a name in use. */
  replaceUserWrite(user: StoredScimUser): Write;
  removeUserWrite(tenant: TenantId, user: UserId): Write;
  /** In every directory. */
  removeAllOfUserWrite(user: UserId): Write;
  groupsOf(tenant: TenantId): Promise<readonly ScimGroup[]>;
  group(role: RoleId): Promise<ScimGroup | null>;
  /** In place of what was there. */
  groupWrites(group: ScimGroup): readonly Write[];
  removeGroupWrite(role: RoleId): Write;
}

export function createScimResources(store: DocumentStore): ScimResources {
  const usersWhere = async (where: { tenantId: string; userNameKey?: string; externalId?: string }) =>
    (await findAll(store, SYSTEM_SCOPE, scimUsersCollection, { where })).map(userOf);
  return {
    async user(tenant, user) {
      const stored = await store.get(SYSTEM_SCOPE, scimUsersCollection, userKey(tenant, user));
      return stored === null ? null : userOf(stored);
    },
    async userByName(tenant, userName) {
      const [found] = await usersWhere({ tenantId: tenant, userNameKey: userNameKey(userName) });
      return found ?? null;
    },
    usersByExternalId: (tenant, externalId) => usersWhere({ tenantId: tenant, externalId }),
    usersOf: (tenant) => usersWhere({ tenantId: tenant }),
    insertUserWrite: (user) => insert(scimUsersCollection, userKey(user.tenant, user.user), documentOf(user)),
    replaceUserWrite: (user) =>
      replace(scimUsersCollection, userKey(user.tenant, user.user), documentOf(user), user.version),
    removeUserWrite: (tenant, user) => remove(scimUsersCollection, userKey(tenant, user)),
    removeAllOfUserWrite: (user) => removeWhere(scimUsersCollection, { userId: user }),
    async groupsOf(tenant) {
      const found = await findAll(store, SYSTEM_SCOPE, scimGroupsCollection, { where: { tenantId: tenant } });
      return found.map(groupOf);
    },
    async group(role) {
      const stored = await store.get(SYSTEM_SCOPE, scimGroupsCollection, role);
      return stored === null ? null : groupOf(stored);
    },
    groupWrites: ({ tenant, role, externalId, updatedAt }) => [
      remove(scimGroupsCollection, role),
      insert(scimGroupsCollection, role, { tenantId: tenant, externalId, updatedAt }),
    ],
    removeGroupWrite: (role) => remove(scimGroupsCollection, role),
  };
}

function userNameKey(userName: string): string {
  return userName.trim().normalize('NFKC').toLowerCase();
}

function userKey(tenant: TenantId, user: UserId): string {
  return `${tenant}/${user}`;
}

function documentOf({ tenant, user, userName, externalId, isProvisioned, ...rest }: ScimUser): ScimUserDocument {
  const { isSuspended, profile, createdAt, updatedAt } = rest;
  const names = { userName, userNameKey: userNameKey(userName), externalId };
  return { tenantId: tenant, userId: user, ...names, isProvisioned, isSuspended, profile, createdAt, updatedAt };
}

function userOf({ version, value }: Stored<ScimUserDocument>): StoredScimUser {
  const { tenantId, userId, userNameKey: _, ...fields } = value;
  return { ...fields, tenant: asId(tenantId), user: asId(userId), version };
}

function groupOf({ id, value: { tenantId, externalId, updatedAt } }: Stored<ScimGroupDocument>): ScimGroup {
  return { role: asId(id), tenant: asId(tenantId), externalId, updatedAt };
}
