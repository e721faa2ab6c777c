import type { TenantHibernation, TenantState } from '../../domain/tenant-state.ts';
import type { TenantId, UserId } from '../../kernel/brand.ts';
import { asId } from '../../kernel/ids.ts';
import { SYSTEM_SCOPE } from '../../kernel/scope.ts';
import {
  type Collection,
  type DocumentStore,
  insert,
  remove,
  type Stored,
  update,
  type Write,
} from '../../storage/ports/document-store.ts';
import { findAll } from '../base/find-all.ts';

type TenantDocument = {
  /** Not unique: the wire contract lets names repeat. */
  readonly name: string;
  readonly ownerId: string;
  readonly createdAt: string;
  /** Missing in tenants that no resource was ever declared for: those are active. */
  readonly state?: TenantState;
  readonly hibernation?: TenantHibernation | null;
  /** At most a minute too early; null or missing where nobody needs to know. */
  readonly lastUsedAt?: string | null;
  /** Hibernated because nobody used it. */
  readonly isAsleep?: boolean;
  /** `namespace/name` of the resource that managed it last and released it. */
  readonly releasedFrom?: string;
};

export const tenantsCollection: Collection<TenantDocument> = {
  name: 'tenants',
  level: 'system',
  indexes: [{ fields: ['ownerId'] }],
};

export interface Tenant {
  readonly id: TenantId;
  readonly name: string;
  readonly ownerId: UserId;
  readonly createdAt: string;
  readonly state: TenantState;
  /** Null: it does not go to sleep by itself. */
  readonly hibernation: TenantHibernation | null;
  /** At most a minute too early; null: not known. */
  readonly lastUsedAt: string | null;
  /** Hibernated because nobody used it. */
  readonly isAsleep: boolean;
  /** `namespace/name` of the resource that managed it last and released it. */
  readonly releasedFrom?: string;
}

type Sleep = Pick<Tenant, 'state' | 'hibernation' | 'lastUsedAt' | 'isAsleep'>;

/** Active, unless it says otherwise. */
export type NewTenant = Omit<Tenant, keyof Sleep> & Partial<Sleep>;

/** Tenants other than the personal space, which has no document. Writes are committed by the caller, under any scope. */
export interface Tenants {
  get(id: TenantId): Promise<Tenant | null>;
  getMany(ids: readonly TenantId[]): Promise<readonly Tenant[]>;
  ownedBy(user: UserId): Promise<readonly Tenant[]>;
  insertWrite(tenant: NewTenant): Write;
  /** `VersionConflictError` in the commit when the tenant is gone. */
  changeWrite(id: TenantId, change: Partial<Pick<Tenant, 'name' | 'ownerId' | 'releasedFrom'> & Sleep>): Write;
  /** `VersionConflictError` in the commit when it was used since it was read. */
  unusedWrite(tenant: Tenant): Write;
  /** `VersionConflictError` in the commit when it does not sleep. */
  wakeWrite(id: TenantId, at: string): Write;
  /** `VersionConflictError` in the commit when the tenant is gone or has another owner. */
  passOnWrite(tenant: Tenant, owner: UserId): Write;
  removeWrite(id: TenantId): Write;
}

export function createTenants(store: DocumentStore): Tenants {
  return {
    async get(id) {
      const stored = await store.get(SYSTEM_SCOPE, tenantsCollection, id);
      return stored === null ? null : tenantOf(stored);
    },
    async getMany(ids) {
      return (await store.getMany(SYSTEM_SCOPE, tenantsCollection, ids)).map(tenantOf);
    },
    async ownedBy(user) {
      return (await findAll(store, SYSTEM_SCOPE, tenantsCollection, { where: { ownerId: user } })).map(tenantOf);
    },
    insertWrite: ({ id, ...document }) => insert(tenantsCollection, id, document),
    changeWrite: (id, change) => update(tenantsCollection, id, { set: change, required: true }),
    unusedWrite: ({ id, lastUsedAt }) => update(tenantsCollection, id, { where: { lastUsedAt }, required: true }),
    wakeWrite: (id, at) =>
      update(tenantsCollection, id, {
        where: { isAsleep: true },
        set: { state: 'Active', isAsleep: false, lastUsedAt: at },
        required: true,
      }),
    passOnWrite: ({ id, ownerId }, owner) =>
      update(tenantsCollection, id, { where: { ownerId }, set: { ownerId: owner }, required: true }),
    removeWrite: (id) => remove(tenantsCollection, id),
  };
}

function tenantOf({ id, value }: Stored<TenantDocument>): Tenant {
  const { state = 'Active', hibernation = null, lastUsedAt = null, isAsleep = false } = value;
  return { ...value, id: asId(id), ownerId: asId(value.ownerId), state, hibernation, lastUsedAt, isAsleep };
}
