import { expect } from 'chai';
import { capabilityGrantsCollection } from '../../services/auth/repositories/capability-grants.ts';
import { grantsCollection } from '../../services/auth/repositories/grants.ts';
import { membershipsCollection } from '../../services/auth/repositories/memberships.ts';
import { roleMembersCollection } from '../../services/auth/repositories/role-members.ts';
import { rolesCollection } from '../../services/auth/repositories/roles.ts';
import type { JsonObject } from '../../services/common/kernel/json.ts';
import { SYSTEM_SCOPE } from '../../services/common/kernel/scope.ts';
import { datasetsCollection } from '../../services/common/records/auth/datasets.ts';
import { tenantsCollection } from '../../services/common/records/auth/tenants.ts';
import { usersCollection } from '../../services/common/records/auth/users.ts';
import { findAll } from '../../services/common/records/base/find-all.ts';
import type { AnyCollection, Collection, DocumentStore } from '../../services/common/storage/ports/document-store.ts';

/**
 * Expects no grant, role membership or membership of a removed dataset, holder or role: a later one of the same id would get
 * it.
 */
export async function expectNoRemains(store: DocumentStore): Promise<void> {
  const [users, tenants, roles] = [
    await idsOf(store, usersCollection),
    await idsOf(store, tenantsCollection),
    await idsOf(store, rolesCollection),
  ];
  const datasets = await idsOf(store, datasetsCollection);
  const memberships = await idsOf(store, membershipsCollection);
  const isHolder = (id: string) => [users, tenants, roles].some((ids) => ids.has(id));
  for (const { datasetId, holderId } of await valuesOf(store, grantsCollection)) {
    expect(datasets.has(datasetId), `a grant on the dataset ${datasetId}`).to.equal(true);
    expect(isHolder(holderId), `a grant of ${holderId}`).to.equal(true);
  }
  for (const { roleId, tenantId, userId } of await valuesOf(store, roleMembersCollection)) {
    expect(roles.has(roleId), `a member of the role ${roleId}`).to.equal(true);
    expect(memberships.has(`${tenantId}/${userId}`), `a role of ${userId} outside its tenant`).to.equal(true);
  }
  for (const { tenantId, userId } of await valuesOf(store, membershipsCollection)) {
    expect(users.has(userId) && tenants.has(tenantId), `the membership ${tenantId}/${userId}`).to.equal(true);
  }
  for (const { holderId } of await valuesOf(store, capabilityGrantsCollection)) {
    expect(isHolder(holderId), `a capability of ${holderId}`).to.equal(true);
  }
}

async function idsOf(store: DocumentStore, collection: AnyCollection): Promise<ReadonlySet<string>> {
  return new Set((await findAll(store, SYSTEM_SCOPE, collection)).map(({ id }) => id));
}

async function valuesOf<T extends JsonObject>(store: DocumentStore, collection: Collection<T>): Promise<readonly T[]> {
  return (await findAll(store, SYSTEM_SCOPE, collection)).map(({ value }) => value);
}
