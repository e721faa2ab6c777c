import type { OidcProvider } from '../../common/platform/config/oidc-providers.ts';
import type { RateLimiter } from '../../common/ports/system.ts';
import { createOidcClient } from './create-oidc-client.ts';
import type { OidcClient, SendToProvider } from './oidc-client.ts';
import type { ConnectionOptions } from './provider-connection.ts';

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

export function createOidcSetup(
  options: OidcOptions | undefined,
  { clock, logger }: Pick<ConnectionOptions, 'clock' | 'logger'>,
): OidcSetup | null {
  if (options === undefined || options.providers.length === 0) return null;
  const { send, ...rest } = options;
  return { ...rest, client: createOidcClient(options.providers, { send, clock, logger }) };
}
