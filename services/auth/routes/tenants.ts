import { z } from 'zod';
import { asId } from '../../common/kernel/ids.ts';
import { PERSONAL_TENANT, wireTenant } from '../../common/kernel/scope.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
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

const path = '/api/v1/permissions';

const { routes, get, post, remove } = routesOf<AuthDependencies>({ tag: 'permissions' });

/** Tenants and their members. */
export const tenantRoutes = routes(
  post(`${path}/tenants`, 'createTenant', {
    summary: 'Create a tenant, own it and work in it',
    permission: ofAccount('account'),
    query: createTenantQuery,
    responses: {
      200: { description: 'The id of the tenant', schema: tenantMessage },
      403: { description: 'Only superusers create tenants on this server' },
    },
    async handle({ principal, query }, deps) {
      const { id } = await createTenant(deps, principal, query.tenant_name);
      return json({ message: 'Tenant created.', tenant_id: id });
    },
  }),
  post(`${path}/tenants/select`, 'selectTenant', {
    idempotent: true,
    summary: 'Work in another tenant, or, with null, in the personal space',
    permission: ofAccount('account'),
    body: { kind: 'json', schema: selectTenantBody },
    responses: {
      200: { description: 'The tenant; `None` for the personal space', schema: tenantMessage },
      404: { description: 'Unknown, or the caller is not a member' },
    },
    async handle({ principal, body }, deps) {
      const tenant = body.tenant_id === undefined ? PERSONAL_TENANT : asId<typeof PERSONAL_TENANT>(body.tenant_id);
      await selectTenant(deps, principal, tenant);
      return json({ message: 'Tenant selected.', tenant_id: wireTenant(tenant) ?? 'None' });
    },
  }),
  get(`${path}/tenants/me`, 'listOwnTenants', {
    summary: 'Tenants the caller belongs to',
    permission: ofAccount('account'),
    responses: { 200: { description: 'In the order of joining', schema: z.array(tenantRecord) } },
    handle: async ({ principal }, deps) => json((await ownTenants(deps, principal)).map(presentTenant)),
  }),
  get(`${path}/tenants/:tenantId/users`, 'listTenantMembers', {
    summary: 'Members of a tenant with their roles',
    permission: inTenant('manage_users'),
    params: tenantParams,
    responses: {
      200: { description: 'In the order of joining', schema: z.array(tenantMemberRecord) },
      403: { description: 'The caller may not manage users' },
      404: { description: 'Unknown tenant' },
    },
    handle: async ({ principal, params }, deps) =>
      json((await membersOfTenant(deps, principal, asId(params.tenantId))).map(presentMember)),
  }),
  post(`${path}/users/:userId/tenants`, 'addTenantMember', {
    summary: 'Add a user to a tenant',
    permission: inTenant('manage_users'),
    params: memberParams,
    query: joinTenantQuery,
    responses: {
      200: { description: 'Added', schema: message },
      403: { description: 'The caller may not manage users' },
      404: { description: 'Unknown user or tenant' },
      409: { description: 'A member already' },
    },
    async handle({ principal, params, query }, deps) {
      await addMember(deps, principal, { tenant: asId(query.tenant_id), user: asId(params.userId) });
      return json({ message: 'User added to tenant' });
    },
  }),
  remove(`${path}/tenants/:tenantId/users/:userId`, 'removeTenantMember', {
    summary: 'Remove a user from a tenant, with everything the user and the user’s agents have there',
    permission: inTenant('manage_users'),
    params: tenantMemberParams,
    responses: {
      200: { description: 'Removed', schema: message },
      400: { description: 'The owner cannot be removed' },
      403: { description: 'The caller may not manage users' },
      404: { description: 'Unknown tenant or user, or not a member' },
    },
    async handle({ principal, params }, deps) {
      await removeMember(deps, principal, { tenant: asId(params.tenantId), user: asId(params.userId) });
      return json({ message: 'User removed from tenant' });
    },
  }),
);
