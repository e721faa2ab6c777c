import { type Document, type MongoClient, MongoError } from 'mongodb';

const CHECK_MS = 1_000;

export interface RescueOptions {
  readonly client: MongoClient;
  /** As which this installation's processes are known to the server. */
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
export function createRescue({ client, appName, idleTransactionMs }: RescueOptions) {
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
