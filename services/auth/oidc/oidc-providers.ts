import { engramError } from '../../common/kernel/errors.ts';
import type { OidcProvider } from '../../common/platform/config/oidc-providers.ts';
import type { AuthDependencies } from '../dependencies.ts';
import type { OidcSetup } from './oidc-setup.ts';

export interface ConfiguredProvider {
  readonly oidc: OidcSetup;
  readonly provider: OidcProvider;
}

/** Errors: `EntityNotFoundError` (404). */
export function requireProvider({ oidc }: Pick<AuthDependencies, 'oidc'>, name: string): ConfiguredProvider {
  const provider = oidc?.providers.find((candidate) => candidate.name === name);
  if (oidc === null || provider === undefined) {
    throw engramError('EntityNotFoundError', 'No sign-in provider of this name is configured.');
  }
  return { oidc, provider };
}

/** Where the provider sends the browser back; to be registered there. */
export function callbackAddress({ publicUrl }: Pick<OidcSetup, 'publicUrl'>, { name }: OidcProvider): string {
  return `${publicUrl}/api/v1/auth/oidc/${name}/callback`;
}

/**
 * The address to send a browser to, spelled as a URL: a path of ours, or a page of an origin that is known. Anything else
 * would let a link to us lead to somebody else's page. Errors: `InvalidRequestError`.
 */
export function checkReturnAddress(
  text: string,
  { publicUrl, returnOrigins }: Pick<OidcSetup, 'publicUrl' | 'returnOrigins'>,
): string {
  const url = URL.parse(text, publicUrl);
  const origins = [new URL(publicUrl).origin, ...returnOrigins];
  if (url === null || !origins.includes(url.origin) || url.username !== '' || url.password !== '') {
    throw engramError(
      'InvalidRequestError',
      'return_to must be a path, or an address of an origin listed in CORS_ALLOWED_ORIGINS.',
    );
  }
  return url.href;
}
