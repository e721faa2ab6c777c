import { hash, randomBytes } from 'node:crypto';
import { engramError } from '../../common/kernel/errors.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { callbackAddress, checkReturnAddress, requireProvider } from './oidc-providers.ts';

/** From the click to the return; long enough to find a second factor. */
export const ATTEMPT_LIFETIME_SECONDS = 600;

/** From one address; a company may sit behind one. */
const STARTS = { capacity: 100, refillPerSecond: 1 };

export interface SignInStart {
  readonly provider: string;
  readonly returnTo: string | undefined;
  readonly remoteAddress: string;
}

export interface StartedSignIn {
  /** At the provider. */
  readonly location: string;
  /** Goes with the browser: the answer counts only together with it. */
  readonly state: string;
  readonly browserSecret: string;
}

/**
 * Sends a browser to a provider. Errors: `EntityNotFoundError` for an unknown provider, `InvalidRequestError` for a return
 * address that leads elsewhere, `TooManyRequestsError`, `ServiceUnavailableError`.
 */
export async function startOidcSignIn(
  deps: Pick<AuthDependencies, 'oidc' | 'signInAttempts' | 'clock'>,
  { provider: name, returnTo, remoteAddress }: SignInStart,
): Promise<StartedSignIn> {
  const { oidc, provider } = requireProvider(deps, name);
  const checked = returnTo === undefined ? null : checkReturnAddress(returnTo, oidc);
  const { allowed, retryAfterSeconds } = await oidc.limiter.take(remoteAddress, STARTS);
  if (!allowed) {
    const options = { retryable: true, retryAfterSeconds };
    throw engramError('TooManyRequestsError', 'Too many sign-ins were started from your address.', options);
  }
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
