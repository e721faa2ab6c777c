import { MongoError, MongoNetworkTimeoutError, MongoParseError, MongoServerError } from 'mongodb';
import { isEngramError } from '../../../services/common/kernel/errors.ts';
import { CODES, codeOf } from '../../../services/common/storage/documents/mongodb/mongodb-errors.ts';
import { away, failed, refused, tooSlow, unfit } from '../administrator-errors.ts';

/** `mongos` and servers that run without authorization take the command; these do not know it. */
const COMMAND_MISSING = [59, 73];

/** An error of the driver as one of the port; messages never hold the URL. */
export function administratorError(error: unknown, store: string): unknown {
  if (isEngramError(error)) return error;
  const setting = 'ENGRAM_OPERATOR_MONGODB_URL';
  // Of the parser, or of Node's `URL` below it: their messages quote what they could not read.
  if (error instanceof MongoParseError || (error instanceof TypeError && /URL/.test(error.message))) {
    return refused(store, `${setting} is no mongodb:// address`, undefined);
  }
  if (!(error instanceof MongoError)) return error;
  const code = codeOf(error);
  if (code === CODES.authenticationFailed) return refused(store, `look at user and password in ${setting}`, error);
  if (code === CODES.unauthorized) {
    const look = `the user in ${setting} needs userAdminAnyDatabase, readWriteAnyDatabase and dbAdminAnyDatabase`;
    return refused(store, look, error);
  }
  if (code !== null && COMMAND_MISSING.includes(code)) return unfit(store, 'it makes no users', error);
  if (error instanceof MongoNetworkTimeoutError) return tooSlow(store, error);
  if (error instanceof MongoServerError) return failed(store, error.codeName ?? `code ${error.code}`, error);
  return away(store, error);
}
