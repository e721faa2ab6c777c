import { type ClientSession, type Document, MongoClient, MongoError } from 'mongodb';
import { engramError } from '../../../kernel/errors.ts';
import { translated } from '../../rules/store-faults.ts';
import { addressOf, mongodbError } from './mongodb-errors.ts';

export interface MongodbOptions {
  /** `mongodb://` or `mongodb+srv://`, with the credentials. */
  readonly url: string;
  readonly database: string;
  /** Time limit of finding a server, and of waiting for a connection; default 5000. */
  readonly connectTimeoutMs?: number;
  /** Time limit of one exchange with the server; default 10 000. The driver repeats a read or a write once. */
  readonly operationTimeoutMs?: number;
  /** Default 50. */
  readonly maxConnections?: number;
  /** Time limit of a process's silence in a transaction that others wait for; default 5000. */
  readonly idleTransactionMs?: number;
}

/** A pool of connections that the stores of a process share. */
export interface MongodbConnection {
  readonly client: MongoClient;
  readonly options: Required<MongodbOptions>;
  /** Makes errors of the driver what callers know: `ServiceUnavailableError`, `DeadlineExceededError` and so on. */
  guarded<T>(work: () => Promise<T>): Promise<T>;
  /** Runs a write that may have to wait for a transaction of a process that is dead. */
  rescued<T>(work: () => Promise<T>): Promise<T>;
  /** Builds of indexes may take as long as they need: a client without a limit per exchange, closed afterwards. */
  patiently<T>(work: (client: MongoClient) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const DEFAULTS = {
  connectTimeoutMs: 5_000,
  operationTimeoutMs: 10_000,
  maxConnections: 50,
  idleTransactionMs: 5_000,
} as const;

/** Reads are never rolled back, and acknowledged writes survive the loss of any one member. */
const DURABLE = {
  readConcern: { level: 'majority' },
  writeConcern: { w: 'majority', journal: true },
} as const;

/**
 * Connects, and checks that the server is a replica set (or a sharded cluster) of MongoDB 6.0 or newer. Throws
 * `ServiceUnavailableError` (retryable when the server is merely away) and `CogneeSystemError` (unfit server), with the
 * address and never with the password.
 */
export async function connectMongodb(options: MongodbOptions): Promise<MongodbConnection> {
  const settings = { ...DEFAULTS, ...options };
  const address = addressOf(settings.url);
  const guarded = <T>(work: () => Promise<T>) => translated((error) => mongodbError(error, address), work);
  const client = openClient(settings, address);
  try {
    await guarded(async () => {
      await client.connect();
      requireFit(await readServer(client), address);
    });
  } catch (error) {
    await client.close();
    throw error;
  }
  return {
    client,
    options: settings,
    guarded,
    rescued: createRescue({ client, appName: appNameOf(settings), idleTransactionMs: settings.idleTransactionMs }),
    async patiently(work) {
      const patient = newClient(settings, 0);
      try {
        return await work(patient);
      } finally {
        await patient.close();
      }
    },
    close: () => client.close(),
  };
}

/** The parser's own message may hold the whole URL, with the password. */
function openClient(settings: Required<MongodbOptions>, address: string): MongoClient {
  try {
    return newClient(settings, settings.operationTimeoutMs);
  } catch {
    throw engramError('CogneeSystemError', `The URL of MongoDB (${address}) is not valid`);
  }
}

function newClient(settings: Required<MongodbOptions>, socketTimeoutMS: number): MongoClient {
  const { url, connectTimeoutMs, maxConnections } = settings;
  return new MongoClient(url, {
    ...DURABLE,
    readPreference: 'primary',
    appName: appNameOf(settings),
    maxPoolSize: maxConnections,
    serverSelectionTimeoutMS: connectTimeoutMs,
    connectTimeoutMS: connectTimeoutMs,
    waitQueueTimeoutMS: connectTimeoutMs,
    socketTimeoutMS,
    ignoreUndefined: true,
  });
}

/** Names this installation among others that share the server. The protocol allows 128 bytes. */
function appNameOf({ database }: MongodbOptions): string {
  return `engram ${database}`;
}

interface ServerFacts {
  /** `6.0.5`. */
  readonly version: string;
  /** Member of a replica set, or router of a sharded cluster. */
  readonly hasTransactions: boolean;
}

async function readServer(client: MongoClient): Promise<ServerFacts> {
  const admin = client.db('admin');
  const [build, hello] = await Promise.all([admin.command({ buildInfo: 1 }), admin.command({ hello: 1 })]);
  const hasTransactions = hello['setName'] !== undefined || hello['msg'] === 'isdbgrid';
  return { version: String(build['version']), hasTransactions };
}

const OLDEST_MAJOR = 6;

/** Throws `CogneeSystemError` that says what to do. */
export function requireFit({ version, hasTransactions }: ServerFacts, address: string): void {
  if (Number.parseInt(version, 10) < OLDEST_MAJOR) {
    throw engramError(
      'CogneeSystemError',
      `MongoDB at ${address} has version ${version}: version ${OLDEST_MAJOR}.0 or newer is needed`,
    );
  }
  if (!hasTransactions) {
    throw engramError(
      'CogneeSystemError',
      `MongoDB at ${address} is not a replica set, which transactions need: start mongod with --replSet and run rs.initiate(), one member is enough`,
    );
  }
}

/** Read and write concern of a transaction: a snapshot, and durable when it is acknowledged. */
export const TRANSACTION: Parameters<ClientSession['startTransaction']>[0] = {
  readConcern: { level: 'snapshot' },
  writeConcern: DURABLE.writeConcern,
  readPreference: 'primary',
};

const CHECK_MS = 1_000;

interface RescueOptions {
  readonly client: MongoClient;
  /** Name of this installation's processes on the server. */
  readonly appName: string;
  /** Milliseconds without a word after which the process of an open transaction is taken for dead. */
  readonly idleTransactionMs: number;
}

/**
 * Runs a piece of work; when it takes long, ends transactions that stand in its way and whose process is silent. The
 * server itself keeps the documents of a killed process's transaction locked for a minute, since sessions outlive their
 * connections. Should the process live after all, its transaction starts again. Sessions of one's own user can be seen and
 * ended without any privilege.
 */
function createRescue({ client, appName, idleTransactionMs }: RescueOptions) {
  let isChecking = false;
  const check = async (): Promise<void> => {
    if (isChecking) return;
    isChecking = true;
    const admin = client.db('admin');
    try {
      const isStuck = {
        type: 'idleSession',
        appName,
        'transaction.timeInactiveMicros': { $gte: idleTransactionMs * 1000 },
      };
      const stuck = await admin
        .aggregate<{ readonly lsid: Document }>(
          [{ $currentOp: { allUsers: false, idleSessions: true } }, { $match: isStuck }, { $project: { lsid: 1 } }],
          { readConcern: { level: 'local' } }, // the only one that this stage takes
        )
        .toArray();
      if (stuck.length > 0) await admin.command({ killSessions: stuck.map(({ lsid }) => ({ id: lsid['id'] })) });
    } catch (error) {
      // The work itself finds out when the server is away; without the rescue it waits for the server's own limit.
      if (!(error instanceof MongoError)) throw error;
    } finally {
      isChecking = false;
    }
  };
  return async <T>(work: () => Promise<T>): Promise<T> => {
    const timer = setInterval(() => void check(), CHECK_MS);
    try {
      return await work();
    } finally {
      clearInterval(timer);
    }
  };
}
