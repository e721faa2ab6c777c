import { setImmediate as endOfTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { engramError } from '../../../kernel/errors.ts';
import type { CollectionRules } from '../rules/collection-rules.ts';
import { decodeError } from './encoded-errors.ts';
import type { StorageWorkerData } from './storage-worker.ts';
import type {
  CommitOutcome,
  EncodedCommit,
  EncodedResult,
  EncodedWrite,
  UnansweredRequest,
  WorkerReply,
  WorkerRequest,
} from './write-protocol.ts';

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
 * One batch of commits is under way at a time; those that come meanwhile make up the next. An idle store commits after the
 * present turn of the event loop, so that what a request writes at once shares a message and a transaction.
 */
function createCommitQueue(send: (batch: readonly EncodedCommit[]) => Promise<WorkerReply>) {
  let queue: Entry[] = [];
  let running: Promise<void> | null = null;

  const run = async () => {
    await endOfTurn();
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

interface Waiting {
  readonly resolve: (reply: WorkerReply) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Requests to a storage worker and their replies, which come in the same order. The worker keeps the process alive only
 * while it owes a reply.
 */
function createStorageChannel(worker: Worker, file: string) {
  const waiting: Waiting[] = [];
  let ended = false;
  let closing: Promise<void> | null = null;

  const owed = () =>
    new Promise<WorkerReply>((resolve, reject) => {
      waiting.push({ resolve, reject });
      worker.ref();
    });
  worker.on('message', (reply: WorkerReply) => {
    const entry = waiting.shift();
    if (waiting.length === 0 && closing === null) worker.unref();
    if (reply.kind === 'failed') entry?.reject(decodeError(reply.error));
    else entry?.resolve(reply);
  });
  const end = (cause?: unknown) => {
    ended = true;
    for (const entry of waiting.splice(0)) entry.reject(closedError(file, cause));
  };
  worker.on('error', end);
  worker.on('exit', () => end());

  const ask = async (request: Exclude<WorkerRequest, UnansweredRequest>): Promise<WorkerReply> => {
    if (ended) throw closedError(file);
    const reply = owed();
    worker.postMessage(request);
    return reply;
  };
  const close = async () => {
    if (ended) return;
    const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    await ask({ kind: 'close' });
    await exited;
  };
  return {
    /** Settles with the worker's first message: the file is open, or why it cannot be. */
    opened: owed(),
    ask,
    tell(request: UnansweredRequest) {
      if (!ended) worker.postMessage(request);
    },
    /** Resolves when the thread has ended. */
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Error of a store that was closed, or whose thread died. */
export function closedError(file: string, cause?: unknown): Error {
  return engramError('ServiceUnavailableError', `The store ${file} is closed`, cause === undefined ? {} : { cause });
}
