import { z } from 'zod';
import type { TenantId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { inTenant } from '../../common/platform/http/route-permission.ts';
import { optional, uuid } from '../../common/platform/http/schema.ts';
import { grantCapabilities, ownCapabilities, revokeCapabilities } from '../access/capabilities.ts';
import type { AuthDependencies } from '../model.ts';
import { principalParams } from './dataset-grant.schema.ts';
import { message, tenantParams } from './tenant.schema.ts';

/** May be repeated; any text, since unknown capabilities have their own error. */
const capabilityQuery = z.object({ capability: z.array(z.string()), tenant_id: optional(uuid()) });

const ownCapabilitiesRecord = z.object({ capabilities: z.array(z.string()) });

const path = '/api/v1/permissions';

const { routes, get, post, remove } = routesOf<AuthDependencies>({ tag: 'permissions' });

/** Capabilities of users, roles and whole tenants. */
export const capabilityRoutes = routes(
  post(`${path}/capabilities/:principalId`, 'grantCapabilities', {
    idempotent: true,
    summary: 'Grant capabilities to a user, a role or a tenant',
    permission: inTenant('grant_capabilities', 'in the tenant, and every capability given'),
    params: principalParams,
    query: capabilityQuery,
    responses: {
      200: { description: 'Granted', schema: message },
      400: { description: 'Unknown capability' },
      403: { description: 'The caller may not, or the principal is unknown' },
    },
    async handle({ principal, params, query }, deps) {
      await grantCapabilities(deps, requestOf(principal, params.principalId, query));
      return json({ message: 'Capability granted.' });
    },
  }),
  remove(`${path}/capabilities/:principalId`, 'revokeCapabilities', {
    summary: 'Revoke capabilities from a user, a role or a tenant',
    permission: inTenant('revoke_capabilities'),
    params: principalParams,
    query: capabilityQuery,
    responses: {
      200: { description: 'Revoked; the principal may not have had them', schema: message },
      400: { description: 'Unknown capability' },
      403: { description: 'The caller may not, or the principal is unknown' },
    },
    async handle({ principal, params, query }, deps) {
      await revokeCapabilities(deps, requestOf(principal, params.principalId, query));
      return json({ message: 'Capability revoked.' });
    },
  }),
  get(`${path}/tenants/:tenantId/capabilities/me`, 'listOwnCapabilities', {
    summary: 'Own capabilities in a tenant',
    permission: inTenant('member'),
    params: tenantParams,
    responses: {
      200: { description: 'Sorted', schema: ownCapabilitiesRecord },
      403: { description: 'The caller is not a member, or the tenant is unknown' },
    },
    handle: async ({ principal, params }, deps) =>
      json({ capabilities: await ownCapabilities(deps, principal, asId(params.tenantId)) }),
  }),
);

function requestOf(principal: Principal, holder: string, query: z.output<typeof capabilityQuery>) {
  const tenant = query.tenant_id === undefined ? undefined : asId<TenantId>(query.tenant_id);
  return { principal, holder, capabilities: query.capability, tenant };
}
