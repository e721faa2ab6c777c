import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { FromWorker, ToWorker, WorkerFunction, WorkerTask } from './worker-messages.ts';

export interface WorkerPoolOptions {
  /** Processes at the same time; each is started when there is work for it. */
  readonly size: number;
  /** A call that takes longer is ended together with its process. */
  readonly timeoutMs: number;
  /** Resident memory of one process, everything included; a call that needs more is ended together with its process. */
  readonly memoryBytes: number;
  /** A process without work is ended after this time, which gives its memory back. */
  readonly idleMs: number;
}

type WorkerFailureReason = 'timeout' | 'memory' | 'crash' | 'closed';

/** Says why a process did not answer: its call passed a limit or made it crash, or the pool is closed. */
export class WorkerFailure extends Error {
  override readonly name = 'WorkerFailure';
  readonly reason: WorkerFailureReason;

  /** `message` names the limit and reads on after "… failed: ". */
  constructor(reason: WorkerFailureReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** An error that the called function threw. Its own properties that are plain data, such as `wireName` and `status`, come along. */
export class WorkerTaskError extends Error {
  override readonly name = 'WorkerTaskError';
  readonly properties: Readonly<Record<string, unknown>>;

  constructor(message: string, stack: string | undefined, properties: Readonly<Record<string, unknown>>) {
    super(message);
    if (stack !== undefined) this.stack = stack;
    this.properties = properties;
  }
}

interface CallOptions<Part> {
  /** Bytes for the function's second parameter. They are sent in slices, so that no size of them blocks this thread. */
  readonly content?: Uint8Array | AsyncIterable<Uint8Array>;
  /** Gets what a generator function yields, each in a turn of its own: for results too large for one message. */
  readonly onPart?: (part: Part) => void;
  /** Withdraws a waiting call, and ends the process of a running one. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Processes for work over whole documents, whose input may be hostile: each takes one call at a time and is ended when the
 * call passes a limit of time or memory. That costs this call only; the next one gets a new process. Processes, because the
 * memory of a thread cannot be limited: typed arrays and strings outside the heap do not count for `resourceLimits`.
 */
export interface WorkerPool {
  /** Starts a process, or lets an idle one stay on, and loads the module: for work that is about to come. */
  prepare(task: WorkerTask<WorkerFunction>): void;
  /** Errors: `WorkerFailure`, `WorkerTaskError`; the signal's reason when it is aborted, that of `content` when that fails. */
  run<Work extends WorkerFunction>(
    task: WorkerTask<Work>,
    input: Parameters<Work>[0],
    options?: CallOptions<PartOf<Work>>,
  ): Promise<ResultOf<Work>>;
  /** Ends all processes; waiting and running calls fail. */
  close(): Promise<void>;
}

type Yielding<Part, Result> = Generator<Part, Result> | AsyncGenerator<Part, Result>;
type PartOf<Work extends WorkerFunction> = ReturnType<Work> extends Yielding<infer Part, unknown> ? Part : never;
type ResultOf<Work extends WorkerFunction> =
  ReturnType<Work> extends Yielding<unknown, infer Result> ? Result : Awaited<ReturnType<Work>>;

interface Call {
  readonly module: string;
  readonly name: string;
  readonly input: unknown;
  readonly content: CallOptions<never>['content'];
  readonly onPart: ((part: never) => void) | undefined;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (result: never) => void;
  readonly reject: (reason: unknown) => void;
}

const CLOSED = () => new WorkerFailure('closed', 'the server is stopping');

export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const waiting: Call[] = [];
  const members = new Set<PoolMember>();
  let isClosed = false;

  const dispatch = (): void => {
    while (waiting.length > 0) {
      const member =
        [...members].find((candidate) => candidate.isFree) ?? (members.size < options.size ? start() : null);
      const call = member === null ? undefined : waiting.shift();
      if (member === null || call === undefined) return;
      member.take(call);
    }
  };
  const start = (): PoolMember => {
    const member = new PoolMember(options, {
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
    prepare({ module }) {
      if (isClosed) return;
      const [member = start()] = members;
      member.load(module);
    },
    run: (task, input, { content, onPart, signal } = {}) =>
      new Promise((resolve, reject) => {
        if (isClosed) throw CLOSED();
        signal?.throwIfAborted();
        const withdraw = (): void => {
          const index = waiting.indexOf(call);
          if (index === -1) return;
          waiting.splice(index, 1);
          reject(signal?.reason);
        };
        const settled = () => signal?.removeEventListener('abort', withdraw);
        const call: Call = {
          module: task.module,
          name: task.name,
          input,
          content,
          onPart,
          signal,
          resolve: (result) => {
            settled();
            resolve(result);
          },
          reject: (reason) => {
            settled();
            reject(reason);
          },
        };
        signal?.addEventListener('abort', withdraw, { once: true });
        waiting.push(call);
        dispatch();
      }),
    close: async () => {
      isClosed = true;
      for (const call of waiting.splice(0)) call.reject(CLOSED());
      await Promise.all([...members].map((member) => member.end(CLOSED())));
    },
  };
}

interface MemberEvents {
  readonly onFree: () => void;
  readonly onGone: () => void;
}

const ENTRY = fileURLToPath(new URL('./worker-process.ts', import.meta.url));
const MIB = 1024 * 1024;
const SLICE_BYTES = 256 * 1024;
/** A process that is not up by then never will be. */
const START_TIMEOUT_MS = 60_000;
const MAX_KEPT_STDERR = 4_000;
/** Variables that a process inherits. Readers of foreign documents get no secrets. */
const ENVIRONMENT =
  /^(NODE_COMPILE_CACHE|NODE_V8_COVERAGE|TZ|LANG|LC_\w+|PATH|HOME|TMPDIR|TEMP|TMP|SYSTEMROOT|WINDIR)$/i;

class PoolMember {
  readonly #process: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #options: WorkerPoolOptions;
  readonly #events: MemberEvents;
  #call: Call | null = null;
  #deadline: NodeJS.Timeout | null = null;
  #idle: NodeJS.Timeout | null = null;
  #isReady = false;
  #isGone = false;
  #stderr = '';
  readonly #onAbort = (): void => void this.end(this.#call?.signal?.reason);

  constructor(options: WorkerPoolOptions, events: MemberEvents) {
    this.#options = options;
    this.#events = events;
    this.#process = fork(ENTRY, [String(options.memoryBytes)], {
      serialization: 'advanced',
      // The heap is collected harder before the process reaches its limit. The other flags are those of the server, so that it
      // finds the same compiled code.
      execArgv: [
        '--max-semi-space-size=8',
        '--heap-growing-percent=60',
        `--max-old-space-size=${Math.ceil((options.memoryBytes * 0.9) / MIB)}`,
      ],
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => ENVIRONMENT.test(name))),
      // Libraries print warnings about odd input; these must not end up between the server's log lines.
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#process.stderr?.on('data', (data: Buffer) => {
      this.#stderr = (this.#stderr + data.toString()).slice(-MAX_KEPT_STDERR);
    });
    this.#process.on('message', (message: FromWorker) => this.#onMessage(message));
    this.#process.on('error', (error) =>
      this.#leave(new WorkerFailure('crash', `no worker process: ${error.message}`)),
    );
    this.#gone = new Promise((resolve) => {
      // "close" comes after all that the process wrote; it comes alone when the process could not be started.
      this.#process.once('close', (code, signal) => {
        this.#leave(failureOf({ code, signal, stderr: this.#stderr }, options));
        resolve();
      });
    });
    this.#deadline = setTimeout(() => {
      void this.end(
        new WorkerFailure('crash', `the worker process did not start in ${START_TIMEOUT_MS / 1000} seconds`),
      );
    }, START_TIMEOUT_MS);
    this.#deadline.unref();
    this.#hold(false);
  }

  get isFree(): boolean {
    return this.#call === null && !this.#isGone;
  }

  take(call: Call): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#call = call;
    this.#hold(true);
    call.signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (this.#isReady) this.#startClock();
    void this.#send(call).catch((error: unknown) => this.end(error));
  }

  /** Loads a module ahead of its first call. */
  load(module: string): void {
    void this.#post({ kind: 'load', module });
    if (this.isFree && this.#isReady) this.#rest();
  }

  /** Ends the process; its call fails with the reason. */
  async end(reason: unknown): Promise<void> {
    this.#leave(reason);
    // Its end is near, and a caller may wait for it.
    this.#hold(true);
    this.#process.kill('SIGKILL');
    await this.#gone;
  }

  async #send(call: Call): Promise<void> {
    const { module, name, input, content } = call;
    const contentBytes = content instanceof Uint8Array ? content.byteLength : null;
    await this.#post({ kind: 'call', module, name, input, contentBytes });
    if (content !== undefined) {
      for await (const part of content instanceof Uint8Array ? [content] : content) {
        for (let at = 0; at < part.byteLength && this.#call === call; at += SLICE_BYTES) {
          await this.#post({ kind: 'content', bytes: part.subarray(at, at + SLICE_BYTES) });
        }
        if (this.#call !== call) return;
      }
    }
    await this.#post({ kind: 'begin' });
  }

  /** Resolves when the message is written, also to nowhere: that a process died is heard from itself. */
  #post(message: ToWorker): Promise<void> {
    return new Promise((resolve) => {
      if (this.#process.connected) this.#process.send(message, () => resolve());
      else resolve();
    });
  }

  #startClock(): void {
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    const { timeoutMs } = this.#options;
    const failure = () => new WorkerFailure('timeout', `it took longer than ${timeoutMs / 1_000} seconds`);
    this.#deadline = setTimeout(() => void this.end(failure()), timeoutMs);
  }

  #onMessage(message: FromWorker): void {
    if (this.#isGone) return;
    if (message.kind === 'ready') {
      this.#isReady = true;
      if (this.#call === null) this.#rest();
      else this.#startClock();
    } else if (message.kind === 'part') {
      try {
        this.#call?.onPart?.(message.part as never);
      } catch (error) {
        void this.end(error);
      }
    } else {
      const call = this.#settle();
      if (message.isSpent) void this.end(null);
      else this.#rest();
      if (message.kind === 'result') call?.resolve(message.result as never);
      else call?.reject(new WorkerTaskError(message.message, message.stack, message.properties));
      this.#events.onFree();
    }
  }

  /** Keeps this process alive no longer, and ends after a while unless a call comes. */
  #rest(): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    this.#hold(false);
    this.#idle = setTimeout(() => void this.end(null), this.#options.idleMs);
    this.#idle.unref();
  }

  /** Whether this process must stay for the worker's sake. */
  #hold(isHeld: boolean): void {
    const handles = [this.#process, this.#process.channel, this.#process.stderr as unknown as NodeJS.RefCounted | null];
    for (const handle of handles) isHeld ? handle?.ref() : handle?.unref();
  }

  #leave(reason: unknown): void {
    if (this.#isGone) return;
    this.#isGone = true;
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#settle()?.reject(reason);
    this.#events.onGone();
  }

  #settle(): Call | null {
    const call = this.#call;
    this.#call = null;
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    call?.signal?.removeEventListener('abort', this.#onAbort);
    return call;
  }
}

interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}

/** Error of a process that ended by itself. */
function failureOf({ code, signal, stderr }: Ending, { memoryBytes }: WorkerPoolOptions): WorkerFailure {
  if (/memory limit|out of memory/i.test(stderr)) {
    return new WorkerFailure('memory', `it needs more than ${Math.round(memoryBytes / MIB)} MiB of memory`);
  }
  if (signal === 'SIGKILL') {
    return new WorkerFailure('memory', 'the system killed the worker process, as it does when memory runs out');
  }
  const said = stderr.split('\n').find((line) => /^\w*error\b/i.test(line)) ?? '';
  const how = signal === null ? `exit code ${code}` : signal;
  return new WorkerFailure('crash', `the worker process ended with ${how}${said === '' ? '' : `: ${said.trim()}`}`);
}
