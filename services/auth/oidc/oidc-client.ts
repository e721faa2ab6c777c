import type { OidcProvider } from '../../common/platform/config/oidc-providers.ts';

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
