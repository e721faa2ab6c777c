import type { TenantId } from '../../common/kernel/brand.ts';
import { defineRoute, type Route } from '../../common/platform/http/route.ts';
import { onDemand } from '../../common/platform/lifecycle/on-demand.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { applyPatch, readOperations } from '../scim/apply-patch.ts';
import { type Fields, readResource } from '../scim/fields.ts';
import { parseFilter } from '../scim/filter.ts';
import { listResponse, pageOf } from '../scim/list-response.ts';
import { USER_TYPE } from '../scim/schema.ts';
import { type AttributeSelection, selectAttributes } from '../scim/selected-attributes.ts';
import { type Person, presentPerson, SCIM_PATH } from '../scim/user-resource.ts';
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
const groupsOfPeople = onDemand(async () => (await import('../scim/scim-people.ts')).groupsOfPeople);
const peopleFor = onDemand(async () => (await import('../scim/scim-people.ts')).peopleFor);
const requirePerson = onDemand(async () => (await import('../scim/scim-people.ts')).requirePerson);
const provisionPerson = onDemand(async () => (await import('../scim/scim-provision-user.ts')).provisionPerson);
const changePerson = onDemand(async () => (await import('../scim/scim-users.ts')).changePerson);
const removePerson = onDemand(async () => (await import('../scim/scim-users.ts')).removePerson);

const path = `${SCIM_PATH}${USER_TYPE.endpoint}`;
const ONE = { ...OF_DIRECTORY, path: `${path}/:id`, params: scimId } as const;
const BODY = { kind: 'json', schema: scimBody } as const;
const PERSON = { 200: { description: 'The person', schema: scimResource } } as const;
const DENIED = { 403: { description: 'May not manage the users of the tenant, or the directory has no say in it' } };
const UNKNOWN = { 404: { description: 'Not in the directory of the tenant' } };
const TAKEN = { 409: { description: 'uniqueness: the userName or the address is in use' } };

/** The people of a tenant, as its directory keeps them. */
export function scimUserRoutes(deps: AuthDependencies): readonly Route[] {
  return [list(deps), create(deps), read(deps), replace(deps), patch(deps), remove(deps)];
}

interface Asked {
  readonly tenant: TenantId;
  readonly selection: AttributeSelection;
}

async function presented(deps: AuthDependencies, person: Person, { tenant, selection }: Asked): Promise<Fields> {
  const { id } = person.user;
  const groups = await groupsOfPeople(deps, tenant, [id]);
  return selectAttributes(presentPerson(person, groups.get(id) ?? []), selection);
}

function list(deps: AuthDependencies): Route {
  return defineRoute({
    ...OF_DIRECTORY,
    method: 'GET',
    path,
    summary: 'People of the current tenant, as its directory sees them',
    query: scimListQuery,
    responses: { 200: { description: 'A page of them', schema: scimListResponse }, ...DENIED },
    async handle({ principal, query }) {
      const { tenant } = await directoryOf(deps, principal);
      const filter = query.filter === undefined ? null : parseFilter(query.filter);
      const people = await peopleFor(deps, tenant.id, filter);
      const sorting = { sortBy: query.sortBy ?? null, isDescending: query.sortOrder === 'descending' };
      const request = { filter, startIndex: query.startIndex, count: boundedCount(query.count), ...sorting };
      const page = pageOf(people, request, (person) => presentPerson(person, []));
      const ids = page.items.map(({ user }) => user.id);
      const groups = await groupsOfPeople(deps, tenant.id, ids);
      const resources = page.items.map((person) => presentPerson(person, groups.get(person.user.id) ?? []));
      return scimReply(
        listResponse(
          page,
          resources.map((resource) => selectAttributes(resource, query)),
        ),
      );
    },
  });
}

function create(deps: AuthDependencies): Route {
  return defineRoute({
    ...OF_DIRECTORY,
    method: 'POST',
    path,
    summary: 'Provision a person: an account of the directory, or a link to a member',
    body: BODY,
    query: scimSelection,
    responses: { 201: { description: 'The person', schema: scimResource }, ...DENIED, ...TAKEN },
    async handle({ principal, body, query }) {
      const directory = await directoryOf(deps, principal);
      const person = await provisionPerson(deps, directory, readResource(USER_TYPE, body));
      return scimReply(await presented(deps, person, { tenant: directory.tenant.id, selection: query }), 201, {
        location: `${path}/${person.user.id}`,
      });
    },
  });
}

function read(deps: AuthDependencies): Route {
  return defineRoute({
    ...ONE,
    method: 'GET',
    summary: 'A person of the current tenant',
    query: scimSelection,
    responses: { ...PERSON, ...DENIED, ...UNKNOWN },
    async handle({ principal, params, query }) {
      const { tenant } = await directoryOf(deps, principal);
      return scimReply(
        await presented(deps, await requirePerson(deps, tenant.id, params.id), { tenant: tenant.id, selection: query }),
      );
    },
  });
}

function replace(deps: AuthDependencies): Route {
  return defineRoute({
    ...ONE,
    method: 'PUT',
    summary: 'Replace what the directory says of a person',
    body: BODY,
    query: scimSelection,
    responses: { ...PERSON, ...DENIED, ...UNKNOWN, ...TAKEN },
    async handle({ principal, params, body, query }) {
      const directory = await directoryOf(deps, principal);
      const fields = readResource(USER_TYPE, body);
      const person = await changePerson(deps, directory, params.id, () => fields);
      return scimReply(await presented(deps, person, { tenant: directory.tenant.id, selection: query }));
    },
  });
}

function patch(deps: AuthDependencies): Route {
  return defineRoute({
    ...ONE,
    method: 'PATCH',
    summary: 'Change what the directory says of a person; `active: false` shuts out at once',
    body: BODY,
    query: scimSelection,
    responses: { ...PERSON, ...DENIED, ...UNKNOWN, ...TAKEN },
    async handle({ principal, params, body, query }) {
      const directory = await directoryOf(deps, principal);
      const operations = readOperations(body);
      const person = await changePerson(deps, directory, params.id, (fields) =>
        applyPatch(USER_TYPE, fields, operations),
      );
      return scimReply(await presented(deps, person, { tenant: directory.tenant.id, selection: query }));
    },
  });
}

function remove(deps: AuthDependencies): Route {
  return defineRoute({
    ...ONE,
    method: 'DELETE',
    summary: 'Remove a person from the tenant; an account of the directory alone is deleted',
    responses: { 204: { description: 'Removed' }, ...DENIED, ...UNKNOWN },
    async handle({ principal, params }) {
      await removePerson(deps, await directoryOf(deps, principal), params.id);
      return { status: 204 };
    },
  });
}
