import type { TenantHibernation, TenantState } from '../../domain/tenant-state.ts';
import type { TenantId, UserId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import type { DocumentStore, Stored } from '../../storage/ports/document-store.ts';
import type { OwnedCollection } from '../../storage/ports/owned-collection.ts';
import { repository } from '../base/repository.ts';

/** Without the fields of sleep in tenants that no resource was ever declared for: those are active. */
type TenantDocument = Omit<NewTenant, 'id'>;

export const tenantsCollection: OwnedCollection<TenantDocument> = {
  name: 'tenants',
  level: 'system',
  owner: 'auth',
  readers: ['ingest'],
  belongsTo: 'system',
  indexes: [{ fields: ['ownerId'] }],
};

export interface Tenant {
  readonly id: TenantId;
  /** Not unique: the wire contract lets names repeat. */
  readonly name: string;
  readonly ownerId: UserId;
  readonly createdAt: string;
  readonly state: TenantState;
  /** Null: it is not hibernated automatically. */
  readonly hibernation: TenantHibernation | null;
  /** At most a minute too early; null: not known. */
  readonly lastUsedAt: string | null;
  /** Hibernated because it was idle. */
  readonly isAsleep: boolean;
  /** `namespace/name` of the resource that managed it last and released it. */
  readonly releasedFrom?: string;
}

type Sleep = Pick<Tenant, 'state' | 'hibernation' | 'lastUsedAt' | 'isAsleep'>;

/** Active, unless it says otherwise. */
type NewTenant = Omit<Tenant, keyof Sleep> & Partial<Sleep>;

export type Tenants = ReturnType<typeof createTenants>;

/** Tenants other than the personal space, which has no document. Writes are committed by the caller, under any scope. */
export function createTenants(store: DocumentStore) {
  const records = repository(store, tenantsCollection, tenantOf);
  return {
    get: (id: TenantId) => records.get(SYSTEM_SCOPE, id),
    getMany: (ids: readonly TenantId[]) => records.getMany(SYSTEM_SCOPE, ids),
    ownedBy: (user: UserId) => records.all(SYSTEM_SCOPE, { where: { ownerId: user } }),
    insertWrite: ({ id, ...document }: NewTenant) => records.insertWrite(id, document),
    /** `VersionConflictError` in the commit when the tenant is gone. */
    changeWrite: (id: TenantId, change: Partial<Pick<Tenant, 'name' | 'ownerId' | 'releasedFrom'> & Sleep>) =>
      records.updateWrite(id, { set: change, required: true }),
    /** `VersionConflictError` in the commit when it was used since it was read. */
    unusedWrite: ({ id, lastUsedAt }: Tenant) => records.updateWrite(id, { where: { lastUsedAt }, required: true }),
    /** `VersionConflictError` in the commit when it does not sleep. */
    wakeWrite: (id: TenantId, at: string) =>
      records.updateWrite(id, {
        where: { isAsleep: true },
        set: { state: 'Active', isAsleep: false, lastUsedAt: at },
        required: true,
      }),
    /** `VersionConflictError` in the commit when the tenant is gone or has another owner. */
    transferWrite: ({ id, ownerId }: Tenant, owner: UserId) =>
      records.updateWrite(id, { where: { ownerId }, set: { ownerId: owner }, required: true }),
    removeWrite: (id: TenantId) => records.removeWrite(id),
  };
}

function tenantOf({ id, value }: Stored<TenantDocument>): Tenant {
  const { state = 'Active', hibernation = null, lastUsedAt = null, isAsleep = false } = value;
  return { ...value, id: asId(id), state, hibernation, lastUsedAt, isAsleep };
}
