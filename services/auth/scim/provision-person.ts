import type { UserId } from '../../common/kernel/brand.ts';
import { asId } from '../../common/kernel/ids.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { nameConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { NO_PASSWORD, type User } from '../../common/records/auth/users.ts';
import { tenantNotFound } from '../access/tenant-authority.ts';
import { isReservedAddress } from '../accounts/account.ts';
import type { AuthDependencies } from '../model.ts';
import { changePerson } from './change-person.ts';
import { addressTaken, type Directory } from './directory.ts';
import { type Fields, textField } from './fields.ts';
import { accountAddress, type Person, profileOf, requirePerson, requireUserName } from './people.ts';

/**
 * Adds a person to the directory. It creates an account without a password and a membership; the address counts as verified
 * in a trusted directory. An existing member is linked and keeps the account; an account from outside the tenant is not taken
 * over. Errors: 400 `invalidValue`, 409 `uniqueness`.
 */
export async function provisionPerson(deps: AuthDependencies, directory: Directory, fields: Fields): Promise<Person> {
  const userName = requireUserName(fields);
  const address = accountAddress(fields);
  const account = await accountFor(deps, directory, { userName, address });
  const { tenant } = directory;
  if (account === null) {
    return requirePerson(deps, tenant.id, await createAccount(deps, directory, { fields, address }));
  }
  await linkMember(deps, directory, { account, fields });
  const person = await requirePerson(deps, tenant.id, account.id);
  if (fields['active'] !== false) return person;
  return changePerson(deps, directory, account.id, (current) => ({ ...current, active: false }));
}

interface Names {
  readonly userName: string;
  readonly address: string;
}

/** The account with the address, else a member whose address is the userName. */
async function accountFor(deps: AuthDependencies, { tenant }: Directory, { userName, address }: Names) {
  const ofAddress = await deps.users.findByEmail(address);
  if (ofAddress !== null) return ofAddress;
  const ofName = await deps.users.findByEmail(userName);
  return ofName !== null && (await deps.memberships.has(tenant.id, ofName.id)) ? ofName : null;
}

async function createAccount(
  deps: AuthDependencies,
  { tenant, by, isTrusted }: Directory,
  { fields, address }: { readonly fields: Fields; readonly address: string },
): Promise<UserId> {
  if (isReservedAddress(deps.settings, address)) throw addressTaken();
  const id = asId<UserId>(deps.ids.uuid());
  const createdAt = deps.clock.now().toISOString();
  const flags = { isActive: fields['active'] !== false, isSuperuser: false, isVerified: isTrusted };
  const account = { id, email: address, passwordHash: NO_PASSWORD, ...flags, tenant: tenant.id, parentId: null };
  const record = {
    ...recordFieldsOf(fields, createdAt),
    tenant: tenant.id,
    user: id,
    isProvisioned: true,
    isSuspended: !flags.isActive,
  };
  const scope = { tenant: tenant.id };
  const writes = [
    // Touched, so that the commit conflicts with an erasure of the tenant.
    deps.tenants.changeWrite(tenant.id, {}),
    deps.users.insertWrite({ ...account, createdAt }),
    deps.memberships.insertWrite(tenant.id, id, createdAt),
    deps.scimResources.insertUserWrite(record),
    ...deps.eventLog.appendWrites(scope, [
      { type: 'user.registered', subjectId: id, data: {} },
      { type: 'membership.added', subjectId: id, data: {} },
    ]),
  ];
  const who = { actor: by, subject: id };
  const details = { email: address, directory: tenant.id };
  const entries = [
    { tenant: PERSONAL_TENANT, ...who, action: 'user.registered', details },
    { tenant: tenant.id, ...who, action: 'membership.added', details },
  ] as const;
  await nameConflict(deps.audit.commit(scope, writes, entries), {
    duplicate: addressTaken,
    changed: () => tenantNotFound(tenant.id),
  });
  deps.notify.accessChanged(tenant.id, [id]);
  return id;
}

async function linkMember(
  deps: AuthDependencies,
  { tenant, by }: Directory,
  { account, fields }: { readonly account: User; readonly fields: Fields },
): Promise<void> {
  const isMember = await deps.memberships.has(tenant.id, account.id);
  if (!isMember || account.parentId !== null) throw addressTaken();
  const record = recordFieldsOf(fields, deps.clock.now().toISOString());
  const unowned = { isProvisioned: false, isSuspended: false };
  const writes = [
    deps.memberships.touchWrite(tenant.id, account.id),
    deps.scimResources.insertUserWrite({ ...record, ...unowned, tenant: tenant.id, user: account.id }),
  ];
  const details = { directory: 'linked' };
  const entry = { tenant: tenant.id, action: 'user.changed', actor: by, subject: account.id, details };
  // The directory has the person or the name already, or the membership has just ended.
  const taken = { duplicate: addressTaken, changed: addressTaken };
  await nameConflict(deps.audit.commit({ tenant: tenant.id }, writes, [entry]), taken);
}

function recordFieldsOf(fields: Fields, at: string) {
  const names = { userName: requireUserName(fields), externalId: textField(fields, 'externalId') };
  return { ...names, profile: profileOf(fields), createdAt: at, updatedAt: at };
}
