import type { RoleId, TenantId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { findAll } from '../../common/records/base/find-all.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  type Stored,
  update,
  type Write,
} from '../../common/storage/ports/document-store.ts';

type RoleDocument = {
  readonly tenantId: string;
  readonly name: string;
  readonly createdAt: string;
};

export const rolesCollection: Collection<RoleDocument> = {
  name: 'roles',
  level: 'system',
  indexes: [{ fields: ['tenantId', 'name'], unique: true }],
};

export interface Role {
  readonly id: RoleId;
  readonly tenant: TenantId;
  readonly name: string;
  readonly createdAt: string;
}

/** Named groups of users within a tenant. */
export interface Roles {
  get(id: RoleId): Promise<Role | null>;
  getMany(ids: readonly RoleId[]): Promise<readonly Role[]>;
  findByName(tenant: TenantId, name: string): Promise<Role | null>;
  /** By name. */
  ofTenant(tenant: TenantId): Promise<readonly Role[]>;
  /** `DuplicateKeyError` in the commit when the tenant has a role of the name. */
  insertWrite(role: Role): Write;
  /** Keeps the role for the rest of the commit: `VersionConflictError` when it is gone. */
  touchWrite(id: RoleId): Write;
  /** `VersionConflictError` in the commit when the role is gone, `DuplicateKeyError` for a name in use. */
  renameWrite(id: RoleId, name: string): Write;
  removeWrite(id: RoleId): Write;
}

export function createRoles(store: DocumentStore): Roles {
  return {
    async get(id) {
      const stored = await store.get(SYSTEM_SCOPE, rolesCollection, id);
      return stored === null ? null : roleOf(stored);
    },
    async getMany(ids) {
      return (await store.getMany(SYSTEM_SCOPE, rolesCollection, ids)).map(roleOf);
    },
    async findByName(tenant, name) {
      const { items } = await store.find(SYSTEM_SCOPE, rolesCollection, {
        where: { tenantId: tenant, name },
        limit: 1,
      });
      return items[0] === undefined ? null : roleOf(items[0]);
    },
    async ofTenant(tenant) {
      const found = await findAll(store, SYSTEM_SCOPE, rolesCollection, {
        where: { tenantId: tenant },
        sort: [{ field: 'tenantId' }, { field: 'name' }],
      });
      return found.map(roleOf);
    },
    insertWrite: ({ id, tenant, name, createdAt }) =>
      insert(rolesCollection, id, { tenantId: tenant, name, createdAt }),
    touchWrite: (id) => update(rolesCollection, id, { required: true }),
    renameWrite: (id, name) => update(rolesCollection, id, { set: { name }, required: true }),
    removeWrite: (id) => remove(rolesCollection, id),
  };
}

function roleOf({ id, value: { tenantId, name, createdAt } }: Stored<RoleDocument>): Role {
  return { id: asId(id), tenant: asId(tenantId), name, createdAt };
}
