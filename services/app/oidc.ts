import type { OidcOptions } from '../auth/oidc/oidc-client.ts';
import type { Config } from '../common/platform/config/configuration.ts';
import { onDemand } from '../common/platform/lifecycle/on-demand.ts';
import { createMemoryRateLimiter } from '../common/platform/system/memory-rate-limiter.ts';
import type { Clock } from '../common/ports/system.ts';

/** What auth needs to know of the providers; undefined when none is configured. */
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
    send: onDemand(async () => (await import('../common/platform/fetch/provider-fetch.ts')).createProviderFetch()),
    limiter: createMemoryRateLimiter({ clock }),
  };
}
