import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { ResetClaims } from '../credentials/one-use-tokens.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { passwordProblem } from './password-rule.ts';

export interface PasswordReset {
  readonly token: string;
  readonly password: string;
}

/**
 * Sets a new password by a token from a mail, once, and ends all login tokens of the account. Errors: 400
 * `RESET_PASSWORD_BAD_TOKEN`, for an inactive account too, and `RESET_PASSWORD_INVALID_PASSWORD`; `TooManyRequestsError`.
 */
export async function resetPassword(deps: AuthDependencies, { token, password }: PasswordReset): Promise<void> {
  const claims = await deps.mail.tokens.readReset(token);
  // Before the password is looked at and before its costly hash: without a token there is nothing to be had here.
  if (claims === null) throw badToken();
  await resettable(deps, claims);
  const reason = passwordProblem(password, deps.settings);
  if (reason !== null) throw new HttpError(400, { detail: { code: 'RESET_PASSWORD_INVALID_PASSWORD', reason } });
  const passwordHash = await deps.passwords.hash(password);
  await retryOnConflict(async () => {
    // Anew: of two uses at the same time the second finds the password of the first.
    const user = await resettable(deps, claims);
    const changed = { ...user, passwordHash, updatedAt: deps.clock.now().toISOString() };
    await deps.audit.commit(
      { tenant: PERSONAL_TENANT },
      [deps.users.replaceWrite(changed)],
      [
        {
          ...{ tenant: PERSONAL_TENANT, action: 'user.password_changed', actor: user.id, subject: user.id },
          details: { by: 'reset token' },
        },
      ],
    );
    deps.news.userChanged(user.id);
  });
}

async function resettable({ users, mail }: AuthDependencies, claims: ResetClaims): Promise<User> {
  const user = await users.get(claims.userId);
  if (user === null || !user.isActive || !mail.tokens.isUnused(claims, user)) throw badToken();
  return user;
}

function badToken(): HttpError {
  return new HttpError(400, { detail: 'RESET_PASSWORD_BAD_TOKEN' });
}
