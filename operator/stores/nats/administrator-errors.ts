import { ErrorCode, NatsError } from 'nats';
import { isEngramError } from '../../../services/common/kernel/errors.ts';
import { away, failed, refused, tooSlow, unfit } from '../administrator-errors.ts';

const SETTING = 'ENGRAM_OPERATOR_NATS_URL';
const REFUSALS: ReadonlySet<string> = new Set([
  ErrorCode.AuthorizationViolation,
  ErrorCode.AuthenticationExpired,
  ErrorCode.PermissionsViolation,
  ErrorCode.BadAuthentication,
  ErrorCode.BadCreds,
]);

/** An error of the client as one of the port; `look` says where the login comes from. */
export function administratorError(error: unknown, store: string, look: string): unknown {
  if (isEngramError(error)) return error;
  if (error instanceof TypeError && /URL/.test(error.message)) {
    return refused(store, `${SETTING} is no list of nats:// addresses`, undefined);
  }
  if (!(error instanceof NatsError)) return error;
  const { code } = error;
  if (REFUSALS.has(code)) return refused(store, look, error);
  if (code === ErrorCode.JetStreamNotEnabled || code === ErrorCode.NoResponders) {
    return unfit(store, 'turn JetStream on, for the account of the user too', error);
  }
  if (code === ErrorCode.Timeout) return tooSlow(store, error);
  if (error.api_error !== undefined) return failed(store, error.api_error.description, error);
  return away(store, error);
}
