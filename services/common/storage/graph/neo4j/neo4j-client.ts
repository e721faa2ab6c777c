import neo4j, { type Driver, isRetryableError, type QueryResult, type RecordShape, type Session } from 'neo4j-driver';
import { abortable } from '../../../platform/async/abortable.ts';
import { settlesWithin } from '../../../platform/async/time-limit.ts';
import { type Neo4jAddress, neo4jError, timedOut } from './neo4j-errors.ts';

export interface Neo4jConnection {
  /** `bolt://`, `neo4j://`, or their `+s` and `+ssc` forms. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** Default: the server's default. */
  readonly database?: string;
  /** For a TCP connection and for a free place in the pool. Default 5000. */
  readonly connectTimeoutMs?: number;
  /** Time for retries of transient failures (deadlocks, lost connections, a new leader). Default 5000. */
  readonly retryMs?: number;
  /** For a whole call, its repetitions included, unless the call says otherwise. Default 30000. */
  readonly callTimeoutMs?: number;
  /** Connections at once. Default 50. */
  readonly poolSize?: number;
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
}

type Parameters = Readonly<Record<string, unknown>>;
/** One statement; its rows as plain objects, integers as numbers. */
export type Run = <Row extends RecordShape>(statement: string, parameters?: Parameters) => Promise<readonly Row[]>;

/** Bounded work, which may run more than once: what failed for a passing reason is repeated. */
export interface Neo4jClient {
  readonly address: Neo4jAddress;
  /** Each statement takes one trip, without a transaction around them: the server would not hold what they see still in one. */
  read<T>(work: (run: Run) => Promise<T>, options?: CallOptions): Promise<T>;
  /** In one transaction. */
  write<T>(work: (run: Run) => Promise<T>, options?: CallOptions): Promise<T>;
  /** A statement that opens transactions of its own or changes the schema. */
  command(statement: string): Promise<readonly RecordShape[]>;
  /** A session of the caller's, closed afterwards; ended early when the time is over. */
  withSession<T>(access: 'READ' | 'WRITE', use: (session: Session) => Promise<T>, options?: CallOptions): Promise<T>;
  close(): Promise<void>;
}

/** A session that could not be closed for so long sits on a dead connection. */
const CLOSING_MS = 3000;

export function createNeo4jClient(connection: Neo4jConnection): Neo4jClient {
  const { callTimeoutMs = 30_000 } = connection;
  const address: Neo4jAddress = { url: withoutCredentials(connection.url), user: connection.user };
  let driver = openDriver(connection);
  let isClosed = false;

  /** Replaces the driver, whose pool would keep dead connections for ever. */
  function renew(suspect: Driver): void {
    if (isClosed || driver !== suspect) return;
    driver = openDriver(connection);
    suspect.close().catch(() => undefined);
  }

  const withSession: Neo4jClient['withSession'] = async (access, use, options = {}) => {
    options.signal?.throwIfAborted();
    const timer = AbortSignal.timeout(options.timeoutMs ?? callTimeoutMs);
    const ended = options.signal === undefined ? timer : AbortSignal.any([timer, options.signal]);
    const used = driver;
    const session = used.session({
      defaultAccessMode: access === 'READ' ? neo4j.session.READ : neo4j.session.WRITE,
      ...(connection.database !== undefined && { database: connection.database }),
    });
    try {
      return await abortable(use(session), ended);
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason;
      throw timer.aborted ? timedOut(address.url, error) : neo4jError(error, address);
    } finally {
      // Closing interrupts the running query. It is not awaited: a dead connection would never answer.
      const closing = session.close().catch(() => undefined);
      if (ended.aborted) void settlesWithin(closing, CLOSING_MS).then((done) => done || renew(used));
    }
  };
  return {
    address,
    withSession,
    read(work, options) {
      const timeout = options?.timeoutMs ?? callTimeoutMs;
      return withSession(
        'READ',
        async (session) => {
          try {
            return await work(runBy((...query) => session.run(...query, { timeout })));
          } catch (error) {
            if (!isRetryableError(error)) throw error;
            return session.executeRead((transaction) => work(runBy((...query) => transaction.run(...query))), {
              timeout,
            });
          }
        },
        options,
      );
    },
    write(work, options) {
      const timeout = options?.timeoutMs ?? callTimeoutMs;
      const use = (session: Session) =>
        session.executeWrite((transaction) => work(runBy((...query) => transaction.run(...query))), { timeout });
      return withSession('WRITE', use, options);
    },
    command: (statement) =>
      withSession('WRITE', async (session) =>
        (await session.run(statement)).records.map((record) => record.toObject()),
      ),
    async close() {
      isClosed = true;
      await settlesWithin(driver.close(), CLOSING_MS);
    },
  };
}

function openDriver(connection: Neo4jConnection): Driver {
  const { url, user, password, connectTimeoutMs = 5000, retryMs = 5000, poolSize = 50 } = connection;
  return neo4j.driver(url, neo4j.auth.basic(user, password), {
    disableLosslessIntegers: true,
    connectionTimeout: connectTimeoutMs,
    connectionAcquisitionTimeout: 2 * connectTimeoutMs,
    // A connection that idled is asked before it is used: a firewall may have dropped it.
    connectionLivenessCheckTimeout: 30_000,
    maxConnectionPoolSize: poolSize,
    maxTransactionRetryTime: retryMs,
    telemetryDisabled: true,
    userAgent: 'engram',
  });
}

function runBy(send: (statement: string, parameters: Parameters) => PromiseLike<QueryResult>): Run {
  return async <Row extends RecordShape>(statement: string, parameters: Parameters = {}) =>
    (await send(statement, parameters)).records.map((record) => record.toObject() as Row);
}

function withoutCredentials(url: string): string {
  return url.replace(/\/\/[^/@]*@/u, '//');
}
