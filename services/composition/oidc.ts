import type { OidcOptions } from '../auth/oidc/oidc-setup.ts';
import { createProviderFetch } from '../common/adapters/fetch/provider-fetch.ts';
import type { Config } from '../common/config/configuration.ts';

/** What auth needs to know of the providers; undefined when none is configured. */
export function oidcOptions({ oidcProviders, publicUrl, corsOrigins }: Config): OidcOptions | undefined {
  if (oidcProviders.length === 0 || publicUrl === undefined) return undefined;
  return {
    providers: oidcProviders,
    publicUrl,
    returnOrigins: corsOrigins.filter((origin) => origin !== '*'),
    send: createProviderFetch(),
  };
}
