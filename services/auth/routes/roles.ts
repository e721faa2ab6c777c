import { z } from 'zod';
import { asId } from '../../common/kernel/ids.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { inTenant } from '../../common/platform/http/route-permission.ts';
import { uuid } from '../../common/platform/http/schema.ts';
import type { AuthDependencies } from '../model.ts';
import { presentCountedRole, presentRole, presentRoleUser } from '../presenters/permissions.ts';
import { addRole, assignRole, removeRole, withdrawRole } from '../tenants/manage-tenant.ts';
import { rolesInTenant, rolesOfMember, usersWithRole } from '../tenants/tenant-directory.ts';
import { memberParams, message, tenantMemberParams, tenantParams } from './tenant.schema.ts';

const roleParams = z.object({ roleId: uuid() });
const tenantRoleParams = z.object({ tenantId: uuid(), roleId: uuid() });

const createRoleQuery = z.object({ role_name: z.string() });
const assignRoleQuery = z.object({ role_id: uuid() });

const createdRole = message.extend({ role_id: z.string(), tenant_id: z.string() });
const roleRecord = z.object({ id: z.string(), name: z.string() });
const countedRoleRecord = roleRecord.extend({ description: z.null(), user_count: z.number() });
const roleUserRecord = z.object({ id: z.string(), name: z.string() });

const path = '/api/v1/permissions';

const { routes, get, post, remove } = routesOf<AuthDependencies>({ tag: 'permissions' });

/** Roles of tenants and their members. */
export const roleRoutes = routes(
  post(`${path}/roles`, 'createRole', {
    summary: 'Create a role in the current tenant',
    permission: inTenant('manage_users', 'in the current tenant'),
    query: createRoleQuery,
    responses: {
      200: { description: 'The ids of the role and its tenant', schema: createdRole },
      403: { description: 'The caller may not manage users' },
      404: { description: 'No current tenant' },
      409: { description: 'The name is in use' },
    },
    async handle({ principal, query }, deps) {
      const { id, tenant } = await addRole(deps, principal, query.role_name);
      return json({ message: 'Role created for tenant', role_id: id, tenant_id: tenant });
    },
  }),
  remove(`${path}/roles/:roleId`, 'deleteRole', {
    summary: 'Delete a role with its members, grants and capabilities',
    permission: inTenant('manage_users', 'in the tenant of the role'),
    params: roleParams,
    responses: {
      200: { description: 'Deleted', schema: message },
      403: { description: 'The caller may not manage users' },
      404: { description: 'Unknown role' },
    },
    async handle({ principal, params }, deps) {
      await removeRole(deps, principal, asId(params.roleId));
      return json({ message: 'Role deleted' });
    },
  }),
  post(`${path}/users/:userId/roles`, 'assignRole', {
    idempotent: true,
    summary: 'Assign a role to a member of its tenant',
    permission: inTenant('manage_users', 'in the tenant of the role, and every capability of the role'),
    params: memberParams,
    query: assignRoleQuery,
    responses: {
      200: { description: 'Granted', schema: message },
      403: { description: 'The caller may not manage users, or the role can do more than the caller' },
      404: { description: 'Unknown user or role, or the user is not a member of its tenant' },
      409: { description: 'The user has the role' },
    },
    async handle({ principal, params, query }, deps) {
      await assignRole(deps, principal, { user: asId(params.userId), role: asId(query.role_id) });
      return json({ message: 'User added to role' });
    },
  }),
  remove(`${path}/users/:userId/roles`, 'unassignRole', {
    summary: 'Take a role from a user',
    permission: inTenant('manage_users', 'in the tenant of the role'),
    params: memberParams,
    query: assignRoleQuery,
    responses: {
      200: { description: 'Revoked; the user may not have had it', schema: message },
      403: { description: 'The caller may not manage users' },
      404: { description: 'Unknown user or role' },
    },
    async handle({ principal, params, query }, deps) {
      await withdrawRole(deps, principal, { user: asId(params.userId), role: asId(query.role_id) });
      return json({ message: 'User removed from role' });
    },
  }),
  get(`${path}/tenants/:tenantId/roles`, 'listRoles', {
    summary: 'Roles of a tenant; own ones only for those who may not manage users',
    permission: inTenant('member', 'in the tenant; manage_users for all roles'),
    params: tenantParams,
    responses: {
      200: { description: 'By name', schema: z.array(countedRoleRecord) },
      404: { description: 'Unknown tenant' },
    },
    handle: async ({ principal, params }, deps) =>
      json((await rolesInTenant(deps, principal, asId(params.tenantId))).map(presentCountedRole)),
  }),
  // Before the route of members: `/roles/users/…`.,
  get(`${path}/tenants/:tenantId/roles/users/:userId`, 'listRolesOfUser', {
    summary: 'Roles that a member has in a tenant',
    permission: inTenant('manage_users'),
    params: tenantMemberParams,
    responses: {
      200: { description: 'By name', schema: z.array(roleRecord) },
      403: { description: 'The caller may not manage users' },
      404: { description: 'Unknown tenant, or the user is not a member' },
    },
    async handle({ principal, params }, deps) {
      const { tenantId, userId } = params;
      const roles = await rolesOfMember(deps, principal, { tenant: asId(tenantId), user: asId(userId) });
      return json(roles.map(presentRole));
    },
  }),
  get(`${path}/tenants/:tenantId/roles/:roleId/users`, 'listUsersOfRole', {
    summary: 'Users that have a role',
    permission: inTenant('member', 'with the role; else manage_users'),
    params: tenantRoleParams,
    responses: {
      200: { description: 'The users', schema: z.array(roleUserRecord) },
      403: { description: 'The caller neither has the role nor may manage users' },
      404: { description: 'Unknown role, or one of another tenant' },
    },
    async handle({ principal, params }, deps) {
      const { tenantId, roleId } = params;
      const users = await usersWithRole(deps, principal, { tenant: asId(tenantId), role: asId(roleId) });
      return json(users.map(presentRoleUser));
    },
  }),
);
