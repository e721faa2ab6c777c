import { keyAccount } from '../../common/domain/budget.ts';
import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { removeOfWrite } from '../../common/records/collections.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import { deleteUser } from '../accounts/delete-user.ts';
import { tenantRecordCollections } from '../collections.ts';
import type { AuthDependencies } from '../dependencies.ts';

/** What ends with a tenant, and the tenant itself, so that nothing can come after. */
export async function tenantBelongingsWrites(deps: AuthDependencies, tenant: TenantId): Promise<readonly Write[]> {
  const keys = await deps.apiKeys.ofTenant(tenant);
  const accounts = [`tenant/${tenant}` as const, ...keys.map(({ id }) => keyAccount(id))];
  return [
    ...tenantRecordCollections.map((collection) => removeOfWrite(collection, 'tenant', tenant)),
    ...accounts.flatMap((account) => deps.budgets.removeWrites(account)),
    deps.tenants.removeWrite(tenant),
  ];
}

/** Ends all memberships: whoever worked there works in its personal space, and agents that lived there go. How many. */
export async function removeInhabitants(deps: AuthDependencies, tenant: TenantId): Promise<number> {
  const members = await deps.memberships.usersOf(tenant);
  for (const member of members) {
    const agents = await deps.users.agentsOf(member);
    for (const agent of agents) if (agent.tenant === tenant) await deleteUser(deps, agent.id, null);
    await moveOut(deps, tenant, member);
  }
  return members.length;
}

async function moveOut(deps: AuthDependencies, tenant: TenantId, id: UserId): Promise<void> {
  await retryOnConflict(async () => {
    const user = await deps.users.get(id);
    const writes = [
      ...(user?.tenant === tenant ? [deps.users.replaceWrite({ ...user, tenant: PERSONAL_TENANT })] : []),
      deps.memberships.removeWrite(tenant, id),
      ...deps.eventLog.appendWrites({ tenant }, [{ type: 'membership.removed', subjectId: id, data: {} }]),
    ];
    await deps.audit.commit({ tenant }, writes, [
      { tenant, action: 'membership.removed', actor: null, subject: id, details: { reason: 'erasure' } },
    ]);
    deps.news.userChanged(id);
  });
}
