import { z } from 'zod';
import { asId } from '../../common/kernel/ids.ts';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { inTenant } from '../../common/platform/http/route-permission.ts';
import { optional, uuid } from '../../common/platform/http/schema.ts';
import { grantCapabilities, ownCapabilities, revokeCapabilities } from '../access/capabilities.ts';
import type { AuthDependencies } from '../model.ts';
import { principalParams } from './dataset-grant.schema.ts';
import { message, tenantParams } from './tenant.schema.ts';

/** May be repeated; any text, since unknown capabilities have their own error. */
const capabilityQuery = z.object({ capability: z.array(z.string()), tenant_id: optional(uuid()) });

const ownCapabilitiesRecord = z.object({ capabilities: z.array(z.string()) });

/** Capabilities of users, roles and whole tenants. */
export function capabilityRoutes(deps: AuthDependencies): readonly Route[] {
  return [grant(deps), revoke(deps), listOwn(deps)];
}

const path = '/api/v1/permissions';
const tag = 'permissions';

function grant(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'POST',
    path: `${path}/capabilities/:principalId`,
    tag,
    operationId: 'grantCapabilities',
    idempotent: true,
    summary: 'Grant capabilities to a user, a role or a tenant',
    auth: 'user',
    permission: inTenant('grant_capabilities', 'in the tenant, and every capability given'),
    params: principalParams,
    query: capabilityQuery,
    responses: {
      200: { description: 'Granted', schema: message },
      400: { description: 'Unknown capability' },
      403: { description: 'The caller may not, or the principal is unknown' },
    },
    async handle({ principal, params, query }) {
      const tenant = query.tenant_id === undefined ? undefined : asId<typeof principal.tenant>(query.tenant_id);
      const request = { principal, holder: params.principalId, capabilities: query.capability, tenant };
      await grantCapabilities(deps, request);
      return json({ message: 'Capability granted.' });
    },
  });
}

function revoke(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'DELETE',
    path: `${path}/capabilities/:principalId`,
    tag,
    operationId: 'revokeCapabilities',
    summary: 'Revoke capabilities from a user, a role or a tenant',
    auth: 'user',
    permission: inTenant('revoke_capabilities'),
    params: principalParams,
    query: capabilityQuery,
    responses: {
      200: { description: 'Revoked; the principal may not have had them', schema: message },
      400: { description: 'Unknown capability' },
      403: { description: 'The caller may not, or the principal is unknown' },
    },
    async handle({ principal, params, query }) {
      const tenant = query.tenant_id === undefined ? undefined : asId<typeof principal.tenant>(query.tenant_id);
      const request = { principal, holder: params.principalId, capabilities: query.capability, tenant };
      await revokeCapabilities(deps, request);
      return json({ message: 'Capability revoked.' });
    },
  });
}

function listOwn(deps: AuthDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: `${path}/tenants/:tenantId/capabilities/me`,
    tag,
    operationId: 'listOwnCapabilities',
    summary: 'Own capabilities in a tenant',
    auth: 'user',
    permission: inTenant('member'),
    params: tenantParams,
    responses: {
      200: { description: 'Sorted', schema: ownCapabilitiesRecord },
      403: { description: 'The caller is not a member, or the tenant is unknown' },
    },
    async handle({ principal, params }) {
      return json({ capabilities: await ownCapabilities(deps, principal, asId(params.tenantId)) });
    },
  });
}
