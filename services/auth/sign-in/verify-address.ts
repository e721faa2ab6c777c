import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { retryOnConflict } from '../../common/platform/async/retry-on-conflict.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { AuthDependencies } from '../dependencies.ts';

/**
 * Marks the address of an account as its own by a token from a mail to it. Errors: 400 `VERIFY_USER_BAD_TOKEN`, also when
 * the address changed since or the account is inactive, and `VERIFY_USER_ALREADY_VERIFIED`.
 */
export async function verifyAddress(deps: AuthDependencies, token: string): Promise<User> {
  const claims = await deps.mail.tokens.readVerification(token);
  if (claims === null) throw badToken();
  return retryOnConflict(async () => {
    const user = await deps.users.get(claims.userId);
    if (user === null || !user.isActive || user.email !== claims.email) throw badToken();
    if (user.isVerified) throw new HttpError(400, { detail: 'VERIFY_USER_ALREADY_VERIFIED' });
    const changed = { ...user, isVerified: true, updatedAt: deps.clock.now().toISOString() };
    await deps.audit.commit(
      { tenant: PERSONAL_TENANT },
      [deps.users.replaceWrite(changed)],
      [{ tenant: PERSONAL_TENANT, action: 'user.verified', actor: user.id, subject: user.id }],
    );
    deps.news.userChanged(user.id);
    return changed;
  });
}

function badToken(): HttpError {
  return new HttpError(400, { detail: 'VERIFY_USER_BAD_TOKEN' });
}
