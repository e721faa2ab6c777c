import { Worker } from 'node:worker_threads';
import type { CollectionRules } from '../rules/collection-rules.ts';
import { decodeError } from './encoded-errors.ts';
import { createStorageChannel } from './storage-channel.ts';
import type { StorageWorkerData } from './storage-worker.ts';
import type { CommitOutcome, EncodedCommit, EncodedResult, EncodedWrite, WorkerReply } from './write-protocol.ts';

/** The requests' side of the storage worker. */
export type StorageThread = Awaited<ReturnType<typeof startStorageThread>>;

interface LargeCommit {
  add(writes: readonly EncodedWrite[]): void;
  commit(): Promise<readonly EncodedResult[]>;
  abandon(): void;
}

/**
 * Resolves when the file is open, migrated and has the collections; rejects with the error that says why it cannot be.
 * All of it is asked for at once: at the start of the service the calling thread is too busy for a second question.
 */
export async function startStorageThread(data: StorageWorkerData, collections: readonly CollectionRules[]) {
  const worker = new Worker(new URL('./storage-worker.ts', import.meta.url), { workerData: data });
  const channel = createStorageChannel(worker, data.file);
  try {
    await Promise.all([channel.opened, channel.ask({ kind: 'prepare', collections })]);
  } catch (error) {
    await worker.terminate();
    throw error;
  }
  const queue = createCommitQueue((commits) => channel.ask({ kind: 'commits', commits }));
  let lastLarge = 0;
  return {
    async prepare(collections: readonly CollectionRules[]) {
      await channel.ask({ kind: 'prepare', collections });
    },
    commit: (writes: readonly EncodedWrite[]): Promise<readonly EncodedResult[]> => queue.add({ writes }),
    /** A commit whose writes are sent bit by bit, so that the sender can serve others in between. */
    beginLarge(): LargeCommit {
      lastLarge += 1;
      const large = lastLarge;
      return {
        add: (writes) => channel.tell({ kind: 'part', large, writes }),
        commit: () => queue.add({ writes: [], large }),
        abandon: () => channel.tell({ kind: 'drop', large }),
      };
    },
    /** Resolves when no commit waits any more. */
    idle: queue.idle,
    /** Ends the thread, after what was asked before. */
    async close() {
      await queue.idle();
      await channel.close();
    },
  };
}

interface Entry {
  readonly commit: EncodedCommit;
  readonly resolve: (results: readonly EncodedResult[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One batch of commits is under way at a time; those that come meanwhile make up the next. An idle store so commits at
 * once, a busy one shares transactions and messages among everything that waits.
 */
function createCommitQueue(send: (batch: readonly EncodedCommit[]) => Promise<WorkerReply>) {
  let queue: Entry[] = [];
  let running: Promise<void> | null = null;

  const run = async () => {
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      try {
        const reply = await send(batch.map(({ commit }) => commit));
        const outcomes = reply.kind === 'commits' ? reply.outcomes : [];
        for (const [index, entry] of batch.entries()) settle(entry, outcomes[index]);
      } catch (error) {
        for (const entry of batch) entry.reject(error);
      }
    }
    running = null;
  };
  return {
    add: (commit: EncodedCommit): Promise<readonly EncodedResult[]> =>
      new Promise((resolve, reject) => {
        queue.push({ commit, resolve, reject });
        running ??= run();
      }),
    /** Resolves when nothing waits any more. */
    async idle() {
      while (running !== null) await running;
    },
  };
}

function settle(entry: Entry, outcome: CommitOutcome | undefined): void {
  if (outcome === undefined) entry.reject(new Error('the storage worker gave no outcome'));
  else if ('error' in outcome) entry.reject(decodeError(outcome.error));
  else entry.resolve(outcome.results);
}
