import type { TenantId, UserId } from '../../common/kernel/brand.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import type { Tenant } from '../../common/records/auth/tenants.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { authorityIn } from '../tenants/tenant-authority.ts';
import { ensureDefaultUser } from './default-user.ts';

/** Accounts that go, and who removes them. */
export interface Departure {
  /** The account and its agents: none of them inherits from another. */
  readonly leaving: ReadonlySet<UserId>;
  /** The acting user; null for the system. */
  readonly by: UserId | null;
}

/**
 * Who gets a dataset of an account that goes: the parent of an agent, else the owner of the dataset's tenant, else the
 * acting superuser (decisions.md, "deleted owner"). A parent who does not belong to the tenant could not reach it there.
 */
export async function heirOfDataset(
  deps: AuthDependencies,
  owner: Pick<User, 'parentId'>,
  { tenant, departure }: { readonly tenant: TenantId; readonly departure: Departure },
): Promise<UserId> {
  const { parentId } = owner;
  if (parentId !== null && (await canInherit(deps, parentId, departure))) {
    if (tenant === PERSONAL_TENANT || (await deps.memberships.has(tenant, parentId))) return parentId;
  }
  const tenantOwner = tenant === PERSONAL_TENANT ? undefined : (await deps.tenants.get(tenant))?.ownerId;
  if (tenantOwner !== undefined && (await canInherit(deps, tenantOwner, departure))) return tenantOwner;
  return actingSuperuser(deps, departure);
}

/** Who gets a tenant: the member of longest standing who manages its users, else the acting superuser. */
export async function heirOfTenant(deps: AuthDependencies, tenant: Tenant, departure: Departure): Promise<UserId> {
  for (const id of await deps.memberships.usersOf(tenant.id)) {
    if (departure.leaving.has(id)) continue;
    const member = await deps.users.get(id);
    if (member === null || !member.isActive || member.parentId !== null) continue;
    if ((await authorityIn(deps, id, tenant)).allows('manage_users')) return id;
  }
  return actingSuperuser(deps, departure);
}

/** The acting user if it is a superuser, else the oldest one. A server without any gets its default account. */
async function actingSuperuser(deps: AuthDependencies, { leaving, by }: Departure): Promise<UserId> {
  const staying = (await deps.users.superusers()).filter(({ id }) => !leaving.has(id));
  const heir = staying.find(({ id }) => id === by) ?? staying[0] ?? (await ensureDefaultUser(deps));
  return heir.id;
}

async function canInherit({ users }: AuthDependencies, id: UserId, { leaving }: Departure): Promise<boolean> {
  return !leaving.has(id) && (await users.get(id)) !== null;
}
