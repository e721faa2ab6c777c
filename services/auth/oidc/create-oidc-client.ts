import type { JWTPayload } from 'jose';
import type { Configuration, IDToken, UserInfoResponse } from 'openid-client';
import type { OidcProvider } from '../../common/platform/config/oidc-providers.ts';
import type { AccessTokenHolder, OidcClient, OidcOptions, OidcSetup, ProvenIdentity } from './oidc-client.ts';
import {
  CLOCK_SKEW_SECONDS,
  type ConnectionOptions,
  createProviderConnection,
  type ProviderConnection,
  withoutSlash,
} from './provider-connection.ts';
import { asProviderError, isInvalidToken, unavailable } from './provider-errors.ts';

/** Implements `OidcClient` with openid-client, which is loaded with the first sign-in, and jose. */
function createOidcClient(providers: readonly OidcProvider[], options: ConnectionOptions): OidcClient {
  const connections = new Map(
    providers.map((provider) => [provider.name, createProviderConnection(provider, options)] as const),
  );
  const connectionOf = (provider: OidcProvider): ProviderConnection => {
    const connection = connections.get(provider.name);
    if (connection === undefined) throw unavailable(provider);
    return connection;
  };

  return {
    authorizationUrl: (provider, { redirectUri, state, nonce, codeVerifier }) =>
      connectionOf(provider).use(async (openid, configuration) => {
        const url = openid.buildAuthorizationUrl(configuration, {
          redirect_uri: redirectUri,
          scope: provider.scopes.join(' '),
          code_challenge: await openid.calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
          state,
          nonce,
        });
        return url.href;
      }),

    async redeem(provider, { callbackUrl, state, nonce, codeVerifier }) {
      const connection = connectionOf(provider);
      return connection.use(async (openid, configuration) => {
        const tokens = await openid.authorizationCodeGrant(configuration, new URL(callbackUrl), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        });
        const idToken = tokens.id_token ?? '';
        // openid-client trusts the TLS connection and does not verify the signature of the ID token.
        const { iss: issuer } = await connection.verify(idToken, [provider.clientId]);
        const claims = tokens.claims() as IDToken;
        const further = needsUserInfo(claims, provider, configuration)
          ? await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub)
          : {};
        const identity = { provider, issuer, subject: claims.sub, claims: joinClaims(claims, further) };
        return { identity, idToken };
      });
    },

    endSessionUrl: (provider, { loginHint, idToken, returnTo }) =>
      connectionOf(provider).use(async (openid, configuration) => {
        if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
        const parameters = {
          logout_hint: loginHint,
          ...(idToken === null ? {} : { id_token_hint: idToken }),
          ...(returnTo === null ? {} : { post_logout_redirect_uri: returnTo }),
        };
        return openid.buildEndSessionUrl(configuration, parameters).href;
      }),

    async readAccessToken(token) {
      const issuer = await issuerOf(token);
      if (issuer === null) return null;
      for (const provider of providers) {
        if (provider.audiences.length === 0 || withoutSlash(provider.issuer) !== withoutSlash(issuer)) continue;
        const holder = await holderOf(provider, token);
        if (holder !== null) return holder;
      }
      return null;
    },
  };

  async function holderOf(provider: OidcProvider, token: string): Promise<AccessTokenHolder | null> {
    const { clock, logger } = options;
    try {
      const claims = await connectionOf(provider).verify(token, provider.audiences, clock.now());
      if (await isOtherToken(token, claims, provider)) return null;
      const identity: ProvenIdentity = { provider, issuer: claims.iss, subject: claims.sub ?? '', claims };
      return { identity, endsAt: new Date(((claims.exp ?? 0) + CLOCK_SKEW_SECONDS) * 1000) };
    } catch (error) {
      if (isInvalidToken(error)) return null;
      throw asProviderError(error, provider, logger);
    }
  }
}

/** The unverified issuer of a token, to choose the keys that verify it. */
async function issuerOf(token: string): Promise<string | null> {
  const { decodeJwt } = await import('jose');
  try {
    const issuer: unknown = decodeJwt(token).iss;
    return typeof issuer === 'string' ? issuer : null;
  } catch (error) {
    if (isInvalidToken(error)) return null;
    throw error;
  }
}

/** RFC 9068 requires `at+jwt`; many issuers use `JWT` or nothing. */
const ACCESS_TOKEN_TYPES = new Set(['jwt', 'at+jwt', 'application/at+jwt']);

/** Whether it is another kind of token of the issuer, such as an ID token or a logout token: those must not grant access. */
async function isOtherToken(token: string, claims: JWTPayload, { clientId }: OidcProvider): Promise<boolean> {
  const { decodeProtectedHeader } = await import('jose');
  const { typ = 'JWT' } = decodeProtectedHeader(token);
  if (!ACCESS_TOKEN_TYPES.has(String(typ).toLowerCase()) || claims['events'] !== undefined) return true;
  // An ID token is issued for the client and has claims about the sign-in.
  const isForClient = [claims.aud].flat().includes(clientId);
  return isForClient && ['nonce', 'at_hash', 'c_hash'].some((name) => claims[name] !== undefined);
}

type Claims = Readonly<Record<string, unknown>>;

/** Whether the address or the roles are missing: many providers return them only from the userinfo endpoint. */
function needsUserInfo(claims: Claims, { roles }: OidcProvider, configuration: Configuration): boolean {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return false;
  const roleClaim = roles === null ? 'sub' : (roles.claim.split('.')[0] ?? 'sub');
  const hasRoles = claims[roleClaim] !== undefined || (roles !== null && claims[roles.claim] !== undefined);
  return !hasAddress(claims) || !hasRoles;
}

/**
 * Joins both sources; the ID token takes precedence. Address and `email_verified` come from the same source, since one is
 * about the other.
 */
function joinClaims(claims: Claims, further: Claims | UserInfoResponse): Claims {
  const joined = { ...further, ...claims };
  if (hasAddress(claims)) return joined;
  const { email, email_verified } = further as Claims;
  return { ...joined, email, email_verified };
}

function hasAddress({ email, email_verified }: Claims): boolean {
  return email !== undefined && email_verified !== undefined;
}

export function createOidcSetup(
  options: OidcOptions | undefined,
  { clock, logger }: Pick<ConnectionOptions, 'clock' | 'logger'>,
): OidcSetup | null {
  if (options === undefined || options.providers.length === 0) return null;
  const { send, ...rest } = options;
  return { ...rest, client: createOidcClient(options.providers, { send, clock, logger }) };
}
