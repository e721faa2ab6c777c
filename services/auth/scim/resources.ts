import type { TenantId } from '../../common/kernel/brand.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import type { AuthDependencies } from '../model.ts';
import { applyPatch, readOperations } from './apply-patch.ts';
import { changePerson, removePerson } from './change-person.ts';
import { type Directory, directoryOf } from './directory.ts';
import { type Fields, readResource } from './fields.ts';
import { parseFilter } from './filter.ts';
import { changeGroup, createGroup, groupsOf, presentGroup, removeGroup, requireGroup } from './groups.ts';
import {
  type AttributeSelection,
  isSelected,
  type ListedPage,
  type ListRequest,
  listResponse,
  pageOf,
  selectAttributes,
} from './listing.ts';
import { groupsOfPeople, type Person, peopleFor, presentPerson, requirePerson } from './people.ts';
import { provisionPerson } from './provision-person.ts';
import { GROUP_TYPE, type ScimResourceType, USER_TYPE } from './schema.ts';

/** One kind of directory resources. All resources are returned with every attribute (RFC 7643). */
interface DirectoryResource {
  readonly type: ScimResourceType;
  /** Attributes that a PUT without them does not change. */
  readonly keptByPut: readonly string[];
  list(deps: AuthDependencies, tenant: TenantId, request: ResourceListRequest): Promise<ListedPage<Fields>>;
  read(deps: AuthDependencies, tenant: TenantId, id: string): Promise<Fields>;
  create(deps: AuthDependencies, directory: Directory, fields: Fields): Promise<Fields>;
  /** `change` gets the current attributes and returns all of them. */
  change(deps: AuthDependencies, directory: Directory, id: string, change: (fields: Fields) => Fields): Promise<Fields>;
  remove(deps: AuthDependencies, directory: Directory, id: string): Promise<void>;
}

interface ResourceListRequest extends ListRequest {
  /** Whether the answer or the filter needs the attribute. */
  readonly needs: (attribute: string) => boolean;
}

const USERS: DirectoryResource = {
  type: USER_TYPE,
  keptByPut: [],
  async list(deps, tenant, request) {
    const people = await peopleFor(deps, tenant, request.filter);
    // Groups cost look-ups: they are read for one page only.
    const page = pageOf(people, request, (person) => presentPerson(person, []));
    return { ...page, items: await presentPeople(deps, tenant, page.items) };
  },
  read: async (deps, tenant, id) => presentOne(deps, tenant, await requirePerson(deps, tenant, id)),
  create: async (deps, directory, fields) =>
    presentOne(deps, directory.tenant.id, await provisionPerson(deps, directory, fields)),
  change: async (deps, directory, id, change) =>
    presentOne(deps, directory.tenant.id, await changePerson(deps, directory, id, change)),
  remove: removePerson,
};

async function presentPeople(deps: AuthDependencies, tenant: TenantId, people: readonly Person[]) {
  const groups = await groupsOfPeople(
    deps,
    tenant,
    people.map(({ user }) => user.id),
  );
  return people.map((person) => presentPerson(person, groups.get(person.user.id) ?? []));
}

async function presentOne(deps: AuthDependencies, tenant: TenantId, person: Person): Promise<Fields> {
  const [presented = {}] = await presentPeople(deps, tenant, [person]);
  return presented;
}

const GROUPS: DirectoryResource = {
  type: GROUP_TYPE,
  keptByPut: ['members'],
  async list(deps, tenant, request) {
    const groups = await groupsOf(deps, tenant, { withMembers: request.needs('members') });
    const page = pageOf(groups, request, presentGroup);
    return { ...page, items: page.items.map(presentGroup) };
  },
  read: async (deps, tenant, id) => presentGroup(await requireGroup(deps, tenant, id)),
  create: async (deps, directory, fields) => presentGroup(await createGroup(deps, directory, fields)),
  change: async (deps, directory, id, change) => presentGroup(await changeGroup(deps, directory, id, change)),
  remove: removeGroup,
};

const RESOURCES = { User: USERS, Group: GROUPS };
export type ResourceName = keyof typeof RESOURCES;

interface ListQuery extends AttributeSelection {
  readonly filter?: string | undefined;
  readonly startIndex: number;
  readonly count: number;
  readonly sortBy?: string | undefined;
  readonly sortOrder: 'ascending' | 'descending';
}

/** A kind of resources in the directory of the principal's tenant. */
interface ResourceRequest {
  readonly principal: Principal;
  readonly name: ResourceName;
}

/** Returns a page of the matching resources as a ListResponse (RFC 7644 §3.4.2). */
export async function listResources(deps: AuthDependencies, { principal, name }: ResourceRequest, query: ListQuery) {
  const { tenant } = await directoryOf(deps, principal);
  const page = await RESOURCES[name].list(deps, tenant.id, {
    filter: query.filter === undefined ? null : parseFilter(query.filter),
    startIndex: query.startIndex,
    count: query.count,
    sortBy: query.sortBy ?? null,
    isDescending: query.sortOrder === 'descending',
    needs: (attribute) =>
      isSelected(attribute, query) || new RegExp(`\\b${attribute}\\b`, 'i').test(query.filter ?? ''),
  });
  return listResponse(
    page,
    page.items.map((resource) => selectAttributes(resource, query)),
  );
}

export async function readOneResource(
  deps: AuthDependencies,
  { principal, name }: ResourceRequest,
  id: string,
): Promise<Fields> {
  const { tenant } = await directoryOf(deps, principal);
  return RESOURCES[name].read(deps, tenant.id, id);
}

export async function createResource(
  deps: AuthDependencies,
  { principal, name }: ResourceRequest,
  body: Readonly<Record<string, unknown>>,
): Promise<Fields> {
  const directory = await directoryOf(deps, principal);
  const { type, create } = RESOURCES[name];
  return create(deps, directory, readResource(type, body));
}

interface ResourceChange {
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export async function replaceResource(
  deps: AuthDependencies,
  { principal, name }: ResourceRequest,
  { id, body }: ResourceChange,
): Promise<Fields> {
  const directory = await directoryOf(deps, principal);
  const { type, keptByPut, change } = RESOURCES[name];
  const fields = readResource(type, body);
  return change(deps, directory, id, (current) => {
    const kept = Object.entries(current).filter(([attribute]) => keptByPut.includes(attribute));
    return { ...Object.fromEntries(kept), ...fields };
  });
}

export async function patchResource(
  deps: AuthDependencies,
  { principal, name }: ResourceRequest,
  { id, body }: ResourceChange,
): Promise<Fields> {
  const directory = await directoryOf(deps, principal);
  const operations = readOperations(body);
  const { type, change } = RESOURCES[name];
  return change(deps, directory, id, (current) => applyPatch(type, current, operations));
}

export async function removeResource(deps: AuthDependencies, { principal, name }: ResourceRequest, id: string) {
  await RESOURCES[name].remove(deps, await directoryOf(deps, principal), id);
}
