import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { repository } from '../../common/records/base/repository.ts';
import type { DocumentStore, Stored } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

type MembershipDocument = {
  readonly tenantId: string;
  readonly userId: string;
  readonly createdAt: string;
};

export const membershipsCollection: OwnedCollection<MembershipDocument> = {
  name: 'memberships',
  level: 'system',
  owner: 'auth',
  belongsTo: { user: 'userId', tenant: 'tenantId' },
  indexes: [{ fields: ['userId', 'createdAt'] }, { fields: ['tenantId', 'createdAt'] }],
};

/** Members of tenants, their owners included. The personal space has no members. */
export function createMemberships(store: DocumentStore) {
  const records = repository(store, membershipsCollection, membershipOf);
  return {
    has: async (tenant: TenantId, user: UserId) =>
      (await records.get(SYSTEM_SCOPE, membershipId(tenant, user))) !== null,
    /** In the order in which the user joined. */
    async tenantsOf(user: UserId): Promise<readonly TenantId[]> {
      const found = await records.all(SYSTEM_SCOPE, {
        where: { userId: user },
        sort: [{ field: 'userId' }, { field: 'createdAt' }],
      });
      return found.map(({ tenant }) => tenant);
    },
    /** In the order in which they joined. */
    async usersOf(tenant: TenantId): Promise<readonly UserId[]> {
      const found = await records.all(SYSTEM_SCOPE, {
        where: { tenantId: tenant },
        sort: [{ field: 'tenantId' }, { field: 'createdAt' }],
      });
      return found.map(({ user }) => user);
    },
    /** `DuplicateKeyError` in the commit for an existing member. */
    insertWrite: (tenant: TenantId, user: UserId, createdAt: string) =>
      records.insertWrite(membershipId(tenant, user), { tenantId: tenant, userId: user, createdAt }),
    /** `VersionConflictError` in the commit when the membership has ended. */
    touchWrite: (tenant: TenantId, user: UserId) => records.updateWrite(membershipId(tenant, user), { required: true }),
    removeWrite: (tenant: TenantId, user: UserId) => records.removeWrite(membershipId(tenant, user)),
  };
}

function membershipOf({ value: { tenantId, userId } }: Stored<MembershipDocument>) {
  return { tenant: asId<TenantId>(tenantId), user: asId<UserId>(userId) };
}

function membershipId(tenant: TenantId, user: UserId): string {
  return `${tenant}/${user}`;
}
