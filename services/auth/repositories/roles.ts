import type { RoleId, TenantId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import { repository } from '../../common/records/base/repository.ts';
import type { DocumentStore, Stored } from '../../common/storage/ports/document-store.ts';
import type { OwnedCollection } from '../../common/storage/ports/owned-collection.ts';

type RoleDocument = Omit<Role, 'id' | 'tenant'> & { readonly tenantId: TenantId };

export const rolesCollection: OwnedCollection<RoleDocument> = {
  name: 'roles',
  level: 'system',
  owner: 'auth',
  belongsTo: { tenant: 'tenantId' },
  indexes: [{ fields: ['tenantId', 'name'], unique: true }],
};

export interface Role {
  readonly id: RoleId;
  readonly tenant: TenantId;
  readonly name: string;
  readonly createdAt: string;
}

/** Named groups of users within a tenant. */
export function createRoles(store: DocumentStore) {
  const records = repository(store, rolesCollection, roleOf);
  return {
    get: (id: RoleId) => records.get(SYSTEM_SCOPE, id),
    getMany: (ids: readonly RoleId[]) => records.getMany(SYSTEM_SCOPE, ids),
    findByName: (tenant: TenantId, name: string) => records.first(SYSTEM_SCOPE, { where: { tenantId: tenant, name } }),
    /** By name. */
    ofTenant: (tenant: TenantId) =>
      records.all(SYSTEM_SCOPE, {
        where: { tenantId: tenant },
        sort: [{ field: 'tenantId' }, { field: 'name' }],
      }),
    /** `DuplicateKeyError` in the commit when the tenant has a role of the name. */
    insertWrite: ({ id, tenant, ...role }: Role) => records.insertWrite(id, { ...role, tenantId: tenant }),
    /** `VersionConflictError` in the commit when the role is gone. */
    touchWrite: (id: RoleId) => records.updateWrite(id, { required: true }),
    /** `VersionConflictError` in the commit when the role is gone, `DuplicateKeyError` for a name in use. */
    renameWrite: (id: RoleId, name: string) => records.updateWrite(id, { set: { name }, required: true }),
    removeWrite: (id: RoleId) => records.removeWrite(id),
  };
}

function roleOf({ id, value: { tenantId: tenant, ...role } }: Stored<RoleDocument>): Role {
  return { ...role, id: asId(id), tenant };
}
