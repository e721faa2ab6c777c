import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import type { Configuration, CustomFetch } from 'openid-client';
import { isEngramError } from '../../common/kernel/errors.ts';
import type { OidcProvider } from '../../common/platform/config/oidc-providers.ts';
import type { Logger } from '../../common/ports/logger.ts';
import type { Clock, MonotonicClock } from '../../common/ports/system.ts';
import type { SendToProvider } from './oidc-client.ts';
import { asProviderError, unavailable } from './provider-errors.ts';

/** Only asymmetric signatures prove an identity here: neither shared secrets nor unsigned tokens. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** Allowed difference between the clocks of a provider and this server. */
export const CLOCK_SKEW_SECONDS = 30;
const METADATA_FRESH_MS = 60 * 60_000;
const KEYS_FRESH_MS = 15 * 60_000;
/** Minimum interval between two requests for unknown keys. */
const KEYS_COOLDOWN_MS = 10_000;
/** After a failure requests to the provider fail at once for this time, so that callers do not wait for it. */
const PAUSE_MS = 5_000;

export interface ConnectionOptions {
  readonly send: SendToProvider;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Time limit of each request; default 5. */
  readonly timeoutSeconds?: number;
  readonly keysCooldownMs?: number;
}

/** The published metadata and keys of one provider. */
export interface ProviderConnection {
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

export function withoutSlash(url: string): string {
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
