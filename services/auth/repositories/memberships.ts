import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { findAll } from '../../common/records/base/find-all.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  removeWhere,
  update,
  type Write,
} from '../../common/storage/ports/document-store.ts';

type MembershipDocument = {
  readonly tenantId: string;
  readonly userId: string;
  readonly createdAt: string;
};

export const membershipsCollection: Collection<MembershipDocument> = {
  name: 'memberships',
  level: 'system',
  indexes: [{ fields: ['userId', 'createdAt'] }, { fields: ['tenantId', 'createdAt'] }],
};

/** Which users belong to which tenants; an owner is a member too. Nobody is a member of the personal space. */
export interface Memberships {
  has(tenant: TenantId, user: UserId): Promise<boolean>;
  /** In the order in which the user joined. */
  tenantsOf(user: UserId): Promise<readonly TenantId[]>;
  /** In the order in which they joined. */
  usersOf(tenant: TenantId): Promise<readonly UserId[]>;
  /** `DuplicateKeyError` in the commit for a member. */
  insertWrite(tenant: TenantId, user: UserId, createdAt: string): Write;
  /** Keeps the membership for the rest of the commit: `VersionConflictError` when it is gone. */
  touchWrite(tenant: TenantId, user: UserId): Write;
  removeWrite(tenant: TenantId, user: UserId): Write;
  removeAllOfUserWrite(user: UserId): Write;
}

export function createMemberships(store: DocumentStore): Memberships {
  return {
    async has(tenant, user) {
      return (await store.get(SYSTEM_SCOPE, membershipsCollection, membershipId(tenant, user))) !== null;
    },
    async tenantsOf(user) {
      const found = await findAll(store, SYSTEM_SCOPE, membershipsCollection, {
        where: { userId: user },
        sort: [{ field: 'userId' }, { field: 'createdAt' }],
      });
      return found.map(({ value }) => asId<TenantId>(value.tenantId));
    },
    async usersOf(tenant) {
      const found = await findAll(store, SYSTEM_SCOPE, membershipsCollection, {
        where: { tenantId: tenant },
        sort: [{ field: 'tenantId' }, { field: 'createdAt' }],
      });
      return found.map(({ value }) => asId<UserId>(value.userId));
    },
    insertWrite: (tenant, user, createdAt) =>
      insert(membershipsCollection, membershipId(tenant, user), { tenantId: tenant, userId: user, createdAt }),
    touchWrite: (tenant, user) => update(membershipsCollection, membershipId(tenant, user), { required: true }),
    removeWrite: (tenant, user) => remove(membershipsCollection, membershipId(tenant, user)),
    removeAllOfUserWrite: (user) => removeWhere(membershipsCollection, { userId: user }),
  };
}

function membershipId(tenant: TenantId, user: UserId): string {
  return `${tenant}/${user}`;
}
