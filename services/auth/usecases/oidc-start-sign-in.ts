import { hash, randomBytes } from 'node:crypto';
import type { AuthDependencies } from '../dependencies.ts';
import { callbackAddress, checkReturnAddress, requireProvider } from './oidc-providers.ts';

/** From the click to the return; long enough to find a second factor. */
export const ATTEMPT_LIFETIME_SECONDS = 600;

export interface StartedSignIn {
  /** At the provider. */
  readonly location: string;
  /** Goes with the browser: the answer counts only together with it. */
  readonly state: string;
  readonly browserSecret: string;
}

/**
 * Sends a browser to a provider. Errors: `EntityNotFoundError` for an unknown provider, `InvalidRequestError` for a return
 * address that leads elsewhere, `ServiceUnavailableError`.
 */
export async function startOidcSignIn(
  deps: Pick<AuthDependencies, 'oidc' | 'signInAttempts' | 'clock'>,
  { provider: name, returnTo }: { readonly provider: string; readonly returnTo: string | undefined },
): Promise<StartedSignIn> {
  const { oidc, provider } = requireProvider(deps, name);
  const checked = returnTo === undefined ? null : checkReturnAddress(returnTo, oidc);
  const [state, nonce, codeVerifier, browserSecret] = [randomWord(), randomWord(), randomWord(), randomWord()];
  const redirectUri = callbackAddress(oidc, provider);
  const location = await oidc.client.authorizationUrl(provider, { redirectUri, state, nonce, codeVerifier });
  const now = deps.clock.now();
  const expiresAt = new Date(now.getTime() + ATTEMPT_LIFETIME_SECONDS * 1000).toISOString();
  const attempt = {
    ...{ provider: provider.name, nonce, codeVerifier, returnTo: checked, expiresAt },
    browser: browserHash(browserSecret),
  };
  await deps.signInAttempts.add(state, attempt, now);
  return { location, state, browserSecret };
}

export function browserHash(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** 256 bits; also as RFC 7636 wants a code verifier. */
function randomWord(): string {
  return randomBytes(32).toString('base64url');
}
