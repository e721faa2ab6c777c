import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';

/** Output of log lines. Writing never waits for the reader and never fails. */
interface LogOutput {
  write(line: string): void;
  /** Lines that were lost because the output took no more. */
  droppedLines(): number;
  /** Called with the number of lines that were lost, once lines are written again. */
  onRecovered(listener: (droppedLines: number) => void): void;
}

interface LogOutputOptions {
  readonly fd: number;
  /** Lines that wait for the output; what comes on top is dropped. */
  readonly maxWaitingBytes?: number;
}

const MAX_WAITING_BYTES = 1024 * 1024;
/** How soon a reader that stalls is tried again, and an output that fails (disk full, pipe closed). */
const STALLED_RETRY_MS = 50;
const FAILED_RETRY_MS = 1_000;
/** How long the end of the process waits for a reader to take the last lines. */
const EXIT_FLUSH_MS = 500;
/** Size of one write. */
const MAX_WRITE_BYTES = 64 * 1024;

/**
 * Writes lines to a descriptor in order. A pipe, socket or terminal is written without blocking, a file by the thread pool;
 * what it does not take waits in a bounded queue. The last lines are written when the process exits, also after an
 * uncaught error.
 */
export function createLogOutput({ fd, maxWaitingBytes = MAX_WAITING_BYTES }: LogOutputOptions): LogOutput {
  const output = openOutput(fd);
  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  let isWriting = false;
  let isExiting = false;
  let retry: NodeJS.Timeout | null = null;
  let dropped = 0;
  let reported = 0;
  let recovered: (droppedLines: number) => void = () => {};

  const take = (): Buffer => {
    let bytes = 0;
    let count = 0;
    while (count < waiting.length && (count === 0 || bytes < MAX_WRITE_BYTES)) bytes += waiting[count++]?.length ?? 0;
    const [first] = waiting;
    const chunk = count === 1 && first !== undefined ? first : Buffer.concat(waiting.slice(0, count), bytes);
    waiting.splice(0, count);
    return chunk;
  };
  const putBack = (rest: Buffer) => {
    if (rest.length > 0) waiting.unshift(rest);
  };
  const reportDropped = () => {
    if (waiting.length > 0 || dropped === reported || isExiting) return;
    const lines = dropped - reported;
    reported = dropped;
    recovered(lines);
  };
  const settle = (chunk: Buffer, error: unknown, written: number): boolean => {
    waitingBytes -= written;
    putBack(chunk.subarray(written));
    if (error === null) return true;
    retry = setTimeout(
      () => {
        retry = null;
        flush();
      },
      isBusy(error) ? STALLED_RETRY_MS : FAILED_RETRY_MS,
    );
    retry.unref();
    return false;
  };
  const flush = () => {
    while (waiting.length > 0 && !isWriting) {
      const chunk = take();
      if (output.isFile && !isExiting) {
        isWriting = true;
        write(output.fd, chunk, 0, chunk.length, null, (error, written) => {
          isWriting = false;
          if (settle(chunk, error, error === null ? written : 0)) flush();
        });
        return;
      }
      const { error, written } = writeNow(output.fd, chunk);
      if (!settle(chunk, error, written)) return;
    }
    reportDropped();
  };
  process.once('exit', () => {
    isExiting = true;
    // The thread pool writes the lines that it already has.
    isWriting = false;
    const deadline = Date.now() + EXIT_FLUSH_MS;
    while (waiting.length > 0 && Date.now() < deadline) {
      const chunk = take();
      const { error, written } = writeNow(output.fd, chunk);
      putBack(chunk.subarray(written));
      if (error !== null && !isBusy(error)) break;
      if (error !== null) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  });
  return {
    write(line) {
      const bytes = Buffer.from(line);
      if (waitingBytes + bytes.length > maxWaitingBytes) {
        dropped += 1;
        return;
      }
      waiting.push(bytes);
      waitingBytes += bytes.length;
      // An output that took nothing a moment ago is not asked again for every line.
      if (retry === null && !isWriting) flush();
    },
    droppedLines: () => dropped,
    onRecovered(listener) {
      recovered = listener;
    },
  };
}

let standardOutput: LogOutput | undefined;

/** One for all loggers of the process. */
export function standardLogOutput(): LogOutput {
  standardOutput ??= createLogOutput({ fd: 1 });
  return standardOutput;
}

/** Dropped lines of this process since its start. */
export function droppedLogLines(): number {
  return standardOutput?.droppedLines() ?? 0;
}

interface Output {
  readonly fd: number;
  /** Written by the thread pool: writing to a file blocks for as long as its disk does. */
  readonly isFile: boolean;
}

/** The output opened so that writing to it does not block, where the system lets us. */
function openOutput(fd: number): Output {
  if (fstatSync(fd).isFile()) return { fd, isFile: true };
  try {
    // Opened anew, because the flag would otherwise hold for every process that shares the descriptor.
    const own = openSync(`/dev/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    return { fd: own, isFile: false };
  } catch {
    // A socket, or a pipe that belongs to another user: Node sets the flag on both when it opens its own stream.
    if (fd === 1) void process.stdout;
    return { fd, isFile: false };
  }
}

function writeNow(fd: number, chunk: Buffer): { readonly error: unknown; readonly written: number } {
  let written = 0;
  try {
    while (written < chunk.length) written += writeSync(fd, chunk, written);
    return { error: null, written };
  } catch (error) {
    return { error, written };
  }
}

function isBusy(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'EAGAIN' || code === 'EWOULDBLOCK';
}
