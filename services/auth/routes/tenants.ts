import { z } from 'zod';
import { asId } from '../../common/kernel/ids.ts';
import { PERSONAL_TENANT, wireTenant } from '../../common/kernel/scope.ts';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { inTenant, ofAccount } from '../../common/platform/http/route-permission.ts';
import type { AuthDependencies } from '../model.ts';
import { presentMember, presentTenant } from '../presenters/permissions.ts';
import { addMember, removeMember } from '../tenants/manage-tenant.ts';
import { membersOfTenant } from '../tenants/tenant-directory.ts';
import { createTenant, ownTenants, selectTenant } from '../tenants/tenants.ts';
import {
  createTenantQuery,
  joinTenantQuery,
  memberParams,
  message,
  selectTenantBody,
  tenantMemberParams,
  tenantMemberRecord,
  tenantMessage,
  tenantParams,
  tenantRecord,
} from './tenant.schema.ts';

/** Tenants and their members. */
export function tenantRoutes(deps: AuthDependencies): readonly Route[] {
  return [create(deps), select(deps), listOwn(deps), listMembers(deps), add(deps), remove(deps)];
}

const path = '/api/v1/permissions';
const tag = 'permissions';

function create(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'POST',
    path: `${path}/tenants`,
    tag,
    operationId: 'createTenant',
    summary: 'Create a tenant, own it and work in it',
    auth: 'user',
    permission: ofAccount('account'),
    query: createTenantQuery,
    responses: {
      200: { description: 'The id of the tenant', schema: tenantMessage },
      403: { description: 'Only superusers create tenants on this server' },
    },
    async handle({ principal, query }) {
      const { id } = await createTenant(deps, principal, query.tenant_name);
      return json({ message: 'Tenant created.', tenant_id: id });
    },
  });
}

function select(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'POST',
    path: `${path}/tenants/select`,
    tag,
    operationId: 'selectTenant',
    idempotent: true,
    summary: 'Work in another tenant, or, with null, in the personal space',
    auth: 'user',
    permission: ofAccount('account'),
    body: { kind: 'json', schema: selectTenantBody },
    responses: {
      200: { description: 'The tenant; `None` for the personal space', schema: tenantMessage },
      404: { description: 'Unknown, or the caller is not a member' },
    },
    async handle({ principal, body }) {
      const tenant = body.tenant_id === undefined ? PERSONAL_TENANT : asId<typeof PERSONAL_TENANT>(body.tenant_id);
      await selectTenant(deps, principal, tenant);
      return json({ message: 'Tenant selected.', tenant_id: wireTenant(tenant) ?? 'None' });
    },
  });
}

function listOwn(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: `${path}/tenants/me`,
    tag,
    operationId: 'listOwnTenants',
    summary: 'Tenants the caller belongs to',
    auth: 'user',
    permission: ofAccount('account'),
    responses: { 200: { description: 'In the order of joining', schema: z.array(tenantRecord) } },
    async handle({ principal }) {
      return json((await ownTenants(deps, principal)).map(presentTenant));
    },
  });
}

function listMembers(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: `${path}/tenants/:tenantId/users`,
    tag,
    operationId: 'listTenantMembers',
    summary: 'Members of a tenant with their roles',
    auth: 'user',
    permission: inTenant('manage_users'),
    params: tenantParams,
    responses: {
      200: { description: 'In the order of joining', schema: z.array(tenantMemberRecord) },
      403: { description: 'The caller may not manage users' },
      404: { description: 'Unknown tenant' },
    },
    async handle({ principal, params }) {
      return json((await membersOfTenant(deps, principal, asId(params.tenantId))).map(presentMember));
    },
  });
}

function add(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'POST',
    path: `${path}/users/:userId/tenants`,
    tag,
    operationId: 'addTenantMember',
    summary: 'Add a user to a tenant',
    auth: 'user',
    permission: inTenant('manage_users'),
    params: memberParams,
    query: joinTenantQuery,
    responses: {
      200: { description: 'Added', schema: message },
      403: { description: 'The caller may not manage users' },
      404: { description: 'Unknown user or tenant' },
      409: { description: 'A member already' },
    },
    async handle({ principal, params, query }) {
      await addMember(deps, principal, { tenant: asId(query.tenant_id), user: asId(params.userId) });
      return json({ message: 'User added to tenant' });
    },
  });
}

function remove(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'DELETE',
    path: `${path}/tenants/:tenantId/users/:userId`,
    tag,
    operationId: 'removeTenantMember',
    summary: 'Remove a user from a tenant, with everything the user and the user’s agents have there',
    auth: 'user',
    permission: inTenant('manage_users'),
    params: tenantMemberParams,
    responses: {
      200: { description: 'Removed', schema: message },
      400: { description: 'The owner cannot be removed' },
      403: { description: 'The caller may not manage users' },
      404: { description: 'Unknown tenant or user, or not a member' },
    },
    async handle({ principal, params }) {
      await removeMember(deps, principal, { tenant: asId(params.tenantId), user: asId(params.userId) });
      return json({ message: 'User removed from tenant' });
    },
  });
}
