import { z } from 'zod';
import { shownAgentAddress } from '../../common/domain/agent-address.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { uuid } from '../../common/platform/http/schema.ts';
import { datasetHolders, grantDatasets, principalDatasets, revokeDatasets } from '../access/dataset-grants.ts';
import type { AuthDependencies } from '../model.ts';
import { presentGrantedDataset } from '../presenters/permissions.ts';
import {
  datasetPrincipalRecord,
  grantBody,
  grantedDatasetRecord,
  grantedQuery,
  grantQuery,
  principalParams,
} from './dataset-grant.schema.ts';
import { message } from './tenant.schema.ts';

const path = '/api/v1/permissions';

const { routes, get, post, remove } = routesOf<AuthDependencies>({ tag: 'permissions' });

/** Permissions on datasets. */
export const datasetGrantRoutes = routes(
  post(`${path}/datasets/:principalId`, 'grantDatasets', {
    idempotent: true,
    summary: 'Grant a user, a role or a tenant one permission on datasets',
    permission: onDatasets('share', 'on every dataset'),
    params: principalParams,
    query: grantQuery,
    body: { kind: 'json', schema: grantBody },
    responses: {
      200: { description: 'Granted on all of them', schema: message },
      403: { description: 'A dataset cannot be shared by the caller, or the permission is unknown' },
      404: { description: 'Unknown principal' },
    },
    async handle({ principal, params, query, body }, deps) {
      const request = { principal, holder: params.principalId, permission: query.permission_name, datasets: body };
      await grantDatasets(deps, request);
      return json({ message: 'Permission assigned to principal' });
    },
  }),
  remove(`${path}/datasets/:principalId`, 'revokeDatasets', {
    summary: 'Revoke one permission on datasets from a user, a role or a tenant',
    permission: onDatasets('share', 'on every dataset'),
    params: principalParams,
    query: grantQuery,
    body: { kind: 'json', schema: grantBody },
    responses: {
      200: { description: 'Revoked; the principal may not have had it', schema: message },
      403: { description: 'A dataset cannot be shared by the caller, or the permission is unknown' },
      404: { description: 'Unknown principal' },
    },
    async handle({ principal, params, query, body }, deps) {
      const request = { principal, holder: params.principalId, permission: query.permission_name, datasets: body };
      await revokeDatasets(deps, request);
      return json({ message: 'Permission revoked from principal' });
    },
  }),
  get(`${path}/principals/:principalId/datasets`, 'listGrantedDatasets', {
    summary: 'Datasets of the current tenant that a principal was granted',
    permission: onDatasets('read', 'granted to the caller; manage_users for other users'),
    params: principalParams,
    query: grantedQuery,
    responses: {
      200: { description: 'Oldest first; none for an unknown permission', schema: z.array(grantedDatasetRecord) },
      403: { description: 'Another user, role or tenant whose datasets the caller may not see' },
      404: { description: 'Unknown principal, a role of another tenant, or no current tenant' },
    },
    async handle({ principal, params, query }, deps) {
      const request = { holder: params.principalId, permission: query.permission_name };
      return json((await principalDatasets(deps, principal, request)).map(presentGrantedDataset));
    },
  }),
  get(`${path}/datasets/:datasetId/principals`, 'listDatasetPrincipals', {
    summary: 'Users, roles and tenants that were granted something on a dataset',
    permission: onDatasets('share'),
    params: z.object({ datasetId: uuid() }),
    responses: {
      200: { description: 'With their permissions', schema: z.array(datasetPrincipalRecord) },
      403: { description: 'The dataset is unknown or cannot be shared by the caller' },
    },
    handle: async ({ principal, params }, deps) =>
      json((await datasetHolders(deps, principal, params.datasetId)).map(presentHolder)),
  }),
);

function presentHolder({ holder, permissions }: Awaited<ReturnType<typeof datasetHolders>>[number]) {
  const { id, kind } = holder;
  const name =
    kind === 'user' ? shownAgentAddress(holder.user.email) : kind === 'role' ? holder.role.name : holder.tenant.name;
  return { id, kind, name, permissions: [...permissions] };
}
