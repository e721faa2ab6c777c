import { expect } from 'chai';
import { engramError, isEngramError } from '../../common/kernel/errors.ts';
import type { OidcProvider } from '../../common/platform/config/oidc-providers.ts';
import { asProviderError } from './provider-errors.ts';

const PROVIDER = { name: 'corp', title: 'Corp' } as OidcProvider;
const SECRET = 'eyJhbGciOi.a-token.of-somebody';

function failure(fields: Record<string, unknown>): Error {
  return Object.assign(
    new Error('something went wrong', { cause: { body: SECRET, claims: { email: SECRET } } }),
    fields,
  );
}

/** Status for the client, everything that was logged, everything that hangs on the error. */
function translate(error: unknown) {
  const lines: unknown[] = [];
  const log = (event: string, fields: unknown) => void lines.push([event, fields]);
  const translated = asProviderError(error, PROVIDER, { debug: log, info: log, warn: log, error: log });
  const status = isEngramError(translated) ? translated.status : null;
  const { message, cause } = translated as Error;
  return { status, message, seen: JSON.stringify([lines, message, cause]), translated };
}

describe('errors of providers', () => {
  it('are 503 when the provider or the registration there is at fault', () => {
    for (const code of ['OAUTH_TIMEOUT', 'OAUTH_RESPONSE_IS_NOT_JSON', 'ERR_JWKS_TIMEOUT', 'ERR_JOSE_GENERIC']) {
      expect(translate(failure({ code })).status, code).to.equal(503);
    }
    expect(
      translate(failure({ code: 'OAUTH_RESPONSE_BODY_ERROR', error: 'invalid_client', status: 401 })).status,
    ).to.equal(503);
    expect(
      translate(failure({ code: 'OAUTH_RESPONSE_BODY_ERROR', error: 'server_error', status: 500 })).status,
    ).to.equal(503);
  });

  it('are 403 when the provider refuses, or its answer proves no identity', () => {
    const denied = translate(failure({ code: 'OAUTH_AUTHORIZATION_RESPONSE_ERROR', error: 'access_denied' }));
    expect(denied.status).to.equal(403);
    expect(denied.message).to.equal('Corp did not sign you in (access_denied).');
    for (const code of ['OAUTH_JWT_CLAIM_COMPARISON_FAILED', 'OAUTH_INVALID_RESPONSE', 'ERR_JWT_EXPIRED']) {
      expect(translate(failure({ code })).status, code).to.equal(403);
    }
  });

  it('contain no text, token or claim of the provider', () => {
    const texts = [{ error: `<b>${SECRET}</b>`, code: 'OAUTH_AUTHORIZATION_RESPONSE_ERROR' }];
    for (const fields of [
      ...texts,
      { code: 'OAUTH_TIMEOUT' },
      { code: 'ERR_JWT_EXPIRED' },
      { code: 'OAUTH_INVALID_RESPONSE' },
    ]) {
      expect(translate(failure(fields)).seen, fields.code).not.to.include(SECRET);
    }
  });

  it('are unchanged when they are our own, even wrapped, or unknown', () => {
    const ours = engramError('ServiceUnavailableError', 'down');
    expect(translate(ours).translated).to.equal(ours);
    expect(translate(new Error('something went wrong', { cause: ours })).translated).to.equal(ours);
    const unknown = new RangeError('a fault of this program');
    expect(translate(unknown).translated).to.equal(unknown);
  });
});
