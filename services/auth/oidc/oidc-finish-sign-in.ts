import { timingSafeEqual } from 'node:crypto';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import type { AuthDependencies } from '../dependencies.ts';
import type { SignInAttempt } from '../repositories/sign-in-attempts.ts';
import { openSession } from '../sign-in/open-session.ts';
import { applyMappedRoles, joinProviderTenant } from './oidc-access.ts';
import { accountOf } from './oidc-account.ts';
import type { ProvenIdentity } from './oidc-client.ts';
import { callbackAddress, requireProvider } from './oidc-providers.ts';
import { browserHash } from './oidc-start-sign-in.ts';

export interface ReturnedBrowser {
  readonly provider: string;
  /** The parameters it came back with. */
  readonly parameters: Readonly<Record<string, string | undefined>>;
  /** Its cookie for the state; null without one. */
  readonly browserSecret: string | null;
  readonly remoteAddress: string;
}

export interface FinishedSignIn {
  readonly outcome: OpenedSession | { readonly error: Error };
  /** Where the sign-in was started from. */
  readonly returnTo: string | null;
}

export interface OpenedSession {
  readonly token: string;
  readonly idToken: string;
}

/**
 * The second half of a sign-in: one use of its state, by the browser that began it. Errors: `EntityNotFoundError` for an
 * unknown provider, `InvalidRequestError` for a sign-in that was not begun here, has ended or is used already. What fails after that is
 * an outcome, so that the browser can be told where it came from.
 */
export async function finishOidcSignIn(deps: AuthDependencies, browser: ReturnedBrowser): Promise<FinishedSignIn> {
  const { oidc, provider } = requireProvider(deps, browser.provider);
  const { state } = browser.parameters;
  const attempt = await takeAttempt(deps, browser);
  const callbackUrl = new URL(callbackAddress(oidc, provider));
  for (const [name, value] of Object.entries(browser.parameters)) {
    if (value !== undefined) callbackUrl.searchParams.set(name, value);
  }
  const { nonce, codeVerifier, returnTo } = attempt;
  try {
    const response = { callbackUrl: callbackUrl.href, state: state ?? '', nonce, codeVerifier };
    const { identity, idToken } = await oidc.client.redeem(provider, response);
    const token = await openFor(deps, identity, browser);
    return { outcome: { token, idToken }, returnTo };
  } catch (error) {
    if (!isEngramError(error)) throw error;
    return { outcome: { error }, returnTo };
  }
}

async function takeAttempt(
  { signInAttempts, clock }: AuthDependencies,
  { provider, parameters: { state }, browserSecret }: ReturnedBrowser,
): Promise<SignInAttempt> {
  const attempt = state === undefined ? null : await signInAttempts.get(state);
  const isOurs =
    attempt !== null &&
    attempt.provider === provider &&
    browserSecret !== null &&
    isEqual(browserHash(browserSecret), attempt.browser) &&
    Date.parse(attempt.expiresAt) > clock.now().getTime();
  // Only the browser that began it can use it up.
  if (!isOurs || state === undefined || !(await signInAttempts.take(state))) {
    throw engramError(
      'InvalidRequestError',
      'This sign-in was not started in this browser, has ended or was finished already. Start again.',
    );
  }
  return attempt;
}

async function openFor(deps: AuthDependencies, identity: ProvenIdentity, browser: ReturnedBrowser): Promise<string> {
  const { remoteAddress } = browser;
  try {
    const account = await accountOf(deps, identity);
    await joinProviderTenant(deps, identity, account);
    await applyMappedRoles(deps, identity, account.user.id);
    return await openSession(deps, { user: account.user, method: `oidc:${identity.provider.name}`, remoteAddress });
  } catch (error) {
    if (isEngramError(error) && error.status < 500) await recordRefusal(deps, identity, { error, remoteAddress });
    throw error;
  }
}

async function recordRefusal(
  deps: AuthDependencies,
  { provider, subject, claims: { email } }: ProvenIdentity,
  { error, remoteAddress }: { readonly error: Error; readonly remoteAddress: string },
): Promise<void> {
  await deps.audit.record({
    ...{ tenant: PERSONAL_TENANT, action: 'session.refused', actor: null },
    subject: typeof email === 'string' ? email.slice(0, 320) : subject,
    details: { method: `oidc:${provider.name}`, address: remoteAddress, reason: error.message },
  });
}

function isEqual(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
