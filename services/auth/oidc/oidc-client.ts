import { checkEmailAddress } from '../../common/domain/email-address.ts';
import type { OidcProvider } from '../../common/platform/config/oidc-providers.ts';
import type { RateLimiter } from '../../common/ports/system.ts';
import type { LoginSessionDependencies } from '../credentials/login-sessions.ts';
import type { AuthDependencies } from '../model.ts';
import type { LinkedIdentities } from '../repositories/linked-identities.ts';
import type { SignInAttempts } from '../repositories/sign-in-attempts.ts';

/**
 * What the service asks of OpenID Connect providers. Nothing is asked before it is needed: the service starts while a
 * provider is down. Errors of all methods: `ServiceUnavailableError` while the provider does not answer or is not set up
 * right, `PermissionDeniedError` for what it refused and for answers that do not prove who signed in.
 */
export interface OidcClient {
  /** Where the browser is sent to sign in. */
  authorizationUrl(provider: OidcProvider, request: AuthorizationRequest): Promise<string>;
  /** Exchanges the code that the browser came back with, and proves the answer. */
  redeem(provider: OidcProvider, response: AuthorizationResponse): Promise<SignedIn>;
  /** Where the browser is sent to sign out of the provider as well; null when the provider has no such page. */
  endSessionUrl(provider: OidcProvider, request: EndSessionRequest): Promise<string | null>;
  /** Null for what is no access token of a configured issuer for one of its audiences, and for one that has ended. */
  readAccessToken(token: string): Promise<AccessTokenHolder | null>;
}

export interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** PKCE: its hash goes with the browser, itself with the code. */
  readonly codeVerifier: string;
}

export interface AuthorizationResponse extends Omit<AuthorizationRequest, 'redirectUri'> {
  /** The redirect URI with the parameters that came with the browser. */
  readonly callbackUrl: string;
}

export interface EndSessionRequest {
  /** Whom to sign out, for providers that take a hint without an ID token. */
  readonly loginHint: string;
  readonly idToken: string | null;
  /** Where the provider sends the browser then; it has to be registered there. */
  readonly returnTo: string | null;
}

/** Somebody as an issuer tells. */
export interface ProvenIdentity {
  readonly provider: OidcProvider;
  /** Exactly as in the issuer's tokens. */
  readonly issuer: string;
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

export interface SignedIn {
  readonly identity: ProvenIdentity;
  readonly idToken: string;
}

export interface AccessTokenHolder {
  readonly identity: ProvenIdentity;
  /** Allowance for clocks that differ included. */
  readonly endsAt: Date;
}

/** `fetch` within time limits; without `allowPrivateNetwork` to public addresses only. */
export type SendToProvider = (
  url: string,
  init: RequestInit,
  rules: Pick<OidcProvider, 'allowPrivateNetwork'>,
) => Promise<Response>;

export type Claims = Readonly<Record<string, unknown>>;

/** The address, spelled as accounts have it, when the provider says that it belongs to the person; else null. */
export function verifiedAddress({ email, email_verified }: Claims): string | null {
  // Some providers send booleans as texts.
  const isVerified = email_verified === true || email_verified === 'true';
  return isVerified && typeof email === 'string' ? (checkEmailAddress(email).address ?? null) : null;
}

/** Whether the address is within one of the domains; subdomains are others. */
export function isWithinDomains(address: string, domains: readonly string[]): boolean {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  return domains.length === 0 || domains.includes(domain);
}

/** Texts of a claim: one, or a list of them. `realm_access.roles` is looked for by that name first, then as a path. */
export function claimValues(claims: Claims, claim: string): ReadonlySet<string> {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : valueAt(claims, claim.split('.'));
  return new Set([value].flat().filter((each) => typeof each === 'string'));
}

function valueAt(claims: Claims, path: readonly string[]): unknown {
  let value: unknown = claims;
  for (const name of path) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return undefined;
    value = (value as Claims)[name];
  }
  return value;
}

/** From the configuration; left out where no provider is configured. */
export interface OidcOptions {
  readonly providers: readonly OidcProvider[];
  /** ENGRAM_PUBLIC_URL */
  readonly publicUrl: string;
  /** Origins beside that of `publicUrl` to which a browser may be sent after it signed in or out. */
  readonly returnOrigins: readonly string[];
  readonly send: SendToProvider;
  /** Of each process: whoever sends browsers to a provider is nobody yet, and each one is remembered for a while. */
  readonly limiter: RateLimiter;
}

/** What the use cases of signing in with a provider work with. */
export interface OidcSetup extends Omit<OidcOptions, 'send'> {
  readonly client: OidcClient;
}

export interface OidcDependencies extends AuthDependencies, LoginSessionDependencies {
  /** Null: no provider is configured. */
  readonly oidc: OidcSetup | null;
  readonly linkedIdentities: LinkedIdentities;
  readonly signInAttempts: SignInAttempts;
}
