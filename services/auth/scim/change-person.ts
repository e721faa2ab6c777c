import { isDeepStrictEqual } from 'node:util';
import { emailKey } from '../../common/domain/email-address.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import type { AuditEntry } from '../../common/ports/audit-log.ts';
import type { User } from '../../common/records/auth/users.ts';
import { DuplicateKeyError, type Write } from '../../common/storage/ports/document-store.ts';
import { isReservedAddress } from '../accounts/account.ts';
import { deleteUser } from '../accounts/delete-user.ts';
import { joinTenant, leaveTenant } from '../tenants/memberships.ts';
import { addressTaken, type Directory, type ScimDependencies, unlessDone } from './directory.ts';
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
 * Changes what the directory says of a person; `change` gets the attributes as they stand and gives all of them. Of an account
 * that the directory made, e-mail and active state follow; of any other, `active` is the membership in the tenant and nothing
 * else. Errors: 404, 409 `uniqueness`, 400 `invalidValue`, 403 for what the directory has no say in.
 */
export async function changePerson(
  deps: ScimDependencies,
  directory: Directory,
  id: string,
  change: (fields: Fields) => Fields,
): Promise<Person> {
  return retryOnConflict(async () => {
    const person = await requirePerson(deps, directory.tenant.id, id);
    const plan = await planOf(deps, directory, { person, next: change(writableFields(person)) });
    try {
      await carryOut(deps, directory, { person, plan });
      return await requirePerson(deps, directory.tenant.id, id);
    } catch (error) {
      if (error instanceof DuplicateKeyError) throw addressTaken();
      throw error;
    }
  });
}

/**
 * Ends the person's membership, and the account itself when the directory made it and no other tenant has it. Errors: 404, 403
 * for the owner of the tenant.
 */
export async function removePerson(deps: ScimDependencies, directory: Directory, id: string): Promise<void> {
  const { tenant, by } = directory;
  const person = await requirePerson(deps, tenant.id, id);
  const { user, isMember } = person;
  refuseForOwner(directory, user);
  const entry = { tenant: tenant.id, actor: by, subject: user.id };
  if (isGoverned(directory, person) && (await otherTenantsOf(deps, directory, user.id)) === 0) {
    await deleteUser(deps, user.id, by);
    await deps.audit.record({ ...entry, action: 'user.deleted', details: { email: user.email } });
    return;
  }
  if (isMember) await unlessDone(leaveTenant(deps, { tenant: tenant.id, user: user.id }, by));
  const forget = deps.scimResources.removeUserWrite(tenant.id, user.id);
  const details = { directory: 'unlinked' };
  await deps.audit.commit({ tenant: tenant.id }, [forget], [{ ...entry, action: 'user.changed', details }]);
}

/** What a change comes to. */
interface Plan {
  readonly userName: string;
  readonly externalId: string | null;
  readonly profile: JsonObject;
  /** The account after it; the same object when it stays as it is. */
  readonly user: User;
  readonly isSuspended: boolean;
  readonly membership: 'begins' | 'ends' | 'stays';
}

interface WantedChange {
  readonly person: Person;
  readonly next: Fields;
}

async function planOf(deps: ScimDependencies, directory: Directory, { person, next }: WantedChange): Promise<Plan> {
  const isGivenUp = next['active'] === false && isActiveHere(person);
  const isTakenUp = next['active'] === true && !isActiveHere(person);
  if (isGivenUp) refuseForOwner(directory, person.user);
  const names = {
    userName: requireUserName(next),
    externalId: textField(next, 'externalId'),
    profile: profileOf(next),
  };
  await refuseNameOfOthers(deps, directory, { person, userName: names.userName });
  const governs = isGoverned(directory, person);
  const email = governs ? await governedAddress(deps, directory, { person, next }) : person.user.email;
  const isActive = isTakenUp ? requireRevivable(person) : person.user.isActive && !(isGivenUp && governs);
  const isSameAddress = emailKey(email) === emailKey(person.user.email);
  const isVerified = isSameAddress ? person.user.isVerified : directory.isTrusted;
  const isSame = email === person.user.email && isActive === person.user.isActive;
  const isSuspended = isActive ? false : person.record?.isSuspended === true || isGivenUp;
  const membership = isGivenUp && !governs ? 'ends' : isTakenUp && !person.isMember ? 'begins' : 'stays';
  const user = isSame ? person.user : { ...person.user, email, isActive, isVerified };
  return { ...names, user, isSuspended, membership };
}

/** A member whom the directory has not spoken of yet goes by the address: no other may get it for a name. */
async function refuseNameOfOthers(
  deps: ScimDependencies,
  { tenant }: Directory,
  { person, userName }: { readonly person: Person; readonly userName: string },
): Promise<void> {
  if (userName === person.record?.userName) return;
  const other = await deps.users.findByEmail(userName);
  if (other === null || other.id === person.user.id) return;
  if (await deps.memberships.has(tenant.id, other.id)) throw addressTaken();
}

/** 403 where somebody else than the directory deactivated the account. */
function requireRevivable({ user, record }: Person): true {
  const isOwnDoing = record?.isProvisioned === true && record.isSuspended && !user.isSuperuser;
  if (user.isActive || isOwnDoing) return true;
  throw scimError(403, 'The account was deactivated, and not by this directory.', 'mutability');
}

async function governedAddress(deps: ScimDependencies, directory: Directory, { person, next }: WantedChange) {
  const { user } = person;
  const address = accountAddress(next);
  if (emailKey(address) === emailKey(user.email)) return address;
  if (isReservedAddress(deps.settings, address)) throw addressTaken();
  // Whoever owns the new address could take the account over, and with it what it may do elsewhere.
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

async function carryOut(deps: ScimDependencies, directory: Directory, change: PlannedChange): Promise<void> {
  const { person, plan } = change;
  const { tenant, by } = directory;
  const { writes, entries } = writesOf(deps, directory, change);
  const [first, ...rest] = entries;
  if (first !== undefined) await deps.audit.commit({ tenant: PERSONAL_TENANT }, writes, [first, ...rest]);
  if (plan.user !== person.user) {
    // An agent is admitted as long as the one it works for.
    for (const id of [person.user.id, ...(await deps.users.childAgents(person.user.id))]) deps.notify.userChanged(id);
    deps.notify.accessChanged(tenant.id, [person.user.id]);
  }
  const membership = { tenant: tenant.id, user: person.user.id };
  if (plan.membership === 'begins') await unlessDone(joinTenant(deps, membership, by));
  if (plan.membership === 'ends') await unlessDone(leaveTenant(deps, membership, by));
}

function writesOf(deps: ScimDependencies, { tenant, by }: Directory, { person, plan }: PlannedChange) {
  const { user, record } = person;
  const at = deps.clock.now().toISOString();
  const { userName, externalId, profile, isSuspended } = plan;
  const said = { userName, externalId, profile, isSuspended, updatedAt: at };
  const base = { tenant: tenant.id, user: user.id, createdAt: at };
  const changed = changedNames(person, plan);
  const writes: Write[] = [];
  const entries: AuditEntry[] = [];
  const account = plan.user === user ? {} : accountDetails(user, plan.user);
  if (record === null) writes.push(deps.scimResources.insertUserWrite({ ...base, ...said, isProvisioned: false }));
  else if (changed.length > 0 || isSuspended !== record.isSuspended)
    writes.push(deps.scimResources.replaceUserWrite({ ...record, ...said }));
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
 * Whether the directory decides over the account itself: never over who left the tenant, rules the server or owns the tenant,
 * and one that nobody vouches for not over who has proved the address to be theirs.
 */
function isGoverned({ tenant, isTrusted }: Directory, { user, record, isMember }: Person): boolean {
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

async function otherTenantsOf({ memberships }: ScimDependencies, { tenant }: Directory, user: UserId): Promise<number> {
  return (await memberships.tenantsOf(user)).filter((id) => id !== tenant.id).length;
}
