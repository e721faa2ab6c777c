import { emailKey, isAgentAddress } from '../../common/domain/email-address.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import { asId } from '../../common/kernel/ids.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { Write } from '../../common/storage/ports/document-store.ts';
import type { AuthDependencies } from '../model.ts';

type NewUser = Pick<User, 'email' | 'passwordHash' | 'isSuperuser' | 'isVerified'>;

/** Writes that are committed with the account, and details for its audit entry. */
interface AdditionalWrites {
  readonly writes: (user: UserId) => readonly Write[];
  readonly details: JsonObject;
}

/**
 * Commits the account with its event and its audit entry. `by` is null for a user who signs up and for the service itself.
 * Errors: `DuplicateKeyError` when the address has an account.
 */
export async function createUser(
  deps: AuthDependencies,
  account: NewUser,
  by: UserId | null = null,
  also: AdditionalWrites = { writes: () => [], details: {} },
): Promise<User> {
  const user = {
    ...account,
    id: asId<User['id']>(deps.ids.uuid()),
    isActive: true,
    tenant: PERSONAL_TENANT,
    parentId: null,
    createdAt: deps.clock.now().toISOString(),
  };
  const scope = { tenant: PERSONAL_TENANT };
  const events = deps.eventLog.appendWrites(scope, [{ type: 'user.registered', subjectId: user.id, data: {} }]);
  const details = { email: user.email, is_superuser: user.isSuperuser, ...also.details };
  await deps.audit.commit(
    scope,
    [deps.users.insertWrite(user), ...events, ...also.writes(user.id)],
    [{ ...scope, action: 'user.registered', actor: by, subject: user.id, details }],
  );
  return { ...user, version: 1, keysMade: 0, sessionEpoch: 0, updatedAt: null };
}

/** Reads the account. Errors: `UserNotFoundError`. */
export async function currentUser({ users }: AuthDependencies, id: UserId): Promise<User> {
  const user = await users.get(id);
  if (user === null) throw engramError('UserNotFoundError', 'The account no longer exists.');
  return user;
}

/**
 * A write for the commit that deactivates, demotes or deletes a superuser: it touches another superuser, so that of two
 * superusers who end each other at the same time one conflicts (`VersionConflictError`). Errors: `PermissionDeniedError` when
 * there is no other superuser.
 */
export async function otherSuperuserWrite(deps: AuthDependencies, ending: UserId): Promise<Write> {
  const other = (await deps.users.superusers()).find(({ id }) => id !== ending);
  if (other !== undefined) return deps.users.touchWrite(other.id, { isActive: true, isSuperuser: true });
  throw engramError('PermissionDeniedError', 'This is the last superuser; at least one is needed to manage accounts.');
}

/** Longer passwords add no security, only hashing time. */
export const MAX_PASSWORD_LENGTH = 4096;

/** The reason why a password is refused, as clients get it; null: it is accepted. */
export function passwordProblem(
  password: string,
  { minPasswordLength }: { readonly minPasswordLength: number },
): string | null {
  if ([...password].length < minPasswordLength) return `Password should be at least ${minPasswordLength} characters`;
  if (password.length > MAX_PASSWORD_LENGTH) return `Password should be at most ${MAX_PASSWORD_LENGTH} characters`;
  return null;
}

/** Whether it is the address of the default account. */
export function isDefaultAddress(settings: AuthDependencies['settings'], address: string): boolean {
  return emailKey(address) === emailKey(settings.defaultUserEmail);
}

/** Whether the address cannot be registered: it is the default account's or has the form of an agent's. */
export function isReservedAddress(settings: AuthDependencies['settings'], email: string): boolean {
  return isDefaultAddress(settings, email) || isAgentAddress(email);
}
