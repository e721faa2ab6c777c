import type { TenantId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { Tenant } from '../../common/records/auth/tenants.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../model.ts';
import { requireUser } from './memberships.ts';

/**
 * Creates a tenant; its creator owns it, becomes a member and works in it from now on. Names may repeat.
 * `PermissionDeniedError` when only superusers create tenants.
 */
export async function createTenant(deps: AuthDependencies, principal: Principal, name: string): Promise<Tenant> {
  const { users, tenants, memberships, eventLog, clock, settings } = deps;
  if (settings.tenantCreation === 'superusers' && !principal.isSuperuser) {
    throw engramError('PermissionDeniedError', 'Only superusers create tenants on this server.');
  }
  const id = asId<TenantId>(deps.ids.uuid());
  const createdAt = clock.now().toISOString();
  const tenant: Tenant = {
    id,
    name,
    ownerId: principal.id,
    createdAt,
    state: 'Active',
    hibernation: null,
    lastUsedAt: null,
    isAsleep: false,
  };
  return retryOnConflict(async () => {
    const user = await requireUser(deps, principal.id);
    const writes = [
      users.replaceWrite({ ...user, tenant: id }),
      tenants.insertWrite(tenant),
      memberships.insertWrite(id, principal.id, tenant.createdAt),
      ...eventLog.appendWrites({ tenant: id }, [
        { type: 'tenant.created', subjectId: id, data: { ownerId: principal.id } },
        { type: 'membership.added', subjectId: principal.id, data: {} },
      ]),
    ];
    const entry = { tenant: id, action: 'tenant.created', actor: principal.id, subject: id, details: { name } };
    await deps.audit.commit({ tenant: id }, writes, [entry]);
    deps.notify.userChanged(principal.id);
    return tenant;
  });
}

/**
 * Changes the tenant that the principal works in, or returns it to the personal space. Data of other tenants is hidden from
 * then on. `TenantNotFoundError` for a non-member and for an unknown tenant.
 */
export async function selectTenant(deps: AuthDependencies, principal: Principal, tenant: TenantId): Promise<void> {
  await retryOnConflict(async () => {
    const user = await requireUser(deps, principal.id);
    if (user.tenant === tenant) return;
    const writes = [deps.users.replaceWrite({ ...user, tenant }), ...(await residenceWrites(deps, user, tenant))];
    await deps.store.commit({ tenant: PERSONAL_TENANT }, writes);
    deps.notify.userChanged(principal.id);
  });
}

/** Lists the tenants that the principal belongs to, in the order of joining. */
export async function ownTenants(deps: AuthDependencies, principal: Principal): Promise<readonly Tenant[]> {
  return deps.tenants.getMany(await deps.memberships.tenantsOf(principal.id));
}

/** Writes that make the switch conflict with an end of the membership. */
async function residenceWrites(
  { memberships }: AuthDependencies,
  user: User,
  tenant: TenantId,
): Promise<readonly Write[]> {
  if (tenant === PERSONAL_TENANT) return [];
  if (await memberships.has(tenant, user.id)) return [memberships.touchWrite(tenant, user.id)];
  throw engramError('TenantNotFoundError', 'User is not part of the tenant.');
}
