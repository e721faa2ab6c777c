import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import type { OidcProvider } from '../../common/platform/config/oidc-providers.ts';
import type { Logger } from '../../common/ports/logger.ts';

/** Of openid-client and jose: the provider answered with what no provider answers. */
const BROKEN_ANSWERS = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  'OAUTH_HTTP_REQUEST_FORBIDDEN',
  'OAUTH_REQUEST_PROTOCOL_FORBIDDEN',
  'OAUTH_MISSING_SERVER_METADATA',
  'OAUTH_INVALID_SERVER_METADATA',
  'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED',
  'ERR_JOSE_GENERIC',
  'ERR_JWK_INVALID',
  'ERR_JWKS_INVALID',
  'ERR_JWKS_TIMEOUT',
]);

/** OAuth error codes by which a provider says that this service is not registered as it thinks. */
const WRONG_SETUP = new Set(['invalid_client', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope']);

/** Words that a client may read come from us, or are OAuth's error codes. */
const ERROR_CODE = /^[a-z_]{1,60}$/;

/**
 * The error that a client sees in place of one of openid-client or jose; others stay as they are. What the operator has to
 * know is logged: codes and messages. The error itself is dropped, as it carries what it refused: claims, bodies, tokens.
 */
export function asProviderError(error: unknown, provider: OidcProvider, logger: Logger): unknown {
  if (isEngramError(error)) return error;
  if (!(error instanceof Error)) return error;
  if (isEngramError(error.cause)) return error.cause;
  const { code, error: oauthCode, status } = error as { code?: unknown; error?: unknown; status?: unknown };
  const shownCode = typeof oauthCode === 'string' && ERROR_CODE.test(oauthCode) ? oauthCode : null;
  const reason = shownCode ?? (typeof code === 'string' ? code : error.name);
  const log = { provider: provider.name, reason, message: error.message };
  const isBroken = typeof code === 'string' && BROKEN_ANSWERS.has(code);
  const isWrongSetup = shownCode !== null && WRONG_SETUP.has(shownCode);
  const isServerFault = shownCode !== null && typeof status === 'number' && status >= 500;
  if (isBroken || isWrongSetup || isServerFault) {
    logger.warn('auth.oidc.provider_failed', log);
    return unavailable(provider);
  }
  if (shownCode !== null) {
    logger.info('auth.oidc.refused_by_provider', log);
    return refused(`${provider.title} did not sign you in (${shownCode}).`);
  }
  if (provesNothing(error) || (typeof code === 'string' && code.startsWith('OAUTH_'))) {
    logger.warn('auth.oidc.answer_refused', log);
    return refused(`The answer of ${provider.title} does not prove who signed in.`);
  }
  return error;
}

/** jose refused a token for what the token is; the provider is well. */
export function provesNothing(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' && /^ERR_J(OSE|W)/.test(code) && !BROKEN_ANSWERS.has(code);
}

export function unavailable({ title }: Pick<OidcProvider, 'title'>, cause?: unknown): Error {
  return engramError('ServiceUnavailableError', `${title} cannot be reached or is not set up right at the moment.`, {
    cause,
    retryable: true,
    retryAfterSeconds: 10,
  });
}

function refused(message: string): Error {
  return engramError('PermissionDeniedError', message);
}
