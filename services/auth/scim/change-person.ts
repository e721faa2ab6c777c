import { isDeepStrictEqual } from 'node:util';
import { emailKey } from '../../common/domain/email-address.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { nameConflict, retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AuditEntry } from '../../common/ports/audit-log.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import { isReservedAddress } from '../accounts/account.ts';
import { deleteUser } from '../accounts/delete-user.ts';
import type { AuthDependencies } from '../model.ts';
import { joinTenant, leaveTenant } from '../tenants/memberships.ts';
import { addressTaken, type Directory, unlessDone } from './directory.ts';
import { type Fields, textField } from './fields.ts';
import {
  accountAddress,
  isActiveHere,
  type Person,
  profileOf,
  requirePerson,
  requireUserName,
  writableFields,
} from './people.ts';
import { scimError } from './scim-error.ts';

/**
 * Changes a person; `change` gets the current attributes and returns all of them. For an account that the directory created,
 * e-mail address and active state are changed; for any other, `active` is only the membership in the tenant. Errors: 404, 409
 * `uniqueness`, 400 `invalidValue`, 403 for changes that the directory may not make.
 */
export async function changePerson(
  deps: AuthDependencies,
  directory: Directory,
  id: string,
  change: (fields: Fields) => Fields,
): Promise<Person> {
  return retryOnConflict(async () => {
    const person = await requirePerson(deps, directory.tenant.id, id);
    const plan = await planOf(deps, directory, { person, next: change(writableFields(person)) });
    await nameConflict(apply(deps, directory, { person, plan }), { duplicate: addressTaken });
    return requirePerson(deps, directory.tenant.id, id);
  });
}

/**
 * Ends the person's membership, and deletes the account if the directory created it and it belongs to no other tenant.
 * Errors: 404, 403 for the owner of the tenant.
 */
export async function removePerson(deps: AuthDependencies, directory: Directory, id: string): Promise<void> {
  const { tenant, by } = directory;
  const person = await requirePerson(deps, tenant.id, id);
  const { user, isMember } = person;
  refuseForOwner(directory, user);
  const entry = { tenant: tenant.id, actor: by, subject: user.id };
  if (isControlledBy(directory, person) && (await otherTenantsOf(deps, directory, user.id)) === 0) {
    await deleteUser(deps, user.id, by);
    await deps.audit.record({ ...entry, action: 'user.deleted', details: { email: user.email } });
    return;
  }
  if (isMember) await unlessDone(leaveTenant(deps, { tenant: tenant.id, user: user.id }, by));
  const forget = deps.scimResources.removeUserWrite(tenant.id, user.id);
  const details = { directory: 'unlinked' };
  await deps.audit.commit({ tenant: tenant.id }, [forget], [{ ...entry, action: 'user.changed', details }]);
}

/** The effects of a change. */
interface Plan {
  readonly userName: string;
  readonly externalId: string | null;
  readonly profile: JsonObject;
  /** The changed account; the same object when it does not change. */
  readonly user: User;
  readonly isSuspended: boolean;
  readonly membership: 'begins' | 'ends' | 'stays';
}

interface WantedChange {
  readonly person: Person;
  readonly next: Fields;
}

async function planOf(deps: AuthDependencies, directory: Directory, { person, next }: WantedChange): Promise<Plan> {
  const isDeactivated = next['active'] === false && isActiveHere(person);
  const isReactivated = next['active'] === true && !isActiveHere(person);
  if (isDeactivated) refuseForOwner(directory, person.user);
  const names = {
    userName: requireUserName(next),
    externalId: textField(next, 'externalId'),
    profile: profileOf(next),
  };
  await refuseNameOfOthers(deps, directory, { person, userName: names.userName });
  const isControlled = isControlledBy(directory, person);
  const email = isControlled ? await controlledAddress(deps, directory, { person, next }) : person.user.email;
  const isActive = isReactivated
    ? requireReactivatable(person)
    : person.user.isActive && !(isDeactivated && isControlled);
  const isSameAddress = emailKey(email) === emailKey(person.user.email);
  const isVerified = isSameAddress ? person.user.isVerified : directory.isTrusted;
  const isSame = email === person.user.email && isActive === person.user.isActive;
  const isSuspended = isActive ? false : person.record?.isSuspended === true || isDeactivated;
  const membership = isDeactivated && !isControlled ? 'ends' : isReactivated && !person.isMember ? 'begins' : 'stays';
  const user = isSame ? person.user : { ...person.user, email, isActive, isVerified };
  return { ...names, user, isSuspended, membership };
}

/** `uniqueness` when the name is the address of another member: members without a record are found by their address. */
async function refuseNameOfOthers(
  deps: AuthDependencies,
  { tenant }: Directory,
  { person, userName }: { readonly person: Person; readonly userName: string },
): Promise<void> {
  if (userName === person.record?.userName) return;
  const other = await deps.users.findByEmail(userName);
  if (other === null || other.id === person.user.id) return;
  if (await deps.memberships.has(tenant.id, other.id)) throw addressTaken();
}

/** 403 when the account was deactivated outside the directory. */
function requireReactivatable({ user, record }: Person): true {
  const isSuspendedByDirectory = record?.isProvisioned === true && record.isSuspended && !user.isSuperuser;
  if (user.isActive || isSuspendedByDirectory) return true;
  throw scimError(403, 'The account was deactivated, and not by this directory.', 'mutability');
}

async function controlledAddress(deps: AuthDependencies, directory: Directory, { person, next }: WantedChange) {
  const { user } = person;
  const address = accountAddress(next);
  if (emailKey(address) === emailKey(user.email)) return address;
  if (isReservedAddress(deps.settings, address)) throw addressTaken();
  // The owner of the new address could take the account over, with its rights in other tenants.
  if ((await otherTenantsOf(deps, directory, user.id)) > 0) {
    throw scimError(
      403,
      'The address of an account that belongs to other tenants too cannot be changed by one of them.',
    );
  }
  return address;
}

interface PlannedChange {
  readonly person: Person;
  readonly plan: Plan;
}

async function apply(deps: AuthDependencies, directory: Directory, change: PlannedChange): Promise<void> {
  const { person, plan } = change;
  const { tenant, by } = directory;
  const { writes, entries } = writesOf(deps, directory, change);
  const [first, ...rest] = entries;
  if (first !== undefined) await deps.audit.commit({ tenant: PERSONAL_TENANT }, writes, [first, ...rest]);
  if (plan.user !== person.user) {
    // An agent's credentials are accepted while its parent's are.
    for (const id of [person.user.id, ...(await deps.users.childAgents(person.user.id))]) deps.notify.userChanged(id);
    deps.notify.accessChanged(tenant.id, [person.user.id]);
  }
  const membership = { tenant: tenant.id, user: person.user.id };
  if (plan.membership === 'begins') await unlessDone(joinTenant(deps, membership, by));
  if (plan.membership === 'ends') await unlessDone(leaveTenant(deps, membership, by));
}

function writesOf(deps: AuthDependencies, { tenant, by }: Directory, { person, plan }: PlannedChange) {
  const { user, record } = person;
  const at = deps.clock.now().toISOString();
  const { userName, externalId, profile, isSuspended } = plan;
  const recordFields = { userName, externalId, profile, isSuspended, updatedAt: at };
  const base = { tenant: tenant.id, user: user.id, createdAt: at };
  const changed = changedNames(person, plan);
  const writes: Write[] = [];
  const entries: AuditEntry[] = [];
  const account = plan.user === user ? {} : accountDetails(user, plan.user);
  if (record === null)
    writes.push(deps.scimResources.insertUserWrite({ ...base, ...recordFields, isProvisioned: false }));
  else if (changed.length > 0 || isSuspended !== record.isSuspended)
    writes.push(deps.scimResources.replaceUserWrite({ ...record, ...recordFields }));
  if (plan.user !== user) {
    writes.push(deps.users.replaceWrite({ ...plan.user, updatedAt: at }));
    const details = { ...account, directory: tenant.id };
    entries.push({ tenant: PERSONAL_TENANT, action: 'user.changed', actor: by, subject: user.id, details });
  }
  if (writes.length > 0) {
    const details = { ...account, ...(changed.length === 0 ? {} : { attributes: changed }) };
    entries.push({ tenant: tenant.id, action: 'user.changed', actor: by, subject: user.id, details });
  }
  return { writes, entries };
}

function changedNames({ user, record }: Person, { userName, externalId, profile }: Plan): readonly string[] {
  const before: JsonObject = { ...record?.profile, userName: record?.userName ?? user.email };
  const after: JsonObject = { ...profile, userName };
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => !isDeepStrictEqual(before[name], after[name]));
  return externalId === (record?.externalId ?? null) ? changed : [...changed, 'externalId'];
}

function accountDetails(user: User, changed: User): JsonObject {
  return {
    ...(changed.email === user.email ? {} : { email: changed.email }),
    ...(changed.isActive === user.isActive ? {} : { is_active: changed.isActive }),
    ...(changed.isVerified === user.isVerified ? {} : { is_verified: changed.isVerified }),
  };
}

/**
 * Whether the directory may change the account itself: never that of a former member, a superuser or the tenant's owner; and
 * an untrusted directory not that of a user who has verified the address.
 */
function isControlledBy({ tenant, isTrusted }: Directory, { user, record, isMember }: Person): boolean {
  if (user.isVerified && !isTrusted) return false;
  return record?.isProvisioned === true && isMember && !user.isSuperuser && tenant.ownerId !== user.id;
}

function refuseForOwner({ tenant }: Directory, user: User): void {
  if (tenant.ownerId === user.id) {
    throw scimError(
      403,
      'The owner of the tenant can be neither deactivated nor removed by its directory.',
      'mutability',
    );
  }
}

async function otherTenantsOf({ memberships }: AuthDependencies, { tenant }: Directory, user: UserId): Promise<number> {
  return (await memberships.tenantsOf(user)).filter((id) => id !== tenant.id).length;
}
