import { Worker } from 'node:worker_threads';
import { engramError } from '../../domain/errors.ts';
import type { Extraction, ExtractionInput, Extractor } from '../../ports/extractor.ts';
import { RULES_VERSION } from './rules-version.ts';

export interface ExtractionPoolOptions {
  /** Worker threads at most; default 1, which keeps the main loop free on two cores. */
  readonly size?: number;
  /** A thread without work stops after this long and gives its memory (about 90 MB) back. Default 60 s. */
  readonly idleMs?: number;
  /** A chunk that takes longer ends its thread. Default 30 s. */
  readonly timeoutMs?: number;
}

export interface ExtractionPool extends Extractor {
  /** Starts a thread, which takes a third of a second to load its model of the language; one that idles stays on. */
  prepare(): void;
  /** Ends the threads; calls under way fail with `CancelledError`. */
  close(): Promise<void>;
}

export interface WorkerReply {
  readonly id: number;
  readonly extraction?: Extraction;
  readonly error?: string;
}

interface Task {
  readonly id: number;
  readonly input: ExtractionInput;
  readonly resolve: (extraction: Extraction) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  task: Task | null;
  timer: NodeJS.Timeout | null;
}

/** The rules extractor in worker threads, which start with the first call or by `prepare`. Errors: `CogneeSystemError` for a thread that failed. */
export function createExtractionPool(options: ExtractionPoolOptions = {}): ExtractionPool {
  const { size = 1, idleMs = 60_000, timeoutMs = 30_000 } = options;
  const threads = new Set<Thread>();
  const waiting: Task[] = [];
  let lastId = 0;
  let isClosed = false;

  function dispatch(): void {
    while (waiting.length > 0) {
      const thread = [...threads].find((one) => one.task === null) ?? (threads.size < size ? start() : null);
      const task = thread === null ? undefined : waiting.shift();
      if (thread === null || task === undefined) return;
      thread.task = task;
      thread.worker.ref();
      setTimer(thread, timeoutMs, () =>
        end(thread, engramError('CogneeSystemError', 'Extraction of a chunk took too long.')),
      );
      thread.worker.postMessage({ id: task.id, input: task.input });
    }
  }

  function start(): Thread {
    const worker = new Worker(new URL('./extraction-worker.ts', import.meta.url));
    const thread: Thread = { worker, task: null, timer: null };
    threads.add(thread);
    worker.on('message', (reply: WorkerReply) => finish(thread, reply));
    worker.on('error', (cause) =>
      end(thread, engramError('CogneeSystemError', 'The extraction thread failed.', { cause })),
    );
    worker.on('exit', () => end(thread, engramError('CogneeSystemError', 'The extraction thread stopped.')));
    return thread;
  }

  function finish(thread: Thread, reply: WorkerReply): void {
    const { task } = thread;
    if (task === null || task.id !== reply.id) return;
    thread.task = null;
    if (reply.extraction !== undefined) task.resolve(reply.extraction);
    else {
      const cause = new Error(reply.error);
      task.reject(engramError('CogneeSystemError', 'Extraction of a chunk failed.', { cause }));
    }
    thread.worker.unref();
    rest(thread);
    dispatch();
  }

  function rest(thread: Thread): void {
    setTimer(thread, idleMs, () => end(thread, null));
  }

  function end(thread: Thread, reason: Error | null): void {
    if (!threads.delete(thread)) return;
    if (thread.timer !== null) clearTimeout(thread.timer);
    const { task } = thread;
    thread.task = null;
    task?.reject(reason ?? engramError('CancelledError', 'Extraction was stopped.'));
    void thread.worker.terminate();
    if (!isClosed) dispatch();
  }

  return {
    version: RULES_VERSION,
    prepare() {
      if (isClosed) return;
      const [thread = start()] = threads;
      if (thread.task !== null) return;
      thread.worker.unref();
      rest(thread);
    },
    async extract(input, { signal }) {
      signal?.throwIfAborted();
      if (isClosed) throw engramError('CancelledError', 'Extraction was stopped.');
      return new Promise<Extraction>((resolve, reject) => {
        const task: Task = { id: ++lastId, input, resolve, reject };
        waiting.push(task);
        dispatch();
      });
    },
    async close() {
      isClosed = true;
      const stopped = engramError('CancelledError', 'Extraction was stopped.');
      for (const task of waiting.splice(0)) task.reject(stopped);
      const ending = [...threads].map((thread) => {
        const exited = new Promise((resolve) => thread.worker.once('exit', resolve));
        end(thread, stopped);
        return exited;
      });
      await Promise.all(ending);
    },
  };
}

/** One timer per thread: of its task or of its idleness. It keeps no process alive. */
function setTimer(thread: Thread, delayMs: number, action: () => void): void {
  if (thread.timer !== null) clearTimeout(thread.timer);
  thread.timer = setTimeout(action, delayMs);
  thread.timer.unref();
}
