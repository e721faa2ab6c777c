import { z } from 'zod';
import type { TenantId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT, wireTenant } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { inTenant, ofAccount } from '../../common/platform/http/route-permission.ts';
import type { Tenant } from '../../common/records/auth/tenants.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { AuthDependencies } from '../model.ts';
import { presentMember, presentTenant } from '../presenters/permissions.ts';
import { addMember, removeMember } from '../tenants/manage-tenant.ts';
import { requireUser } from '../tenants/memberships.ts';
import { membersOfTenant } from '../tenants/tenant-directory.ts';
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

/**
 * Creates a tenant; its creator owns it, becomes a member and works in it from now on. Names may repeat.
 * `PermissionDeniedError` when only superusers create tenants.
 */
async function createTenant(deps: AuthDependencies, principal: Principal, name: string): Promise<Tenant> {
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
async function selectTenant(deps: AuthDependencies, principal: Principal, tenant: TenantId): Promise<void> {
  await retryOnConflict(async () => {
    const user = await requireUser(deps, principal.id);
    if (user.tenant === tenant) return;
    const writes = [deps.users.replaceWrite({ ...user, tenant }), ...(await residenceWrites(deps, user, tenant))];
    await deps.store.commit({ tenant: PERSONAL_TENANT }, writes);
    deps.notify.userChanged(principal.id);
  });
}

/** Lists the tenants that the principal belongs to, in the order of joining. */
async function ownTenants(deps: AuthDependencies, principal: Principal): Promise<readonly Tenant[]> {
  return deps.tenants.getMany(await deps.memberships.tenantsOf(principal.id));
}

/** Writes that make the switch conflict with an end of the membership. */
async function residenceWrites({ memberships }: AuthDependencies, user: User, tenant: TenantId) {
  if (tenant === PERSONAL_TENANT) return [];
  if (await memberships.has(tenant, user.id)) return [memberships.touchWrite(tenant, user.id)];
  throw engramError('TenantNotFoundError', 'User is not part of the tenant.');
}
