import { randomBytes, timingSafeEqual } from 'node:crypto';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import { sha256 } from '../../common/kernel/hashes.ts';
import { PERSONAL_TENANT } from '../../common/kernel/scope.ts';
import { nullIf } from '../../common/platform/async/null-if.ts';
import type { OidcProvider } from '../../common/platform/config/oidc-providers.ts';
import { type LogoutRequest, logOut, openSession } from '../credentials/login-sessions.ts';
import type { SignInAttempt } from '../repositories/sign-in-attempts.ts';
import { accountOf } from './linked-account.ts';
import type { OidcDependencies, OidcSetup, ProvenIdentity } from './oidc-client.ts';
import { applyMappedRoles, joinProviderTenant } from './provider-access.ts';

/** Time limit of a sign-in at the provider, second factor included. */
export const ATTEMPT_LIFETIME_SECONDS = 600;

/** Started sign-ins per client address, which may be that of a whole company. */
const STARTS = { capacity: 100, refillPerSecond: 1 };

interface SignInStart {
  readonly provider: string;
  readonly returnTo: string | undefined;
  readonly remoteAddress: string;
}

interface StartedSignIn {
  /** Address of the provider's page. */
  readonly location: string;
  /** Sent to the provider with the browser; the answer must contain it. */
  readonly state: string;
  readonly browserSecret: string;
}

/**
 * Starts a sign-in at a provider. Errors: `EntityNotFoundError` for an unknown provider, `InvalidRequestError` for a return
 * address of another origin, `TooManyRequestsError`, `ServiceUnavailableError`.
 */
export async function startOidcSignIn(
  deps: OidcDependencies,
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
    provider: provider.name,
    nonce,
    codeVerifier,
    returnTo: checked,
    expiresAt,
    browser: browserHash(browserSecret),
  };
  await deps.signInAttempts.add(state, attempt, now);
  return { location, state, browserSecret };
}

function browserHash(secret: string): string {
  return sha256(secret);
}

/** 256 random bits, also in the format of a code verifier of RFC 7636. */
function randomWord(): string {
  return randomBytes(32).toString('base64url');
}

interface ReturnedBrowser {
  readonly provider: string;
  /** Query parameters of the callback. */
  readonly parameters: Readonly<Record<string, string | undefined>>;
  /** The cookie of this sign-in; null: the browser sent none. */
  readonly browserSecret: string | null;
  readonly remoteAddress: string;
}

interface FinishedSignIn {
  readonly outcome: OpenedSession | { readonly error: Error };
  /** Where the sign-in was started. */
  readonly returnTo: string | null;
}

export interface OpenedSession {
  readonly token: string;
  readonly idToken: string;
}

/**
 * Finishes a sign-in with the callback of the provider: once per state, and only in the browser that started it. Errors:
 * `EntityNotFoundError` for an unknown provider, `InvalidRequestError` for a sign-in that was not started here, has expired
 * or is used already. Later failures are part of the outcome, so that the browser can be sent back to where it came from.
 */
export async function finishOidcSignIn(deps: OidcDependencies, browser: ReturnedBrowser): Promise<FinishedSignIn> {
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
  { signInAttempts, clock }: OidcDependencies,
  { provider, parameters: { state }, browserSecret }: ReturnedBrowser,
): Promise<SignInAttempt> {
  const attempt = state === undefined ? null : await signInAttempts.get(state);
  const isOurs =
    attempt !== null &&
    attempt.provider === provider &&
    browserSecret !== null &&
    isEqual(browserHash(browserSecret), attempt.browser) &&
    Date.parse(attempt.expiresAt) > clock.now().getTime();
  // Checked before it is used up: another browser cannot end it.
  if (!isOurs || state === undefined || !(await signInAttempts.take(state))) {
    throw engramError(
      'InvalidRequestError',
      'This sign-in was not started in this browser, has ended or was finished already. Start again.',
    );
  }
  return attempt;
}

async function openFor(deps: OidcDependencies, identity: ProvenIdentity, browser: ReturnedBrowser): Promise<string> {
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
  deps: OidcDependencies,
  { provider, subject, claims: { email } }: ProvenIdentity,
  { error, remoteAddress }: { readonly error: Error; readonly remoteAddress: string },
): Promise<void> {
  await deps.audit.record({
    tenant: PERSONAL_TENANT,
    action: 'session.refused',
    actor: null,
    subject: typeof email === 'string' ? email.slice(0, 320) : subject,
    details: { method: `oidc:${provider.name}`, address: remoteAddress, reason: error.message },
  });
}

function isEqual(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

interface ProviderLogoutRequest extends LogoutRequest {
  readonly provider: string;
  readonly email: string;
  /** The ID token of the sign-in, if the browser still has it. */
  readonly idToken: string | null;
  readonly returnTo: string | undefined;
}

/**
 * Ends the session here, and returns the address at which the browser ends it at the provider (OpenID Connect RP-Initiated
 * Logout); null when the provider has no such page or does not answer. Errors, which leave the session open:
 * `EntityNotFoundError`, `InvalidRequestError` for a return address of another origin.
 */
export async function logOutWithProvider(
  deps: OidcDependencies,
  { provider: name, email, idToken, returnTo, ...session }: ProviderLogoutRequest,
): Promise<string | null> {
  const { oidc, provider } = requireProvider(deps, name);
  const checked = returnTo === undefined ? null : checkReturnAddress(returnTo, oidc);
  await logOut(deps, session);
  const hints = { loginHint: email, idToken, returnTo: checked };
  return nullIf(isEngramError, oidc.client.endSessionUrl(provider, hints));
}

/** Errors: `EntityNotFoundError` (404). */
function requireProvider({ oidc }: OidcDependencies, name: string) {
  const provider = oidc?.providers.find((candidate) => candidate.name === name);
  if (oidc === null || provider === undefined) {
    throw engramError('EntityNotFoundError', 'No sign-in provider of this name is configured.');
  }
  return { oidc, provider };
}

/** The redirect URI of the provider, which must be registered there. */
function callbackAddress({ publicUrl }: OidcSetup, { name }: OidcProvider): string {
  return `${publicUrl}/api/v1/auth/oidc/${name}/callback`;
}

/**
 * Returns the address to send a browser to as an absolute URL: a path of this server, or a page of an allowed origin. Others
 * would make this server an open redirector. Errors: `InvalidRequestError`.
 */
function checkReturnAddress(text: string, { publicUrl, returnOrigins }: OidcSetup): string {
  const url = URL.parse(text, publicUrl);
  const origins = [new URL(publicUrl).origin, ...returnOrigins];
  if (url === null || !origins.includes(url.origin) || url.username !== '' || url.password !== '') {
    throw engramError(
      'InvalidRequestError',
      'return_to must be a path, or an address of an origin listed in CORS_ALLOWED_ORIGINS.',
    );
  }
  return url.href;
}
