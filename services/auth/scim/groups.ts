import { ADMIN_ROLE, CAPABILITIES } from '../../common/domain/capabilities.ts';
import type { RoleId, TenantId, UserId } from '../../common/kernel/brand.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { asId, isUuid } from '../../common/kernel/ids.ts';
import { isRecord } from '../../common/kernel/objects.ts';
import { nameConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { createRole, deleteRole, joinRole, leaveRole } from '../access/roles.ts';
import { authorityIn } from '../access/tenant-authority.ts';
import type { AuthDependencies } from '../model.ts';
import type { Role } from '../repositories/roles.ts';
import type { ScimGroup } from '../repositories/scim-resources.ts';
import { type Directory, unlessDone } from './directory.ts';
import { type Fields, textField } from './fields.ts';
import { GROUP_TYPE, SCIM_PATH } from './schema.ts';
import { scimError } from './scim-error.ts';

/** A role of a tenant as a group of its directory. */
interface Group {
  readonly role: Role;
  /** Null until the directory has changed it. */
  readonly record: ScimGroup | null;
  readonly members: readonly GroupMember[];
}

interface GroupMember {
  readonly id: string;
  readonly email: string;
}

export function presentGroup({ role, record, members }: Group): Fields {
  return {
    schemas: [GROUP_TYPE.schema.id],
    id: role.id,
    ...(record === null || record.externalId === null ? {} : { externalId: record.externalId }),
    displayName: role.name,
    members: members.map(({ id, email }) => ({
      value: id,
      display: email,
      type: 'User',
      $ref: `${SCIM_PATH}/Users/${id}`,
    })),
    meta: {
      resourceType: GROUP_TYPE.name,
      created: role.createdAt,
      lastModified: record?.updatedAt ?? role.createdAt,
      location: `${SCIM_PATH}${GROUP_TYPE.endpoint}/${role.id}`,
    },
  };
}

/** 400 `invalidValue` when it is missing. */
function requireDisplayName(fields: Fields): string {
  const name = textField(fields, 'displayName')?.trim() ?? '';
  if (name === '') throw scimError(400, 'displayName is required.', 'invalidValue');
  return name;
}

/** The ids of members. 400 `invalidValue` for values that are not ids of users, such as groups in groups. */
function memberIds(fields: Fields): readonly string[] {
  const members = Array.isArray(fields['members']) ? (fields['members'] as readonly unknown[]) : [];
  const ids = members.map((member) => {
    const value = isRecord(member) ? member['value'] : undefined;
    if (typeof value === 'string' && isUuid(value)) return value.toLowerCase();
    throw scimError(400, 'Each member must have the id of a user as its value.', 'invalidValue');
  });
  return [...new Set(ids)];
}

/** Lists the roles of the tenant by name; with members only on demand, since each group costs a look-up. */
export async function groupsOf(
  deps: AuthDependencies,
  tenant: TenantId,
  { withMembers }: { readonly withMembers: boolean },
): Promise<readonly Group[]> {
  const [roles, records] = await Promise.all([deps.roles.ofTenant(tenant), deps.scimResources.groupsOf(tenant)]);
  const recordOf = new Map(records.map((record) => [record.role, record]));
  const groups: Group[] = [];
  for (const role of roles) {
    const members = withMembers ? await membersOf(deps, role.id) : [];
    groups.push({ role, record: recordOf.get(role.id) ?? null, members });
  }
  return groups;
}

/** Returns a group. 404 also for a role of another tenant. */
export async function requireGroup(deps: AuthDependencies, tenant: TenantId, id: string): Promise<Group> {
  const role = isUuid(id) ? await deps.roles.get(asId<RoleId>(id)) : null;
  if (role === null || role.tenant !== tenant) throw groupNotFound(id);
  const [record, members] = await Promise.all([deps.scimResources.group(role.id), membersOf(deps, role.id)]);
  return { role, record, members };
}

/**
 * Creates a role with its members. Errors: 400 `invalidValue`, also for members outside the tenant; 403 for `admin`; 409
 * `uniqueness`.
 */
export async function createGroup(deps: AuthDependencies, directory: Directory, fields: Fields): Promise<Group> {
  const { tenant, by } = directory;
  const name = requireDisplayName(fields);
  refuseAdmin(name);
  const members = await requireMembers(deps, tenant.id, memberIds(fields));
  try {
    const role = await createRole(deps, { tenant: tenant.id, name }, by);
    await storeExternalId(deps, directory, { role, externalId: textField(fields, 'externalId') });
    for (const user of members) await unlessDone(joinRole(deps, { role: role.id, user }, by));
    return await requireGroup(deps, tenant.id, role.id);
  } catch (error) {
    if (isEngramError(error) && error.wireName === 'EntityAlreadyExistsError') throw nameTaken();
    throw error;
  }
}

/** Changes a role; `change` gets the current attributes and returns all of them. Errors as `createGroup`, and 404. */
export async function changeGroup(
  deps: AuthDependencies,
  directory: Directory,
  id: string,
  change: (fields: Fields) => Fields,
): Promise<Group> {
  const { tenant, by } = directory;
  const { role, record, members } = await requireGroup(deps, tenant.id, id);
  const externalId = record?.externalId ?? null;
  const next = change({
    displayName: role.name,
    ...(externalId === null ? {} : { externalId }),
    members: members.map((member) => ({ value: member.id })),
  });
  const name = requireDisplayName(next);
  refuseAdmin(role.name);
  refuseAdmin(name);
  const present = new Set(members.map((member) => member.id));
  const wanted = new Set(memberIds(next));
  const joining = await requireMembers(deps, tenant.id, [...wanted.difference(present)]);
  if (joining.length > 0) await refuseMoreCapabilities(deps, directory, role);
  if (name !== role.name) await rename(deps, directory, { role, name });
  const nextExternalId = textField(next, 'externalId');
  if (nextExternalId !== externalId) await storeExternalId(deps, directory, { role, externalId: nextExternalId });
  for (const user of joining) await unlessDone(joinRole(deps, { role: role.id, user }, by));
  for (const user of present.difference(wanted)) {
    await unlessDone(leaveRole(deps, { role: role.id, user: asId<UserId>(user) }, by));
  }
  return requireGroup(deps, tenant.id, id);
}

/** Deletes a role with its grants and capabilities. Errors: 404, 403 for `admin`. */
export async function removeGroup(deps: AuthDependencies, { tenant, by }: Directory, id: string): Promise<void> {
  const { role } = await requireGroup(deps, tenant.id, id);
  refuseAdmin(role.name);
  try {
    await deleteRole(deps, role.id, by);
  } catch (error) {
    if (isEngramError(error) && error.wireName === 'EntityNotFoundError') throw groupNotFound(id);
    throw error;
  }
  await deps.store.commit({ tenant: tenant.id }, [deps.scimResources.removeGroupWrite(role.id)]);
}

async function membersOf(deps: AuthDependencies, role: RoleId): Promise<readonly GroupMember[]> {
  const users = await deps.users.getMany(await deps.roleMembers.usersOf(role));
  return users.filter(({ parentId }) => parentId === null).map(({ id, email }) => ({ id, email }));
}

async function requireMembers(deps: AuthDependencies, tenant: TenantId, ids: readonly string[]) {
  const known = ids.length === 0 ? new Set<string>() : new Set<string>(await deps.memberships.usersOf(tenant));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown === undefined) return ids.map((id) => asId<UserId>(id));
  throw scimError(400, `The user ${unknown} is not a member of the tenant.`, 'invalidValue');
}

/** 403 when the role has capabilities that the caller lacks: its new members would get them. */
async function refuseMoreCapabilities(deps: AuthDependencies, { tenant, by }: Directory, role: Role): Promise<void> {
  const [granted, authority] = await Promise.all([
    deps.capabilities.ofHolders(tenant.id, [role.id]),
    authorityIn(deps, by, tenant),
  ]);
  const beyond = CAPABILITIES.filter(
    (capability) => granted.some((grant) => grant.capability === capability) && !authority.allows(capability),
  );
  if (beyond.length > 0) {
    throw scimError(403, `The role gives capabilities that the caller lacks: ${beyond.join(', ')}.`);
  }
}

interface RenamedRole {
  readonly role: Role;
  readonly name: string;
}

async function rename(deps: AuthDependencies, { tenant, by }: Directory, { role, name }: RenamedRole): Promise<void> {
  const details = { name, before: role.name };
  const entry = { tenant: tenant.id, action: 'role.changed', actor: by, subject: role.id, details };
  await nameConflict(deps.audit.commit({ tenant: tenant.id }, [deps.roles.renameWrite(role.id, name)], [entry]), {
    duplicate: nameTaken,
    changed: () => groupNotFound(role.id),
  });
}

async function storeExternalId(
  deps: AuthDependencies,
  { tenant, by }: Directory,
  { role, externalId }: { readonly role: Role; readonly externalId: string | null },
): Promise<void> {
  const group = { tenant: tenant.id, role: role.id, externalId, updatedAt: deps.clock.now().toISOString() };
  const details = { attributes: ['externalId'] };
  await deps.audit.commit(
    { tenant: tenant.id },
    [deps.roles.touchWrite(role.id), ...deps.scimResources.groupWrites(group)],
    [{ tenant: tenant.id, action: 'role.changed', actor: by, subject: role.id, details }],
  );
}

function refuseAdmin(name: string): void {
  if (name !== ADMIN_ROLE) return;
  throw scimError(
    403,
    `A role named '${ADMIN_ROLE}' passes every check by its name: no directory may make or change one.`,
  );
}

function groupNotFound(id: string) {
  return scimError(404, `There is no group ${id.slice(0, 100)} in the directory.`);
}

function nameTaken() {
  return scimError(409, 'The tenant has a group of this displayName.', 'uniqueness');
}
