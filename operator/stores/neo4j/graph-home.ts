import type { Driver, RecordShape } from 'neo4j-driver';
import type { Realm } from '../realm.ts';
import type { StoreIsolation } from '../store-administrator.ts';

/** Where the graph of a realm is, which the edition decides. Users are the administrator's, before and after. */
export interface GraphHome {
  readonly isolation: StoreIsolation;
  /** Makes it and marks it; throws `OwnedByAnother`. */
  claim(realm: Realm): Promise<void>;
  /** Throws `OwnedByAnother` when it is somebody else's. Nothing there is fine. */
  requireOurs(realm: Realm): Promise<void>;
  /** Lets a user of the realm in. */
  admit(realm: Realm, user: string): Promise<void>;
  remove(realm: Realm): Promise<void>;
  residue(realm: Realm): Promise<number>;
  settings(realm: Realm): Readonly<Record<string, string>>;
}

/** One statement in a transaction of its own, in a database or (null) the default one. */
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
