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

/** What stays out stays as it is. */
export interface UserChange {
  /** Checked and spelled as it is stored. */
  readonly email?: string | undefined;
  readonly password?: string | undefined;
  readonly isActive?: boolean | undefined;
  readonly isSuperuser?: boolean | undefined;
  /** Without it a new address is unverified. */
  readonly isVerified?: boolean | undefined;
}

/**
 * Changes an account; the caller has checked that `by` may. A new password ends all login tokens, an inactive account's
 * credentials are refused at once. Errors: `UserNotFoundError`; 400 `UPDATE_USER_EMAIL_ALREADY_EXISTS` and
 * `UPDATE_USER_INVALID_PASSWORD`; `PermissionDeniedError` for what default account, last superuser and agents must stay.
 */
export async function changeUser(
  deps: AuthDependencies,
  id: UserId,
  change: UserChange,
  by: UserId | null,
): Promise<User> {
  const reason = change.password === undefined ? null : passwordProblem(change.password, deps.settings);
  if (reason !== null) throw new HttpError(400, { detail: { code: 'UPDATE_USER_INVALID_PASSWORD', reason } });
  // Before the costly hash; and again below, on the account as it is then.
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
      const guards = isRuling(user) && !isRuling(changed) ? [await otherSuperuserWrite(deps, id)] : [];
      const [result] = await deps.audit.commit({ tenant: PERSONAL_TENANT }, [write, ...guards], [first, ...rest]);
      // An agent is admitted as long as the one it works for.
      const agents = changed.isActive === user.isActive ? [] : await deps.users.childAgents(id);
      for (const each of [id, ...agents]) deps.notify.userChanged(each);
      return { ...changed, version: result?.stored?.version ?? user.version };
    } catch (error) {
      if (error instanceof DuplicateKeyError) throw emailTaken();
      throw error;
    }
  });
}

function isRuling({ isActive, isSuperuser }: User): boolean {
  return isActive && isSuperuser;
}

function changedEmail(deps: AuthDependencies, user: User, email: string | undefined): Partial<User> {
  if (email === undefined || email === user.email) return {};
  const isSameAddress = emailKey(email) === emailKey(user.email);
  if (!isSameAddress && isDefaultAddress(deps.settings, user.email)) {
    // It would leave its datasets behind: the next start or anonymous request makes a new default account.
    throw engramError('PermissionDeniedError', 'The address of the default account is set by DEFAULT_USER_EMAIL.');
  }
  if (!isSameAddress && isReservedAddress(deps.settings, email)) throw emailTaken();
  return { email, isVerified: isSameAddress && user.isVerified };
}

function refuseForDefaultAccount({ settings }: AuthDependencies, user: User, changed: User): void {
  if (!isDefaultAddress(settings, user.email) || settings.posture.required) return;
  if (!isRuling(user) || isRuling(changed)) return;
  throw engramError(
    'PermissionDeniedError',
    'While no credentials are required, the default account stands for everybody: it stays an active superuser.',
  );
}

/** An agent's key must not become a password or an address that outlives it. */
function refuseForAgents({ parentId }: User, { email, password, isSuperuser }: UserChange): void {
  if (parentId === null) return;
  if (email === undefined && password === undefined && isSuperuser !== true) return;
  throw engramError(
    'PermissionDeniedError',
    'An agent signs in with API keys only, keeps its address, and cannot be a superuser.',
  );
}

/** What the audit log tells; nothing when nothing changed. */
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

export type AccountChange = Pick<UserChange, 'email' | 'password'>;

/**
 * Changes the caller's own address or password and nothing else, whatever was sent. Errors as `changeUser`, and
 * `PermissionDeniedError` for a request that came with a key that has a budget: a password signs in without one.
 */
export async function updateOwnAccount(
  deps: AuthDependencies,
  principal: Principal,
  { email, password }: AccountChange,
): Promise<User> {
  await requireNoKeyBudget(deps, principal);
  return changeUser(deps, principal.id, { email, password }, principal.id);
}
