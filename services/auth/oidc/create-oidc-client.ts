import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import type { Configuration, CustomFetch, IDToken, UserInfoResponse } from 'openid-client';
import { isEngramError } from '../../common/kernel/errors.ts';
import type { OidcProvider } from '../../common/platform/config/oidc-providers.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Clock, MonotonicClock } from '../../common/ports/system.ts';
import type {
  AccessTokenHolder,
  OidcClient,
  OidcOptions,
  OidcSetup,
  ProvenIdentity,
  SendToProvider,
} from './oidc-client.ts';
import { asProviderError, isInvalidToken, unavailable } from './provider-errors.ts';

/** Implements `OidcClient` with openid-client, which is loaded with the first sign-in, and jose. */
function createOidcClient(providers: readonly OidcProvider[], options: ConnectionOptions): OidcClient {
  const connectionOf = createConnections(providers, options);
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

/** Returns the connection to a provider. */
function createConnections(providers: readonly OidcProvider[], options: ConnectionOptions) {
  const connections = new Map(
    providers.map((provider) => [provider.name, createProviderConnection(provider, options)] as const),
  );
  return (provider: OidcProvider): ProviderConnection => {
    const connection = connections.get(provider.name);
    if (connection === undefined) throw unavailable(provider);
    return connection;
  };
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

/** Only asymmetric signatures prove an identity here: neither shared secrets nor unsigned tokens. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** Allowed difference between the clocks of a provider and this server. */
const CLOCK_SKEW_SECONDS = 30;
const METADATA_FRESH_MS = 60 * 60_000;
const KEYS_FRESH_MS = 15 * 60_000;
/** Minimum interval between two requests for unknown keys. */
const KEYS_COOLDOWN_MS = 10_000;
/** After a failure requests to the provider fail at once for this time, so that callers do not wait for it. */
const PAUSE_MS = 5_000;

interface ConnectionOptions {
  readonly send: SendToProvider;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Time limit of each request; default 5. */
  readonly timeoutSeconds?: number;
  readonly keysCooldownMs?: number;
}

/** The published metadata and keys of one provider. */
interface ProviderConnection {
  /** Runs the work with openid-client and the provider's metadata, and translates errors. */
  use<T>(work: (openid: typeof import('openid-client'), configuration: Configuration) => Promise<T>): Promise<T>;
  /**
   * Returns the claims of a token that the provider signed for one of the audiences. `now`: only if it differs from the
   * system time.
   */
  verify(token: string, audience: readonly string[], now?: Date): Promise<JWTPayload & { readonly iss: string }>;
}

export function createProviderConnection(provider: OidcProvider, options: ConnectionOptions): ProviderConnection {
  const { clock, logger, timeoutSeconds = 5, keysCooldownMs = KEYS_COOLDOWN_MS } = options;
  const send = pausing(provider, options);
  let keys: { readonly url: string; readonly find: JWTVerifyGetKey } | undefined;

  const known = cachedFor(clock, METADATA_FRESH_MS, async () => {
    try {
      const openid = await import('openid-client');
      return await openid.discovery(new URL(provider.issuer), provider.clientId, undefined, clientAuth(openid), {
        [openid.customFetch]: send as CustomFetch,
        timeout: timeoutSeconds,
        execute: provider.allowPrivateNetwork ? [openid.allowInsecureRequests] : [],
      });
    } catch (error) {
      throw asProviderError(error, provider, logger);
    }
  });

  function clientAuth(openid: typeof import('openid-client')) {
    const { clientSecret, clientAuthentication } = provider;
    if (clientSecret === null) return openid.None();
    return clientAuthentication === 'post'
      ? openid.ClientSecretPost(clientSecret)
      : openid.ClientSecretBasic(clientSecret);
  }

  async function metadata(): Promise<{ readonly issuer: string; readonly jwksUri: string }> {
    const { issuer, jwks_uri: jwksUri } = (await known()).serverMetadata();
    // openid-client accepts another issuer for some providers; identities are stored by issuer, so it must be the
    // configured one.
    if (withoutSlash(issuer) !== withoutSlash(provider.issuer) || jwksUri === undefined) throw unavailable(provider);
    return { issuer, jwksUri };
  }

  async function keysAt(url: string): Promise<JWTVerifyGetKey> {
    const { createRemoteJWKSet, customFetch } = await import('jose');
    if (keys?.url === url) return keys.find;
    const find = createRemoteJWKSet(new URL(url), {
      [customFetch]: send,
      timeoutDuration: timeoutSeconds * 1000,
      cooldownDuration: keysCooldownMs,
      cacheMaxAge: KEYS_FRESH_MS,
    });
    keys = { url, find };
    return find;
  }

  return {
    async use(work) {
      await metadata();
      try {
        return await work(await import('openid-client'), await known());
      } catch (error) {
        throw asProviderError(error, provider, logger);
      }
    },
    async verify(token, audience, now) {
      const { issuer, jwksUri } = await metadata();
      const { jwtVerify } = await import('jose');
      const { payload } = await jwtVerify(token, await keysAt(jwksUri), {
        issuer,
        audience: [...audience],
        algorithms: ALGORITHMS,
        requiredClaims: ['sub', 'exp'],
        clockTolerance: CLOCK_SKEW_SECONDS,
        ...(now === undefined ? {} : { currentDate: now }),
      });
      return { ...payload, iss: issuer };
    },
  };
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, '');
}

/** Fails requests to a provider at once for a while after one has failed. */
function pausing(provider: OidcProvider, { send, clock, logger }: ConnectionOptions) {
  let failedAtMs = Number.NEGATIVE_INFINITY;
  return async (url: string, init: RequestInit): Promise<Response> => {
    if (clock.monotonicMs() - failedAtMs < PAUSE_MS) throw unavailable(provider);
    try {
      const response = await send(url, init, provider);
      if (response.status >= 500) failedAtMs = clock.monotonicMs();
      return response;
    } catch (error) {
      failedAtMs = clock.monotonicMs();
      logger.warn('auth.oidc.provider_unreachable', { provider: provider.name, reason: reasonOf(error) });
      throw unavailable(provider, error);
    }
  };
}

function reasonOf(error: unknown): string {
  if (isEngramError(error)) return error.message;
  const { name, cause } = error as { name?: unknown; cause?: { code?: unknown } };
  return String(cause?.code ?? name);
}

/**
 * A function that loads a value once for all callers, and again when it is older than `freshMs`. When a reload fails it
 * returns the old value; when the first load fails it throws.
 */
function cachedFor<T>(clock: MonotonicClock, freshMs: number, load: () => Promise<T>): () => Promise<T> {
  let known: { readonly value: T; readonly atMs: number } | undefined;
  let loading: Promise<T> | undefined;
  const reload = (): Promise<T> => {
    loading ??= load()
      .then((value) => {
        known = { value, atMs: clock.monotonicMs() };
        return value;
      })
      .finally(() => {
        loading = undefined;
      });
    return loading;
  };
  return async () => {
    if (known === undefined) return reload();
    const { value, atMs } = known;
    if (clock.monotonicMs() - atMs < freshMs) return value;
    return reload().catch(() => value);
  };
}
