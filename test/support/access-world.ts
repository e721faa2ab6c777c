import { randomUUID } from 'node:crypto';
import { createGrants } from '../../services/auth/repositories/grants.ts';
import { createMemberships } from '../../services/auth/repositories/memberships.ts';
import { createRoleMembers } from '../../services/auth/repositories/role-members.ts';
import { createRoles, type Role } from '../../services/auth/repositories/roles.ts';
import type { TenantId, UserId } from '../../services/common/kernel/brand.ts';
import type { DatasetRef } from '../../services/common/kernel/dataset.ts';
import { asId, datasetId } from '../../services/common/kernel/ids.ts';
import { createDatasets } from '../../services/common/records/auth/datasets.ts';
import { createTenants } from '../../services/common/records/auth/tenants.ts';
import { createUsers, type NewUser, NO_PASSWORD } from '../../services/common/records/auth/users.ts';
import type { DocumentStore } from '../../services/common/storage/ports/document-store.ts';

/** Initial data for access tests. */
export interface AccessWorld {
  readonly root: NewUser;
  /** Users who work in the first tenant, which ada owns; bob owns the second one. */
  readonly ada: NewUser;
  readonly bob: NewUser;
  readonly eve: NewUser;
  readonly first: TenantId;
  readonly second: TenantId;
  readonly memberships: readonly (readonly [UserId, TenantId])[];
  /** A role of the first tenant, which bob has. */
  readonly role: Role;
  /** A dataset of ada in the first tenant; eve and the members of the role may read it. */
  readonly dataset: DatasetRef;
}

const CREATED_AT = '2026-01-02T03:04:05.678Z';
const READ = { permission: 'read', isGiven: true } as const;

/** Writes the data in one commit. */
export async function writeAccessWorld(store: DocumentStore): Promise<AccessWorld> {
  const [first, second] = [asId<TenantId>(randomUUID()), asId<TenantId>(randomUUID())];
  const [root, ada, bob, eve] = [accountIn(first), accountIn(first), accountIn(first), accountIn(first)];
  const memberships = [
    [ada.id, first] as const,
    [bob.id, first] as const,
    [eve.id, first] as const,
    [bob.id, second] as const,
  ];
  const role: Role = { id: asId(randomUUID()), tenant: first, name: 'readers', createdAt: CREATED_AT };
  const about = { ownerId: ada.id, tenant: first, createdAt: CREATED_AT, updatedAt: null };
  const dataset: DatasetRef = { id: datasetId('a', ada.id, first), name: 'a', ...about };
  const [users, tenants, grants] = [createUsers(store), createTenants(store), createGrants(store)];
  const shared = [
    await grants.changes({ tenant: first }, [dataset.id], { holder: eve.id, ...READ }),
    await grants.changes({ tenant: first }, [dataset.id], { holder: role.id, ...READ }),
  ];
  await store.commit({ tenant: first }, [
    ...[{ ...root, isSuperuser: true }, ada, bob, eve].map((user) => users.insertWrite(user)),
    tenants.insertWrite({ id: first, name: 'first', ownerId: ada.id, createdAt: CREATED_AT }),
    tenants.insertWrite({ id: second, name: 'second', ownerId: bob.id, createdAt: CREATED_AT }),
    ...memberships.map(([user, tenant]) => createMemberships(store).insertWrite(tenant, user, CREATED_AT)),
    createRoles(store).insertWrite(role),
    createRoleMembers(store).insertWrite(role, bob.id),
    createDatasets(store).insertWrite(dataset),
    ...grants.insertAllWrites(dataset.id, [ada.id]),
    ...shared.flat().flatMap(({ writes }) => writes),
  ]);
  return { root, ada, bob, eve, first, second, memberships, role, dataset };
}

function accountIn(tenant: TenantId): NewUser {
  const id = asId<UserId>(randomUUID());
  const flags = { isActive: true, isSuperuser: false, isVerified: false };
  const rest = { passwordHash: NO_PASSWORD, parentId: null, createdAt: CREATED_AT };
  return { id, email: `${id}@example.com`, tenant, ...flags, ...rest };
}
