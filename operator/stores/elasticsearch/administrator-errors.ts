import { errors } from '@elastic/elasticsearch';
import { isEngramError } from '../../../services/common/kernel/errors.ts';
import { away, failed, refused, tooSlow, unfit } from '../administrator-errors.ts';

const SETTING = 'ENGRAM_OPERATOR_ELASTICSEARCH_URL';

/** An error of the client as one of the port. */
export function administratorError(error: unknown, store: string): unknown {
  if (isEngramError(error)) return error;
  if (error instanceof TypeError && /URL/.test(error.message)) {
    return refused(store, `${SETTING} is no http:// or https:// address`, undefined);
  }
  if (error instanceof errors.TimeoutError) return tooSlow(store, error);
  if (error instanceof errors.ConnectionError || error instanceof errors.NoLivingConnectionsError) {
    return away(store, error);
  }
  if (error instanceof errors.ProductNotSupportedError) return refused(store, 'it is no Elasticsearch', error);
  if (!(error instanceof errors.ResponseError)) return error;
  const { statusCode = 500, body } = error;
  const text = JSON.stringify(body ?? '');
  if (/no handler found for uri|security.*(not enabled|must be (explicitly )?enabled)/i.test(text)) {
    return unfit(store, 'turn its security on (xpack.security.enabled)', error);
  }
  if (statusCode === 401) return refused(store, `look at user and password in ${SETTING}`, error);
  if (statusCode === 403)
    return refused(store, `the user in ${SETTING} needs manage_security and all of engram_*`, error);
  return failed(store, `HTTP ${statusCode}`, error);
}
