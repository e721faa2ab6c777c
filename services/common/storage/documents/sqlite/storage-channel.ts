import type { Worker } from 'node:worker_threads';
import { engramError } from '../../../kernel/errors.ts';
import { decodeError } from './encoded-errors.ts';
import type { UnansweredRequest, WorkerReply, WorkerRequest } from './write-protocol.ts';

/** Requests to a storage worker and their replies, which come in the same order. */
interface StorageChannel {
  /** Settles with the worker's first message: the file is open, or why it cannot be. */
  readonly opened: Promise<WorkerReply>;
  ask(request: Exclude<WorkerRequest, UnansweredRequest>): Promise<WorkerReply>;
  tell(request: UnansweredRequest): void;
  /** Resolves when the thread has ended. */
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (reply: WorkerReply) => void;
  readonly reject: (error: unknown) => void;
}

/** The worker keeps the process alive only while it owes a reply. */
export function createStorageChannel(worker: Worker, file: string): StorageChannel {
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

  const ask = async (request: WorkerRequest): Promise<WorkerReply> => {
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
    opened: owed(),
    ask,
    tell(request) {
      if (!ended) worker.postMessage(request);
    },
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
