import { isEngramError } from '../../common/kernel/errors.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { type LogoutRequest, logOut } from '../sign-in/log-out.ts';
import { checkReturnAddress, requireProvider } from './oidc-providers.ts';

export interface ProviderLogoutRequest extends LogoutRequest {
  readonly provider: string;
  readonly email: string;
  /** The one of the sign-in, if the browser still has it. */
  readonly idToken: string | null;
  readonly returnTo: string | undefined;
}

/**
 * Ends the session here, and says where the browser ends it at the provider (OpenID Connect RP-Initiated Logout); null when
 * the provider has no such page or does not answer. Errors: `EntityNotFoundError`, `InvalidRequestError` for a return
 * address that leads elsewhere; the session goes on then.
 */
export async function logOutWithProvider(
  deps: AuthDependencies,
  { provider: name, email, idToken, returnTo, ...session }: ProviderLogoutRequest,
): Promise<string | null> {
  const { oidc, provider } = requireProvider(deps, name);
  const checked = returnTo === undefined ? null : checkReturnAddress(returnTo, oidc);
  await logOut(deps, session);
  try {
    return await oidc.client.endSessionUrl(provider, { loginHint: email, idToken, returnTo: checked });
  } catch (error) {
    if (isEngramError(error)) return null;
    throw error;
  }
}
