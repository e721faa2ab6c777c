import { type Transferable, Worker } from 'node:worker_threads';
import { engramError, isEngramError } from '../../../kernel/errors.ts';
import type { DatasetScope } from '../../../kernel/scope.ts';
import { decodeError } from '../../documents/sqlite/encoded-errors.ts';
import type { CypherThreads } from './cypher-threads.ts';
import type { CypherMethods } from './cypher-worker.ts';
import type { ReaderMethods } from './reader-methods.ts';
import type { VectorMethods } from './vector-search.ts';
import type {
  MethodMap,
  WorkerAnswer,
  WorkerMessage,
  WorkerNews,
  WorkerNotice,
  WorkerRequest,
  WorkerSettings,
} from './worker-protocol.ts';
import type { WriterMethods } from './writer-worker.ts';

/** A worker thread as its users see it: started by the first call, started again when it died. */
export interface WorkerClient<Methods extends MethodMap> {
  /** An abort rejects at once; the worker skips the request if it has not started it. */
  call<Method extends keyof Methods & string>(
    method: Method,
    path: string,
    argument: Parameters<Methods[Method]>[1],
    options?: { readonly transfer?: readonly Transferable[]; readonly signal?: AbortSignal | undefined },
  ): Promise<ReturnType<Methods[Method]>>;
  /** Number of calls that are not answered. */
  pending(): number;
  /** Starts the worker, unless it runs. */
  prepare(): void;
  /** Sends a notice to the worker, if it runs. */
  notify(notice: WorkerNotice): void;
  /** Stops the worker at once: what it has not answered rejects. The next call starts it again. */
  kill(): void;
  /** Lets it end what it has, then stops it. */
  close(): Promise<void>;
}

/** What is used of a thread. */
export type Thread = Pick<Worker, 'on' | 'once' | 'ref' | 'unref' | 'postMessage' | 'terminate'>;

export type StartThread = (module: URL, workerData: object) => Thread;

const startWorker: StartThread = (module, workerData) => new Worker(module, { workerData });

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export function createWorkerClient<Methods extends MethodMap>(
  module: URL,
  settings: WorkerSettings,
  onChanged: (path: string) => void = () => {},
  startThread: StartThread = startWorker,
): WorkerClient<Methods> {
  const pending = new Map<number, Pending>();
  let worker: Thread | null = null;
  let isClosed = false;
  let lastId = 0;

  const settle = (id: number): Pending | undefined => {
    const found = pending.get(id);
    pending.delete(id);
    // An idle worker must not keep the process alive; one with work must.
    if (pending.size === 0) worker?.unref();
    return found;
  };
  const start = (): Thread => {
    const made = startThread(module, settings);
    made.unref();
    const fail = (cause: unknown) => {
      if (worker === made) worker = null;
      const error = engramError('ServiceUnavailableError', 'The index worker stopped unexpectedly; try again', {
        cause,
        retryable: true,
      });
      for (const id of [...pending.keys()]) settle(id)?.reject(error);
    };
    made.on('message', (message: readonly WorkerAnswer[] | WorkerNews) => {
      if ('changed' in message) {
        onChanged(message.changed);
        return;
      }
      for (const answer of message) {
        const asked = settle(answer.id);
        if ('error' in answer) asked?.reject(decodeError(answer.error));
        else asked?.resolve(answer.value);
      }
    });
    made.on('error', fail);
    made.on('exit', (code) => {
      if (worker === made) fail(new Error(`exit code ${code}`));
    });
    return made;
  };
  let outbox: { readonly request: WorkerRequest; readonly transfer: readonly Transferable[] }[] = [];
  const send = (sent: typeof outbox) => {
    worker ??= start();
    worker.ref();
    try {
      worker.postMessage(
        sent.map(({ request }) => request) satisfies WorkerMessage,
        sent.flatMap(({ transfer }) => transfer),
      );
    } catch (error) {
      // An argument cannot be cloned: the others are sent without it.
      if (sent.length > 1) for (const one of sent) send([one]);
      else for (const { request } of sent) settle(request.id)?.reject(error);
    }
  };
  const flush = () => {
    const sent = outbox.filter(({ request }) => pending.has(request.id));
    outbox = [];
    if (sent.length > 0) send(sent);
  };
  const post = (request: WorkerRequest, transfer: readonly Transferable[] = []) => {
    if (outbox.push({ request, transfer }) === 1) queueMicrotask(flush);
  };

  return {
    call(method, path, argument, { transfer, signal } = {}) {
      if (isClosed) return Promise.reject(engramError('ServiceUnavailableError', 'The dataset indexes are closed'));
      if (signal?.aborted) return Promise.reject(signal.reason);
      const id = ++lastId;
      return new Promise((resolve, reject) => {
        const cancel = () => {
          worker?.postMessage({ notice: 'cancel', id } satisfies WorkerNotice);
          settle(id)?.reject(signal?.reason);
        };
        const done = () => signal?.removeEventListener('abort', cancel);
        signal?.addEventListener('abort', cancel, { once: true });
        pending.set(id, {
          resolve(value) {
            done();
            resolve(value as never);
          },
          reject(error) {
            done();
            reject(error);
          },
        });
        post({ id, method, path, argument }, transfer);
      });
    },
    pending: () => pending.size,
    prepare() {
      if (!isClosed) worker ??= start();
    },
    notify: (notice) => worker?.postMessage(notice),
    kill: () => void worker?.terminate(),
    async close() {
      isClosed = true;
      flush();
      const running = worker;
      if (running === null) return;
      const exited = new Promise<void>((resolve) => running.once('exit', () => resolve()));
      worker = null;
      running.ref();
      running.postMessage({ notice: 'close' } satisfies WorkerNotice);
      await exited;
      for (const { reject } of pending.values())
        reject(engramError('ServiceUnavailableError', 'The dataset indexes are closed'));
      pending.clear();
    },
  };
}

/**
 * Threads that read, as one client. Calls for a file go to the same thread, which has it open and its vectors in memory, unless
 * another one has less to do. A call whose thread died is made once more.
 */
export function createReadingPool<Methods extends MethodMap>(
  clients: readonly [WorkerClient<Methods>, ...WorkerClient<Methods>[]],
): WorkerClient<Methods> {
  const clientOf = (path: string) => {
    const home = clients[placeOf(path, clients.length)] ?? clients[0];
    const idlest = clients.reduce((least, client) => (client.pending() < least.pending() ? client : least));
    return home.pending() > idlest.pending() + 1 ? idlest : home;
  };
  return {
    async call(method, path, argument, options) {
      try {
        return await clientOf(path).call(method, path, argument, options);
      } catch (error) {
        if (!isEngramError(error) || error.wireName !== 'ServiceUnavailableError' || !error.retryable) throw error;
        return clientOf(path).call(method, path, argument, options);
      }
    },
    pending: () => clients.reduce((sum, client) => sum + client.pending(), 0),
    prepare: () => clients[0].prepare(),
    notify(notice) {
      for (const client of clients) client.notify(notice);
    },
    kill() {
      for (const client of clients) client.kill();
    },
    async close() {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

function placeOf(path: string, count: number): number {
  let sum = 0;
  for (let at = 0; at < path.length; at++) sum = (31 * sum + path.charCodeAt(at)) >>> 0;
  return sum % count;
}

/** The threads behind the ports. Each is started when it is first needed. */
export interface DatasetWorkers {
  readonly writer: WorkerClient<WriterMethods>;
  readonly reader: WorkerClient<ReaderMethods>;
  readonly scanner: WorkerClient<VectorMethods>;
  readonly cypher: CypherThreads<WorkerClient<CypherMethods>>;
  pathOf(scope: DatasetScope): string;
  /** A part of the dataset was dropped, perhaps its file too: readers close it. */
  forget(scope: DatasetScope): void;
}
