import type { Driver, RecordShape } from 'neo4j-driver';
import { isEngramError } from '../../../services/common/kernel/errors.ts';
import {
  isDriverError,
  isForbidden,
  isTimeout,
  isUnreachable,
  isWrongLogin,
} from '../../../services/common/storage/graph/neo4j/neo4j-errors.ts';
import { away, failed, refused, tooSlow } from '../administrator-errors.ts';
import type { Realm } from '../realm.ts';
import type { StoreIsolation } from '../store-administrator.ts';

/** The graph of a realm: a database of its own, or a namespace of the common one, depending on the edition. */
export interface RealmGraph {
  readonly isolation: StoreIsolation;
  /** Creates and marks it; throws `OwnedByAnother`. */
  claim(realm: Realm): Promise<void>;
  /** Throws `OwnedByAnother` when it has another owner. It need not exist. */
  requireOurs(realm: Realm): Promise<void>;
  /** Grants access to a user of the realm. */
  admit(realm: Realm, user: string): Promise<void>;
  remove(realm: Realm): Promise<void>;
  residue(realm: Realm): Promise<number>;
  settings(realm: Realm): Readonly<Record<string, string>>;
}

/** Runs one statement in a transaction of its own, in a database or (null) the default one. */
export type Ask = <Row extends RecordShape>(
  database: string | null,
  statement: string,
  parameters?: Readonly<Record<string, unknown>>,
) => Promise<readonly Row[]>;

const TIMEOUT_MS = 60_000;

export function createAsk(driver: Driver, signal: AbortSignal): Ask {
  return async <Row extends RecordShape>(
    database: string | null,
    statement: string,
    parameters: Readonly<Record<string, unknown>> = {},
  ) => {
    signal.throwIfAborted();
    const session = driver.session(database === null ? {} : { database });
    try {
      const { records } = await session.run<Row>(statement, parameters, { timeout: TIMEOUT_MS });
      return records.map((record) => record.toObject() as Row);
    } finally {
      await session.close();
    }
  };
}

/** Translates an error of the driver to one of the port. */
export function administratorError(error: unknown, store: string): unknown {
  if (isEngramError(error) || !(error instanceof Error)) return error;
  if (!isDriverError(error)) {
    return /URL|scheme/i.test(error.message)
      ? refused(store, 'ENGRAM_NEO4J_URL is not a neo4j:// address', undefined)
      : error;
  }
  if (isWrongLogin(error)) {
    return refused(store, 'look at ENGRAM_OPERATOR_NEO4J_USER and ENGRAM_OPERATOR_NEO4J_PASSWORD', error);
  }
  if (isForbidden(error)) return refused(store, 'ENGRAM_OPERATOR_NEO4J_USER needs the role admin', error);
  if (isTimeout(error)) return tooSlow(store, error);
  if (isUnreachable(error)) return away(store, error);
  return failed(store, error.code, error);
}
