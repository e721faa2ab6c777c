import { setImmediate } from 'node:timers/promises';
import { checkEmailAddress } from '../../common/domain/email-address.ts';
import type { RoleId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { isRecord } from '../../common/kernel/objects.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { AuthDependencies } from '../model.ts';
import type { StoredScimUser } from '../repositories/scim-resources.ts';
import { type Fields, textField } from './fields.ts';
import type { ScimFilter } from './filter.ts';
import { ENTERPRISE_SCHEMA, SCIM_PATH, USER_TYPE } from './schema.ts';
import { scimError } from './scim-error.ts';

/** A user of a tenant as a person of its directory. */
export interface Person {
  readonly user: User;
  /** Null for members whom the directory has not changed yet. */
  readonly record: StoredScimUser | null;
  readonly isMember: boolean;
}

/** Attributes that are stored outside the profile. */
const NOT_IN_PROFILE = ['userName', 'externalId', 'active'];

export function isActiveHere({ user, isMember }: Person): boolean {
  return user.isActive && isMember;
}

/** The current attributes that a directory may write. */
export function writableFields(person: Person): Fields {
  const { user, record } = person;
  const emails = [{ value: user.email, type: 'work', primary: true }];
  return {
    userName: record?.userName ?? user.email,
    ...(record === null || record.externalId === null ? {} : { externalId: record.externalId }),
    active: isActiveHere(person),
    emails,
    ...(record?.profile as Fields | undefined),
  };
}

interface PresentedGroup {
  readonly value: string;
  readonly display: string;
}

export function presentPerson(person: Person, groups: readonly PresentedGroup[]): Fields {
  const { user, record } = person;
  const fields = writableFields(person);
  const location = `${SCIM_PATH}${USER_TYPE.endpoint}/${user.id}`;
  return {
    schemas: [USER_TYPE.schema.id, ...(ENTERPRISE_SCHEMA.id in fields ? [ENTERPRISE_SCHEMA.id] : [])],
    id: user.id,
    ...fields,
    groups: groups.map(({ value, display }) => ({ value, display, $ref: `${SCIM_PATH}/Groups/${value}` })),
    meta: {
      resourceType: USER_TYPE.name,
      created: record?.createdAt ?? user.createdAt,
      lastModified: record?.updatedAt ?? user.updatedAt ?? user.createdAt,
      location,
    },
  };
}

export function profileOf(fields: Fields): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !NOT_IN_PROFILE.includes(name)));
}

/** 400 `invalidValue` when it is missing. */
export function requireUserName(fields: Fields): string {
  const userName = textField(fields, 'userName')?.trim() ?? '';
  if (userName === '') throw scimError(400, 'userName is required.', 'invalidValue');
  return userName;
}

/**
 * The address of the account: the primary e-mail, else the first, else the userName. 400 `invalidValue` when none is valid.
 */
export function accountAddress(fields: Fields): string {
  const emails = Array.isArray(fields['emails']) ? (fields['emails'] as readonly unknown[]).filter(isRecord) : [];
  const chosen = emails.find(({ primary }) => primary === true) ?? emails[0];
  const text = typeof chosen?.['value'] === 'string' ? chosen['value'] : requireUserName(fields);
  const { address, reason } = checkEmailAddress(text);
  if (address === undefined) {
    throw scimError(400, `An e-mail address is needed, in emails or as the userName: ${reason}`, 'invalidValue');
  }
  return address;
}

const BATCH = 500;

/** Returns a person. 404 also for an account outside the directory of the tenant. */
export async function requirePerson(deps: AuthDependencies, tenant: TenantId, id: string): Promise<Person> {
  const person = isUuid(id) ? await findPerson(deps, tenant, asId<UserId>(id)) : null;
  if (person === null) throw scimError(404, `There is no user ${id.slice(0, 100)} in the directory.`);
  return person;
}

async function findPerson(deps: AuthDependencies, tenant: TenantId, id: UserId): Promise<Person | null> {
  const [user, record, isMember] = await Promise.all([
    deps.users.get(id),
    deps.scimResources.user(tenant, id),
    deps.memberships.has(tenant, id),
  ]);
  return user === null || !isInDirectory(user, record, isMember) ? null : { user, record, isMember };
}

/** Whether the user is a person of the directory: a member, or suspended by the directory; never an agent. */
function isInDirectory(user: User, record: Person['record'], isMember: boolean): boolean {
  return user.parentId === null && (isMember || record !== null);
}

/**
 * Lists the people of the directory in the order in which they joined; with a filter at least those who match it. A filter
 * for one person costs one look-up.
 */
export async function peopleFor(
  deps: AuthDependencies,
  tenant: TenantId,
  filter: ScimFilter | null,
): Promise<readonly Person[]> {
  const candidates = filter === null ? null : await candidatesFor(deps, tenant, filter);
  if (candidates === null) return everybody(deps, tenant);
  const people = await Promise.all([...new Set(candidates)].map((id) => findPerson(deps, tenant, id)));
  return people.filter((person) => person !== null);
}

/** Ids of all accounts that can match the filter; null when that takes reading the whole directory. */
async function candidatesFor(
  deps: AuthDependencies,
  tenant: TenantId,
  filter: ScimFilter,
): Promise<readonly UserId[] | null> {
  if (filter.kind === 'and') {
    return (await candidatesFor(deps, tenant, filter.left)) ?? (await candidatesFor(deps, tenant, filter.right));
  }
  if (filter.kind !== 'compare' || filter.operator !== 'eq' || typeof filter.value !== 'string') return null;
  const { value } = filter;
  switch (filter.path.toLowerCase().replace(/^urn:ietf:params:scim:schemas:core:2\.0:user:/, '')) {
    case 'id':
      return isUuid(value) ? [asId<UserId>(value)] : [];
    case 'externalid':
      return (await deps.scimResources.usersByExternalId(tenant, value)).map(({ user }) => user);
    case 'username': {
      const [record, account] = await Promise.all([
        deps.scimResources.userByName(tenant, value),
        deps.users.findByEmail(value),
      ]);
      return [...(record === null ? [] : [record.user]), ...(account === null ? [] : [account.id])];
    }
    default:
      return null;
  }
}

async function everybody(deps: AuthDependencies, tenant: TenantId): Promise<readonly Person[]> {
  const [members, records] = await Promise.all([deps.memberships.usersOf(tenant), deps.scimResources.usersOf(tenant)]);
  const recordOf = new Map(records.map((record) => [record.user, record]));
  const isMember = new Set(members);
  const ids = [...new Set([...members, ...recordOf.keys()])];
  const people: Person[] = [];
  for (let start = 0; start < ids.length; start += BATCH) {
    // A long list must not block other requests.
    if (start > 0) await setImmediate();
    for (const user of await deps.users.getMany(ids.slice(start, start + BATCH))) {
      const person = { user, record: recordOf.get(user.id) ?? null, isMember: isMember.has(user.id) };
      if (isInDirectory(user, person.record, person.isMember)) people.push(person);
    }
  }
  return people;
}

export async function groupsOfPeople(
  deps: AuthDependencies,
  tenant: TenantId,
  ids: readonly UserId[],
): Promise<ReadonlyMap<UserId, readonly PresentedGroup[]>> {
  const held = await Promise.all(ids.map(async (id) => [id, await deps.roleMembers.rolesOf(id, tenant)] as const));
  const roles = await deps.roles.getMany([...new Set(held.flatMap(([, roleIds]) => roleIds))]);
  const nameOf = new Map(roles.map(({ id, name }) => [id, name]));
  const groupOf = (id: RoleId): readonly PresentedGroup[] => {
    const display = nameOf.get(id);
    return display === undefined ? [] : [{ value: id, display }];
  };
  return new Map(held.map(([id, roleIds]) => [id, roleIds.flatMap(groupOf)]));
}
