import type { OidcOptions } from '../auth/oidc/oidc-client.ts';
import type { Config } from '../common/platform/config/configuration.ts';
import { createProviderFetch } from '../common/platform/fetch/provider-fetch.ts';
import { createMemoryRateLimiter } from '../common/platform/system/memory-rate-limiter.ts';
import type { Clock } from '../common/ports/system.ts';

/** Returns the options of auth for identity providers; undefined when none is configured. */
export function oidcOptions({
  config,
  clock,
}: {
  readonly config: Config;
  readonly clock: Clock;
}): OidcOptions | undefined {
  const { oidcProviders, publicUrl, corsOrigins } = config;
  if (oidcProviders.length === 0 || publicUrl === undefined) return undefined;
  return {
    providers: oidcProviders,
    publicUrl,
    returnOrigins: corsOrigins.filter((origin) => origin !== '*'),
    send: createProviderFetch(),
    limiter: createMemoryRateLimiter({ clock }),
  };
}
