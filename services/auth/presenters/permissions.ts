import type { DatasetRef } from '../../common/domain/dataset.ts';
import { wireTenant } from '../../common/domain/scope.ts';
import type { Role } from '../../common/repositories/roles.ts';
import type { Tenant } from '../../common/repositories/tenants.ts';
import type { User } from '../../common/repositories/users.ts';
import type { MemberWithRoles, RoleWithCount } from '../usecases/tenant-directory.ts';

export function presentTenant({ id, name }: Tenant) {
  return { id, name };
}

export function presentRole({ id, name }: Role) {
  return { id, name };
}

export function presentCountedRole({ role, userCount }: RoleWithCount) {
  return { ...presentRole(role), description: null, user_count: userCount };
}

export function presentMember({ user, roles }: MemberWithRoles) {
  return { id: user.id, email: user.email, roles: roles.map(presentRole) };
}

/** In lists of a role users go by their address. */
export function presentRoleUser({ id, email }: User) {
  return { id, name: email };
}

/** The personal space is the text `None` here (auth-integrations.md §3.2). */
export function presentGrantedDataset({ id, name, createdAt, updatedAt, ownerId, tenant }: DatasetRef) {
  return { id, name, createdAt, updatedAt, ownerId, tenantId: wireTenant(tenant) ?? 'None', data: [] };
}
