import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import type { OidcProvider } from '../../common/platform/config/oidc-providers.ts';
import type { Logger } from '../../common/ports/logger.ts';

/** Codes of openid-client and jose for answers that violate the protocol. */
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

/** OAuth error codes that mean a misconfiguration of this client at the provider. */
const WRONG_SETUP = new Set(['invalid_client', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope']);

/** Error codes that are shown to clients: only those in the format of OAuth. */
const ERROR_CODE = /^[a-z_]{1,60}$/;

/**
 * Translates an error of openid-client or jose into the one that the client sees; others are returned unchanged. Codes and
 * messages are logged for the operator. The original error is dropped, since it contains claims, bodies and tokens.
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
  if (isInvalidToken(error) || (typeof code === 'string' && code.startsWith('OAUTH_'))) {
    logger.warn('auth.oidc.answer_refused', log);
    return refused(`The answer of ${provider.title} does not prove who signed in.`);
  }
  return error;
}

/** Whether jose refused a token because of its content; the provider works. */
export function isInvalidToken(error: unknown): boolean {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' && /^ERR_J(OSE|W)/.test(code) && !BROKEN_ANSWERS.has(code);
}

export function unavailable({ title }: OidcProvider, cause?: unknown): Error {
  return engramError('ServiceUnavailableError', `${title} cannot be reached or is not set up right at the moment.`, {
    cause,
    retryable: true,
    retryAfterSeconds: 10,
  });
}

function refused(message: string): Error {
  return engramError('PermissionDeniedError', message);
}
