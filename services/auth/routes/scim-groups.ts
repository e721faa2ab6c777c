import { defineRoute, type Route } from '../../common/platform/http/route.ts';
import { onDemand } from '../../common/platform/lifecycle/on-demand.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { applyPatch, readOperations } from '../scim/apply-patch.ts';
import { readResource } from '../scim/fields.ts';
import { parseFilter } from '../scim/filter.ts';
import { presentGroup } from '../scim/group-resource.ts';
import { listResponse, pageOf } from '../scim/list-response.ts';
import { GROUP_TYPE } from '../scim/schema.ts';
import { isSelected, selectAttributes } from '../scim/selected-attributes.ts';
import { SCIM_PATH } from '../scim/user-resource.ts';
import {
  boundedCount,
  scimBody,
  scimId,
  scimListQuery,
  scimListResponse,
  scimResource,
  scimSelection,
} from './scim.schema.ts';
import { OF_DIRECTORY, scimReply } from './scim-reply.ts';

const directoryOf = onDemand(async () => (await import('../scim/scim-directory.ts')).directoryOf);
const changeGroup = onDemand(async () => (await import('../scim/scim-groups.ts')).changeGroup);
const createGroup = onDemand(async () => (await import('../scim/scim-groups.ts')).createGroup);
const groupsOf = onDemand(async () => (await import('../scim/scim-groups.ts')).groupsOf);
const removeGroup = onDemand(async () => (await import('../scim/scim-groups.ts')).removeGroup);
const requireGroup = onDemand(async () => (await import('../scim/scim-groups.ts')).requireGroup);

const path = `${SCIM_PATH}${GROUP_TYPE.endpoint}`;
const ONE = { ...OF_DIRECTORY, path: `${path}/:id`, params: scimId } as const;
const BODY = { kind: 'json', schema: scimBody } as const;
const GROUP = { 200: { description: 'The group', schema: scimResource } } as const;
const DENIED = { 403: { description: 'May not manage the users of the tenant, or the role is `admin`' } };
const UNKNOWN = { 404: { description: 'Not in the directory of the tenant' } };
const TAKEN = { 409: { description: 'uniqueness: the displayName is in use' } };

/** The roles of a tenant, as its directory keeps them. */
export function scimGroupRoutes(deps: AuthDependencies): readonly Route[] {
  return [list(deps), create(deps), read(deps), replace(deps), patch(deps), remove(deps)];
}

function list(deps: AuthDependencies): Route {
  return defineRoute({
    ...OF_DIRECTORY,
    method: 'GET',
    path,
    summary: 'Roles of the current tenant, as its directory sees them',
    query: scimListQuery,
    responses: { 200: { description: 'A page of them', schema: scimListResponse }, ...DENIED },
    async handle({ principal, query }) {
      const { tenant } = await directoryOf(deps, principal);
      const filter = query.filter === undefined ? null : parseFilter(query.filter);
      const withMembers = isSelected('members', query) || /\bmembers\b/i.test(query.filter ?? '');
      const groups = await groupsOf(deps, tenant.id, { withMembers });
      const sorting = { sortBy: query.sortBy ?? null, isDescending: query.sortOrder === 'descending' };
      const count = boundedCount(query.count);
      const page = pageOf(groups, { filter, startIndex: query.startIndex, count, ...sorting }, presentGroup);
      const resources = page.items.map((group) => selectAttributes(presentGroup(group), query));
      return scimReply(listResponse(page, resources));
    },
  });
}

function create(deps: AuthDependencies): Route {
  return defineRoute({
    ...OF_DIRECTORY,
    method: 'POST',
    path,
    summary: 'Create a role with its members',
    body: BODY,
    query: scimSelection,
    responses: { 201: { description: 'The group', schema: scimResource }, ...DENIED, ...TAKEN },
    async handle({ principal, body, query }) {
      const directory = await directoryOf(deps, principal);
      const group = await createGroup(deps, directory, readResource(GROUP_TYPE, body));
      const resource = selectAttributes(presentGroup(group), query);
      return scimReply(resource, 201, { location: `${path}/${group.role.id}` });
    },
  });
}

function read(deps: AuthDependencies): Route {
  return defineRoute({
    ...ONE,
    method: 'GET',
    summary: 'A role of the current tenant',
    query: scimSelection,
    responses: { ...GROUP, ...DENIED, ...UNKNOWN },
    async handle({ principal, params, query }) {
      const { tenant } = await directoryOf(deps, principal);
      return scimReply(selectAttributes(presentGroup(await requireGroup(deps, tenant.id, params.id)), query));
    },
  });
}

function replace(deps: AuthDependencies): Route {
  return defineRoute({
    ...ONE,
    method: 'PUT',
    summary: 'Replace name and members of a role; without members these stay',
    body: BODY,
    query: scimSelection,
    responses: { ...GROUP, ...DENIED, ...UNKNOWN, ...TAKEN },
    async handle({ principal, params, body, query }) {
      const directory = await directoryOf(deps, principal);
      const fields = readResource(GROUP_TYPE, body);
      const group = await changeGroup(deps, directory, {
        id: params.id,
        change: (current) => ({ members: current['members'] ?? [], ...fields }),
      });
      return scimReply(selectAttributes(presentGroup(group), query));
    },
  });
}

function patch(deps: AuthDependencies): Route {
  return defineRoute({
    ...ONE,
    method: 'PATCH',
    summary: 'Rename a role, add members to it or remove some',
    body: BODY,
    query: scimSelection,
    responses: { ...GROUP, ...DENIED, ...UNKNOWN, ...TAKEN },
    async handle({ principal, params, body, query }) {
      const directory = await directoryOf(deps, principal);
      const operations = readOperations(body);
      const group = await changeGroup(deps, directory, {
        id: params.id,
        change: (fields) => applyPatch(GROUP_TYPE, fields, operations),
      });
      return scimReply(selectAttributes(presentGroup(group), query));
    },
  });
}

function remove(deps: AuthDependencies): Route {
  return defineRoute({
    ...ONE,
    method: 'DELETE',
    summary: 'Remove a role with its grants',
    responses: { 204: { description: 'Removed' }, ...DENIED, ...UNKNOWN },
    async handle({ principal, params }) {
      await removeGroup(deps, await directoryOf(deps, principal), params.id);
      return { status: 204 };
    },
  });
}
