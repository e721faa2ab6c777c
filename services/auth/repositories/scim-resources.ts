import { emailKey } from '../../common/domain/email-address.ts';
import type { RoleId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { repository } from '../../common/records/base/repository.ts';
import type { DocumentStore, Stored } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

type ScimUserDocument = Omit<ScimUser, 'tenant' | 'user'> & {
  readonly tenantId: TenantId;
  readonly userId: UserId;
  /** `userName` in lower case, as names are compared. */
  readonly userNameKey: string;
};

type ScimGroupDocument = Omit<ScimGroup, 'tenant' | 'role'> & { readonly tenantId: TenantId };

export const scimUsersCollection: OwnedCollection<ScimUserDocument> = {
  name: 'scim_users',
  level: 'system',
  owner: 'auth',
  belongsTo: { user: 'userId', tenant: 'tenantId' },
  indexes: [
    { fields: ['tenantId', 'userNameKey'], unique: true },
    { fields: ['tenantId', 'externalId'] },
    { fields: ['userId'] },
  ],
};

export const scimGroupsCollection: OwnedCollection<ScimGroupDocument> = {
  name: 'scim_groups',
  level: 'system',
  owner: 'auth',
  belongsTo: { tenant: 'tenantId' },
  indexes: [{ fields: ['tenantId'] }],
};

interface ScimUser {
  readonly tenant: TenantId;
  readonly user: UserId;
  readonly userName: string;
  readonly externalId: string | null;
  /** The tenant's directory created the account and therefore controls it. */
  readonly isProvisioned: boolean;
  /** The directory deactivated the account, so it may activate it again. */
  readonly isSuspended: boolean;
  /** The attributes of the person beyond the account: RFC 7643 attributes by their names. */
  readonly profile: JsonObject;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface StoredScimUser extends ScimUser {
  /** Version of the document, for `replaceUserWrite`. */
  readonly version: number;
}

export interface ScimGroup {
  readonly tenant: TenantId;
  readonly role: RoleId;
  readonly externalId: string | null;
  readonly updatedAt: string;
}

/** Users and roles as the directories of tenants know them; each tenant has its own. */
export function createScimResources(store: DocumentStore) {
  const scimUsers = repository(store, scimUsersCollection, userOf);
  const scimGroups = repository(store, scimGroupsCollection, groupOf);
  const usersWhere = async (where: { tenantId: string; userNameKey?: string; externalId?: string }) =>
    await scimUsers.all(SYSTEM_SCOPE, { where });
  return {
    user: (tenant: TenantId, user: UserId) => scimUsers.get(SYSTEM_SCOPE, userKey(tenant, user)),
    async userByName(tenant: TenantId, userName: string): Promise<StoredScimUser | null> {
      const [found] = await usersWhere({ tenantId: tenant, userNameKey: emailKey(userName) });
      return found ?? null;
    },
    usersByExternalId: (tenant: TenantId, externalId: string) => usersWhere({ tenantId: tenant, externalId }),
    usersOf: (tenant: TenantId) => usersWhere({ tenantId: tenant }),
    /** `DuplicateKeyError` in the commit for a user or a name that the directory has already. */
    insertUserWrite: (user: ScimUser) => scimUsers.insertWrite(userKey(user.tenant, user.user), documentOf(user)),
    /** `VersionConflictError` in the commit when it changed since it was read; `DuplicateKeyError` for a name in use. */
    replaceUserWrite: ({ version, ...user }: StoredScimUser) =>
      scimUsers.replaceWrite(userKey(user.tenant, user.user), documentOf(user), version),
    removeUserWrite: (tenant: TenantId, user: UserId) => scimUsers.removeWrite(userKey(tenant, user)),
    groupsOf: (tenant: TenantId) => scimGroups.all(SYSTEM_SCOPE, { where: { tenantId: tenant } }),
    group: (role: RoleId) => scimGroups.get(SYSTEM_SCOPE, role),
    /** Replaces an earlier record. */
    groupWrites: ({ tenant, role, externalId, updatedAt }: ScimGroup) => [
      scimGroups.removeWrite(role),
      scimGroups.insertWrite(role, { tenantId: tenant, externalId, updatedAt }),
    ],
    removeGroupWrite: (role: RoleId) => scimGroups.removeWrite(role),
  };
}

function userKey(tenant: TenantId, user: UserId): string {
  return `${tenant}/${user}`;
}

function documentOf({ tenant, user, ...fields }: ScimUser): ScimUserDocument {
  return { ...fields, tenantId: tenant, userId: user, userNameKey: emailKey(fields.userName) };
}

function userOf({ version, value }: Stored<ScimUserDocument>): StoredScimUser {
  const { tenantId: tenant, userId: user, userNameKey: _, ...fields } = value;
  return { ...fields, tenant, user, version };
}

function groupOf({ id, value: { tenantId: tenant, ...fields } }: Stored<ScimGroupDocument>): ScimGroup {
  return { ...fields, role: asId(id), tenant };
}
