import type { RoleId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { repository } from '../../common/records/base/repository.ts';
import type { DocumentStore, Stored } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';
import type { Role } from './roles.ts';

type RoleMemberDocument = {
  readonly roleId: string;
  readonly tenantId: string;
  readonly userId: string;
};

export const roleMembersCollection: OwnedCollection<RoleMemberDocument> = {
  name: 'role_members',
  level: 'system',
  owner: 'auth',
  belongsTo: { user: 'userId', tenant: 'tenantId' },
  indexes: [{ fields: ['userId', 'tenantId'] }, { fields: ['roleId'] }, { fields: ['tenantId'] }],
};

interface RoleMember {
  readonly role: RoleId;
  readonly user: UserId;
}

/** The users who have roles. */
export function createRoleMembers(store: DocumentStore) {
  const records = repository(store, roleMembersCollection, roleMemberOf);
  return {
    async has(role: RoleId, user: UserId): Promise<boolean> {
      return (await records.get(SYSTEM_SCOPE, roleMemberId(role, user))) !== null;
    },
    /** Roles of the user in a tenant, or in all tenants. */
    async rolesOf(user: UserId, tenant?: TenantId): Promise<readonly RoleId[]> {
      const where = { userId: user, ...(tenant === undefined ? {} : { tenantId: tenant }) };
      const found = await records.all(SYSTEM_SCOPE, { where });
      return found.map(({ role }) => role);
    },
    async usersOf(role: RoleId): Promise<readonly UserId[]> {
      const found = await records.all(SYSTEM_SCOPE, { where: { roleId: role } });
      return found.map(({ user }) => user);
    },
    /** All role memberships in a tenant. */
    ofTenant: (tenant: TenantId) => records.all(SYSTEM_SCOPE, { where: { tenantId: tenant } }),
    /** `DuplicateKeyError` in the commit for a user who has the role already. */
    insertWrite: ({ id, tenant }: Role, user: UserId) =>
      records.insertWrite(roleMemberId(id, user), { roleId: id, tenantId: tenant, userId: user }),
    removeWrite: (role: RoleId, user: UserId) => records.removeWrite(roleMemberId(role, user)),
    removeAllOfRoleWrite: (role: RoleId) => records.removeWhereWrite({ roleId: role }),
    /** In one tenant, or in all tenants. */
    removeAllOfUserWrite: (user: UserId, tenant?: TenantId) =>
      records.removeWhereWrite({ userId: user, ...(tenant === undefined ? {} : { tenantId: tenant }) }),
  };
}

function roleMemberOf({ value: { roleId, userId } }: Stored<RoleMemberDocument>): RoleMember {
  return { role: asId(roleId), user: asId(userId) };
}

function roleMemberId(role: RoleId, user: UserId): string {
  return `${role}/${user}`;
}
