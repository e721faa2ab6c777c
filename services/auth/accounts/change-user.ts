import { emailKey } from '../../common/domain/email-address.ts';
import type { UserId } from '../../common/kernel/brand.ts';
import { engramError } from '../../common/kernel/errors.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { withoutUndefined } from '../../common/kernel/objects.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { AuditEntry } from '../../common/ports/audit-log.ts';
import type { User } from '../../common/records/auth/users.ts';
import { DuplicateKeyError } from '../../common/storage/ports/document-store.ts';
import { requireNoKeyBudget } from '../budgets/budgets.ts';
import type { AuthDependencies } from '../model.ts';
import { currentUser, isDefaultAddress, isReservedAddress, otherSuperuserWrite, passwordProblem } from './account.ts';

/** Absent fields are not changed. */
interface UserChange {
  /** Validated and normalised, as it is stored. */
  readonly email?: string | undefined;
  readonly password?: string | undefined;
  readonly isActive?: boolean | undefined;
  readonly isSuperuser?: boolean | undefined;
  /** Default: a new address is unverified. */
  readonly isVerified?: boolean | undefined;
}

/**
 * Changes an account; the caller has checked that `by` may. A new password ends all login tokens; credentials of an inactive
 * account are refused at once. Errors: `UserNotFoundError`; 400 `UPDATE_USER_EMAIL_ALREADY_EXISTS` and
 * `UPDATE_USER_INVALID_PASSWORD`; `PermissionDeniedError` for changes that the default account, the last superuser and agents
 * do not allow.
 */
export async function changeUser(
  deps: AuthDependencies,
  id: UserId,
  change: UserChange,
  by: UserId | null,
): Promise<User> {
  const reason = change.password === undefined ? null : passwordProblem(change.password, deps.settings);
  if (reason !== null) throw new HttpError(400, { detail: { code: 'UPDATE_USER_INVALID_PASSWORD', reason } });
  // Checked before the costly hash, and below again on the account as it is then.
  refuseForAgents(await currentUser(deps, id), change);
  const passwordHash = change.password === undefined ? undefined : await deps.passwords.hash(change.password);
  return retryOnConflict(async () => {
    const user = await currentUser(deps, id);
    refuseForAgents(user, change);
    const changed: User = {
      ...user,
      ...changedEmail(deps, user, change.email),
      ...withoutUndefined({
        isActive: change.isActive,
        isSuperuser: change.isSuperuser,
        isVerified: change.isVerified,
        passwordHash,
      }),
    };
    const [first, ...rest] = entriesOf(user, changed, by);
    if (first === undefined) return user;
    refuseForDefaultAccount(deps, user, changed);
    try {
      const write = deps.users.replaceWrite({ ...changed, updatedAt: deps.clock.now().toISOString() });
      const guards =
        isActiveSuperuser(user) && !isActiveSuperuser(changed) ? [await otherSuperuserWrite(deps, id)] : [];
      const [result] = await deps.audit.commit({ tenant: PERSONAL_TENANT }, [write, ...guards], [first, ...rest]);
      // An agent's credentials are accepted while its parent's are.
      const agents = changed.isActive === user.isActive ? [] : await deps.users.childAgents(id);
      for (const each of [id, ...agents]) deps.notify.userChanged(each);
      return { ...changed, version: result?.stored?.version ?? user.version };
    } catch (error) {
      if (error instanceof DuplicateKeyError) throw emailTaken();
      throw error;
    }
  });
}

function isActiveSuperuser({ isActive, isSuperuser }: User): boolean {
  return isActive && isSuperuser;
}

function changedEmail(deps: AuthDependencies, user: User, email: string | undefined): Partial<User> {
  if (email === undefined || email === user.email) return {};
  const isSameAddress = emailKey(email) === emailKey(user.email);
  if (!isSameAddress && isDefaultAddress(deps.settings, user.email)) {
    // Its datasets would stay with it: the next start or anonymous request creates a new default account.
    throw engramError('PermissionDeniedError', 'The address of the default account is set by DEFAULT_USER_EMAIL.');
  }
  if (!isSameAddress && isReservedAddress(deps.settings, email)) throw emailTaken();
  return { email, isVerified: isSameAddress && user.isVerified };
}

function refuseForDefaultAccount({ settings }: AuthDependencies, user: User, changed: User): void {
  if (!isDefaultAddress(settings, user.email) || settings.posture.required) return;
  if (!isActiveSuperuser(user) || isActiveSuperuser(changed)) return;
  throw engramError(
    'PermissionDeniedError',
    'While no credentials are required, all requests use the default account: it must stay an active superuser.',
  );
}

/** Refuses a password or an address for an agent: they would outlive its API keys. */
function refuseForAgents({ parentId }: User, { email, password, isSuperuser }: UserChange): void {
  if (parentId === null) return;
  if (email === undefined && password === undefined && isSuperuser !== true) return;
  throw engramError(
    'PermissionDeniedError',
    'An agent signs in with API keys only, keeps its address, and cannot be a superuser.',
  );
}

/** Audit entries of the change; none when nothing changed. */
function entriesOf(user: User, changed: User, by: UserId | null): readonly AuditEntry[] {
  const base = { tenant: PERSONAL_TENANT, actor: by, subject: user.id };
  const details: JsonObject = {
    ...(changed.email === user.email ? {} : { email: changed.email }),
    ...(changed.isActive === user.isActive ? {} : { is_active: changed.isActive }),
    ...(changed.isSuperuser === user.isSuperuser ? {} : { is_superuser: changed.isSuperuser }),
    ...(changed.isVerified === user.isVerified ? {} : { is_verified: changed.isVerified }),
  };
  return [
    ...(Object.keys(details).length === 0 ? [] : [{ ...base, action: 'user.changed', details }]),
    ...(changed.passwordHash === user.passwordHash ? [] : [{ ...base, action: 'user.password_changed' }]),
  ];
}

function emailTaken(): HttpError {
  return new HttpError(400, { detail: 'UPDATE_USER_EMAIL_ALREADY_EXISTS' });
}

type AccountChange = Pick<UserChange, 'email' | 'password'>;

/**
 * Changes the caller's own address or password only. Errors as `changeUser`, and `PermissionDeniedError` for a request with a
 * key that has a budget: a login with the password would not be limited by it.
 */
export async function updateOwnAccount(
  deps: AuthDependencies,
  principal: Principal,
  { email, password }: AccountChange,
): Promise<User> {
  await requireNoKeyBudget(deps, principal);
  return changeUser(deps, principal.id, { email, password }, principal.id);
}
