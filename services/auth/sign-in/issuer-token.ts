import { isEngramError } from '../../common/kernel/errors.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { applyMappedRoles, joinProviderTenant } from '../oidc/oidc-access.ts';
import { accountOf } from '../oidc/oidc-account.ts';

export interface IssuerTokenOwner {
  readonly user: User;
  readonly endsAt: Date;
}

/**
 * Whom an access token of a configured issuer stands for: the account linked to its subject, or one linked or made by the
 * rules of a first sign-in. Roles follow the claims of sign-ins, as access tokens often lack them; only a first use applies
 * its own. Null for tokens that are refused. Errors: `ServiceUnavailableError` while the issuer's keys cannot be had.
 */
export async function ownerOfIssuerToken(deps: AuthDependencies, token: string): Promise<IssuerTokenOwner | null> {
  if (deps.oidc === null) return null;
  const holder = await deps.oidc.client.readAccessToken(token);
  if (holder === null) return null;
  const { identity, endsAt } = holder;
  try {
    const account = await accountOf(deps, identity);
    await joinProviderTenant(deps, identity, account);
    if (account.isNew) await applyMappedRoles(deps, identity, account.user.id);
    const user = await deps.users.get(account.user.id);
    return user === null ? null : { user, endsAt };
  } catch (error) {
    if (isEngramError(error) && error.status < 500) return null;
    throw error;
  }
}
