import { checkEmailAddress } from '../../common/domain/email-address.ts';
import type { OidcProvider } from '../../common/platform/config/oidc-providers.ts';
import type { RateLimiter } from '../../common/ports/system.ts';
import type { AuthDependencies } from '../model.ts';

/**
 * Requests to OpenID Connect providers. Providers are contacted when they are needed, so the service starts while one is
 * down. Errors of all methods: `ServiceUnavailableError` while the provider does not answer or is misconfigured,
 * `PermissionDeniedError` for a refusal by the provider and for answers that do not prove an identity.
 */
export interface OidcClient {
  /** Address of the provider's sign-in page. */
  authorizationUrl(provider: OidcProvider, request: AuthorizationRequest): Promise<string>;
  /** Exchanges the code of the callback for tokens and verifies them. */
  redeem(provider: OidcProvider, response: AuthorizationResponse): Promise<SignedIn>;
  /** Address of the provider's logout page; null: it has none. */
  endSessionUrl(provider: OidcProvider, request: EndSessionRequest): Promise<string | null>;
  /** The identity of an access token; null unless it is a valid one of a configured issuer for one of its audiences. */
  readAccessToken(token: string): Promise<AccessTokenHolder | null>;
}

interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** PKCE: its hash is sent with the browser, the verifier itself with the code. */
  readonly codeVerifier: string;
}

interface AuthorizationResponse extends Omit<AuthorizationRequest, 'redirectUri'> {
  /** The redirect URI with the query parameters of the callback. */
  readonly callbackUrl: string;
}

interface EndSessionRequest {
  /** The user to sign out, for providers that accept a hint without an ID token. */
  readonly loginHint: string;
  readonly idToken: string | null;
  /** Address to return to after the logout, which must be registered at the provider. */
  readonly returnTo: string | null;
}

/** An identity that an issuer has proved. */
export interface ProvenIdentity {
  readonly provider: OidcProvider;
  /** Exactly as in the issuer's tokens. */
  readonly issuer: string;
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

interface SignedIn {
  readonly identity: ProvenIdentity;
  readonly idToken: string;
}

export interface AccessTokenHolder {
  readonly identity: ProvenIdentity;
  /** Including the allowance for clock skew. */
  readonly endsAt: Date;
}

/** `fetch` with time limits; without `allowPrivateNetwork` to public addresses only. */
export type SendToProvider = (url: string, init: RequestInit, rules: OidcProvider) => Promise<Response>;

type Claims = Readonly<Record<string, unknown>>;

/** The normalised address if the provider has verified it; else null. */
export function verifiedAddress({ email, email_verified }: Claims): string | null {
  // Some providers send booleans as strings.
  const isVerified = email_verified === true || email_verified === 'true';
  return isVerified && typeof email === 'string' ? (checkEmailAddress(email).address ?? null) : null;
}

/** Whether the address belongs to one of the domains; subdomains do not count. */
export function isWithinDomains(address: string, domains: readonly string[]): boolean {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  return domains.length === 0 || domains.includes(domain);
}

/** The strings of a claim: one, or a list. `realm_access.roles` is looked up as a name first, then as a path. */
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

/** The configuration of providers. */
export interface OidcOptions {
  readonly providers: readonly OidcProvider[];
  /** ENGRAM_PUBLIC_URL */
  readonly publicUrl: string;
  /** Further origins to which a browser may be sent after signing in or out. */
  readonly returnOrigins: readonly string[];
  readonly send: SendToProvider;
  /** Limits started sign-ins per process: these requests are unauthenticated, and each is stored for a while. */
  readonly limiter: RateLimiter;
}

/** The configured providers, for the use cases. */
export interface OidcSetup extends Omit<OidcOptions, 'send'> {
  readonly client: OidcClient;
}

export interface OidcDependencies extends AuthDependencies {
  /** Null: no provider is configured. */
  readonly oidc: OidcSetup | null;
}
