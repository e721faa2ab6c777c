import type { RoleId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { findAll } from '../../common/records/base/find-all.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  removeWhere,
  type Write,
} from '../../common/storage/ports/document-store.ts';
import type { Role } from './roles.ts';

type RoleMemberDocument = {
  readonly roleId: string;
  readonly tenantId: string;
  readonly userId: string;
};

export const roleMembersCollection: Collection<RoleMemberDocument> = {
  name: 'role_members',
  level: 'system',
  indexes: [{ fields: ['userId', 'tenantId'] }, { fields: ['roleId'] }, { fields: ['tenantId'] }],
};

export interface RoleMember {
  readonly role: RoleId;
  readonly user: UserId;
}

/** Which users have which roles. */
export interface RoleMembers {
  has(role: RoleId, user: UserId): Promise<boolean>;
  /** Roles of the user in a tenant, or in all of them. */
  rolesOf(user: UserId, tenant?: TenantId): Promise<readonly RoleId[]>;
  usersOf(role: RoleId): Promise<readonly UserId[]>;
  /** Everybody's roles in a tenant. */
  ofTenant(tenant: TenantId): Promise<readonly RoleMember[]>;
  /** `DuplicateKeyError` in the commit for a user who has the role. */
  insertWrite(role: Pick<Role, 'id' | 'tenant'>, user: UserId): Write;
  removeWrite(role: RoleId, user: UserId): Write;
  removeAllOfRoleWrite(role: RoleId): Write;
  /** In one tenant, or in all of them. */
  removeAllOfUserWrite(user: UserId, tenant?: TenantId): Write;
}

export function createRoleMembers(store: DocumentStore): RoleMembers {
  return {
    async has(role, user) {
      return (await store.get(SYSTEM_SCOPE, roleMembersCollection, roleMemberId(role, user))) !== null;
    },
    async rolesOf(user, tenant) {
      const where = { userId: user, ...(tenant === undefined ? {} : { tenantId: tenant }) };
      const found = await findAll(store, SYSTEM_SCOPE, roleMembersCollection, { where });
      return found.map(({ value }) => asId<RoleId>(value.roleId));
    },
    async usersOf(role) {
      const found = await findAll(store, SYSTEM_SCOPE, roleMembersCollection, { where: { roleId: role } });
      return found.map(({ value }) => asId<UserId>(value.userId));
    },
    async ofTenant(tenant) {
      const found = await findAll(store, SYSTEM_SCOPE, roleMembersCollection, { where: { tenantId: tenant } });
      return found.map(({ value }) => ({ role: asId<RoleId>(value.roleId), user: asId<UserId>(value.userId) }));
    },
    insertWrite: ({ id, tenant }, user) =>
      insert(roleMembersCollection, roleMemberId(id, user), { roleId: id, tenantId: tenant, userId: user }),
    removeWrite: (role, user) => remove(roleMembersCollection, roleMemberId(role, user)),
    removeAllOfRoleWrite: (role) => removeWhere(roleMembersCollection, { roleId: role }),
    removeAllOfUserWrite: (user, tenant) =>
      removeWhere(roleMembersCollection, { userId: user, ...(tenant === undefined ? {} : { tenantId: tenant }) }),
  };
}

function roleMemberId(role: RoleId, user: UserId): string {
  return `${role}/${user}`;
}
