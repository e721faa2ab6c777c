import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { wireTenant } from '../../common/kernel/scope.ts';
import type { Tenant } from '../../common/records/auth/tenants.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { Role } from '../repositories/roles.ts';
import type { MemberWithRoles, RoleWithCount } from '../tenants/tenant-directory.ts';

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

/** Users in lists of a role are named by their address. */
export function presentRoleUser({ id, email }: User) {
  return { id, name: email };
}

/** The personal space is the text `None` here (proto/http/auth-integrations.md §3.2). */
export function presentGrantedDataset({ id, name, createdAt, updatedAt, ownerId, tenant }: DatasetRef) {
  return { id, name, createdAt, updatedAt, ownerId, tenantId: wireTenant(tenant) ?? 'None', data: [] };
}
