import { errors } from '@elastic/elasticsearch';
import { expect } from 'chai';
import { administratorError } from './elasticsearch-administrator.ts';

/** As the client gives an answer of the server. */
function answered(statusCode: number, body: unknown): unknown {
  return new errors.ResponseError({ statusCode, body, headers: {}, warnings: null, meta: {} as never });
}

describe('errors of the administrator of Elasticsearch', () => {
  const errorOf = (statusCode: number, body: unknown) =>
    administratorError(answered(statusCode, body), 'Elasticsearch at a:9200') as Error & { retryable: boolean };

  it('reports a server without security as unable to isolate', () => {
    // The words of Elasticsearch 9.5.3 with xpack.security.enabled=false.
    const error = errorOf(400, { error: 'no handler found for uri [/_security/role/x] and method [GET]' });
    expect(error).to.include({ wireName: 'UnsupportedOperationError', retryable: false });
    expect(error.message).to.contain('xpack.security.enabled');
  });

  it('names the setting for a wrong login or missing privilege, and retries a failing server', () => {
    for (const status of [401, 403]) {
      const error = errorOf(status, { error: { type: 'security_exception' } });
      expect(error).to.include({ wireName: 'ServiceUnavailableError', retryable: false });
      expect(error.message).to.contain('ENGRAM_OPERATOR_ELASTICSEARCH_URL');
    }
    expect(errorOf(503, {})).to.include({ wireName: 'ServiceUnavailableError', retryable: true });
  });
});
