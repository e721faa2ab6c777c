import { Worker, type WorkerOptions } from 'node:worker_threads';

export interface WorkerPoolOptions {
  readonly entry: URL;
  /** Workers at the same time; each is started when there is work for it. */
  readonly size: number;
  /** A job that takes longer is ended together with its worker. */
  readonly timeoutMs: number;
  /** A worker without work is ended after this time, which gives its memory back. */
  readonly idleMs: number;
  /** Heap of one worker; default: as the engine sees fit. Buffers outside the heap are not counted. */
  readonly maxHeapBytes?: number;
  readonly workerData?: unknown;
}

/** Why a worker did not answer: the job cost it its life, or the pool is closed. */
export class WorkerFailure extends Error {
  override readonly name = 'WorkerFailure';
  readonly reason: WorkerFailureReason;

  constructor(reason: WorkerFailureReason, options: ErrorOptions = {}) {
    super(`worker failed: ${reason}`, options);
    this.reason = reason;
  }
}

type WorkerFailureReason = 'timeout' | 'memory' | 'crash' | 'closed';

export interface WorkerPool<Job, Reply> {
  /** Starts a worker, or lets the idle one stay on: for work that is about to come. */
  prepare(): void;
  /** Waits for a free worker. Errors: `WorkerFailure`; the signal's reason when it is aborted, the worker is then ended. */
  run(job: Job, signal?: AbortSignal): Promise<Reply>;
  /** Ends all workers; waiting and running jobs fail. */
  close(): Promise<void>;
}

interface Task<Job, Reply> {
  readonly job: Job;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (reason: unknown) => void;
  readonly signal: AbortSignal | undefined;
}

/** Workers that each take one job at a time and may be killed in the middle of it; a dead one is replaced by the next job. */
export function createWorkerPool<Job, Reply>(options: WorkerPoolOptions): WorkerPool<Job, Reply> {
  const waiting: Task<Job, Reply>[] = [];
  const members = new Set<PoolMember<Job, Reply>>();
  let isClosed = false;

  const dispatch = (): void => {
    while (waiting.length > 0) {
      const member =
        [...members].find((candidate) => candidate.isFree) ?? (members.size < options.size ? start() : null);
      const task = member === null ? undefined : waiting.shift();
      if (member === null || task === undefined) return;
      member.take(task);
    }
  };
  const start = (): PoolMember<Job, Reply> => {
    const member = new PoolMember<Job, Reply>(options, {
      onFree: dispatch,
      onGone: () => {
        members.delete(member);
        dispatch();
      },
    });
    members.add(member);
    return member;
  };

  return {
    prepare() {
      if (isClosed) return;
      const [member = start()] = members;
      if (member.isFree) member.rest();
    },
    run: (job, signal) =>
      new Promise<Reply>((resolve, reject) => {
        if (isClosed) throw new WorkerFailure('closed');
        signal?.throwIfAborted();
        const withdraw = (): void => {
          const index = waiting.indexOf(task);
          if (index === -1) return;
          waiting.splice(index, 1);
          reject(signal?.reason);
        };
        const task: Task<Job, Reply> = {
          job,
          signal,
          resolve: (reply) => {
            signal?.removeEventListener('abort', withdraw);
            resolve(reply);
          },
          reject: (reason) => {
            signal?.removeEventListener('abort', withdraw);
            reject(reason);
          },
        };
        signal?.addEventListener('abort', withdraw, { once: true });
        waiting.push(task);
        dispatch();
      }),
    close: async () => {
      isClosed = true;
      for (const task of waiting.splice(0)) task.reject(new WorkerFailure('closed'));
      await Promise.all([...members].map((member) => member.end(new WorkerFailure('closed'))));
    },
  };
}

interface MemberEvents {
  readonly onFree: () => void;
  readonly onGone: () => void;
}

class PoolMember<Job, Reply> {
  readonly #worker: Worker;
  readonly #options: WorkerPoolOptions;
  readonly #events: MemberEvents;
  #task: Task<Job, Reply> | null = null;
  #deadline: NodeJS.Timeout | null = null;
  #idle: NodeJS.Timeout | null = null;
  #isGone = false;
  readonly #onAbort = (): void => void this.end(this.#task?.signal?.reason);

  constructor(options: WorkerPoolOptions, events: MemberEvents) {
    this.#options = options;
    this.#events = events;
    this.#worker = new Worker(options.entry, workerOptions(options));
    // Libraries print warnings about odd input; these must not end up between the server's log lines.
    this.#worker.stdout.resume();
    this.#worker.stderr.resume();
    this.#worker.unref();
    this.#worker.on('message', (reply: Reply) => this.#onReply(reply));
    this.#worker.on('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash';
      this.#leave(new WorkerFailure(reason, { cause: error }));
    });
    this.#worker.on('exit', () => this.#leave(new WorkerFailure('crash')));
  }

  get isFree(): boolean {
    return this.#task === null && !this.#isGone;
  }

  take(task: Task<Job, Reply>): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#task = task;
    this.#worker.ref();
    this.#deadline = setTimeout(() => void this.end(new WorkerFailure('timeout')), this.#options.timeoutMs);
    task.signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.#worker.postMessage(task.job);
  }

  /** Keeps no process alive, and ends after a while unless a job comes. */
  rest(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#worker.unref();
    this.#idle = setTimeout(() => void this.end(null), this.#options.idleMs);
    this.#idle.unref();
  }

  /** Ends the worker; its job fails with the reason. */
  async end(reason: unknown): Promise<void> {
    this.#leave(reason);
    await this.#worker.terminate();
  }

  #onReply(reply: Reply): void {
    const task = this.#settle();
    if (this.#isGone) return;
    this.rest();
    task?.resolve(reply);
    this.#events.onFree();
  }

  #leave(reason: unknown): void {
    if (this.#isGone) return;
    this.#isGone = true;
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#settle()?.reject(reason);
    this.#events.onGone();
  }

  #settle(): Task<Job, Reply> | null {
    const task = this.#task;
    this.#task = null;
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    task?.signal?.removeEventListener('abort', this.#onAbort);
    return task;
  }
}

function workerOptions({ workerData, maxHeapBytes }: WorkerPoolOptions): WorkerOptions {
  const options = { stdout: true, stderr: true, workerData };
  if (maxHeapBytes === undefined) return options;
  const maxOldGenerationSizeMb = Math.ceil(maxHeapBytes / (1024 * 1024));
  return { ...options, resourceLimits: { maxOldGenerationSizeMb, stackSizeMb: 8 } };
}
