import type { RoleId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { Tenant } from '../../common/records/auth/tenants.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../model.ts';
import type { Role } from '../repositories/roles.ts';
import { isInsider } from './tenant-authority.ts';

/** A user, a role or a tenant that can hold grants and capabilities. */
export type Holder =
  | { readonly kind: 'user'; readonly id: UserId; readonly user: User }
  | { readonly kind: 'role'; readonly id: RoleId; readonly role: Role }
  | { readonly kind: 'tenant'; readonly id: TenantId; readonly tenant: Tenant };

export async function findHolder({ users, roles, tenants }: AuthDependencies, id: string): Promise<Holder | null> {
  const [user, role, tenant] = await Promise.all([users.get(asId(id)), roles.get(asId(id)), tenants.get(asId(id))]);
  if (user !== null) return { kind: 'user', id: user.id, user };
  if (role !== null) return { kind: 'role', id: role.id, role };
  return tenant === null ? null : { kind: 'tenant', id: tenant.id, tenant };
}

/**
 * Returns the holder if the principal may know of it: any user, and the tenants and roles of tenants that the principal
 * belongs to.
 */
export async function findVisibleHolder(
  deps: AuthDependencies,
  principal: Pick<Principal, 'id' | 'tenant' | 'key'>,
  id: string,
): Promise<Holder | null> {
  const holder = await findHolder(deps, id);
  if (holder === null || holder.kind === 'user') return holder;
  const tenant = holder.kind === 'role' ? holder.role.tenant : holder.id;
  return (await isInsider(deps, principal, tenant)) ? holder : null;
}

/** A write that makes the commit fail when the holder is gone. */
export function holderWrite({ users, roles, tenants }: AuthDependencies, holder: Holder): Write {
  if (holder.kind === 'user') return users.touchWrite(holder.id);
  return holder.kind === 'role' ? roles.touchWrite(holder.id) : tenants.changeWrite(holder.id, {});
}

/** The users whose access changes with the holder's grants; null: everybody in the tenant. */
export function affectedUsers(holder: Holder): readonly UserId[] | null {
  if (holder.kind !== 'user') return null;
  const { id, parentId } = holder.user;
  // An agent's grants count for its parent too.
  return parentId === null ? [id] : [id, parentId];
}
