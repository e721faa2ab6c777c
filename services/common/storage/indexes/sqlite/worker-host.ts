import { type MessagePort, parentPort } from 'node:worker_threads';
import { engramError, isEngramError } from '../../../kernel/errors.ts';
import { encodeError } from '../../documents/sqlite/encoded-errors.ts';
import { storeError } from '../../documents/sqlite/sqlite-errors.ts';
import type {
  MethodMap,
  WorkerAnswer,
  WorkerMessage,
  WorkerNews,
  WorkerNotice,
  WorkerRequest,
} from './worker-protocol.ts';

/** Result of a request, or a promise of it; computed when it is sent so that its error goes to the caller. */
export type Result = () => unknown;

interface WorkerService {
  /** Results of the requests, in order. */
  handle(requests: readonly WorkerRequest[]): readonly Result[];
  /** Whether a waiting request can be handled in one go with the first in line. Default: it came with it, for the same file. */
  sharesWork?(first: WorkerRequest, other: WorkerRequest): boolean;
  notice?(notice: WorkerNotice): void;
  close(): void;
}

/**
 * Serves the thread that started this one, or the one behind the given port. Requests are handled in order, one group per turn of the event loop, so that
 * notices get in between: a request that was cancelled while it waited is never started.
 */
export function serveParent(service: WorkerService, port: MessagePort | null = parentPort): void {
  if (port === null) throw new Error('This module runs in a worker thread only');
  let waiting: (WorkerRequest & { readonly message: number })[] = [];
  let messages = 0;
  let isClosing = false;
  /** Requests whose promise is not settled. */
  let running = 0;

  const finish = () => {
    if (running > 0 || waiting.length > 0) return;
    service.close();
    port.close();
  };
  const work = () => {
    const group = nextGroup();
    if (group.length > 0) answerAll(group);
    if (waiting.length > 0) setImmediate(work);
    else if (isClosing) finish();
  };
  const nextGroup = (): readonly WorkerRequest[] => {
    const first = waiting.shift();
    if (first === undefined) return [];
    const isTogether = (other: (typeof waiting)[number]) =>
      service.sharesWork?.(first, other) ?? (other.message === first.message && other.path === first.path);
    const shared = waiting.filter(isTogether);
    if (shared.length > 0) waiting = waiting.filter((other) => !shared.includes(other));
    return [first, ...shared];
  };
  const answerAll = (group: readonly WorkerRequest[]) => {
    const results = attempt(() => service.handle(group));
    const answers = group.map((request, index) => answerOf(request, () => results()[index]?.()));
    const ready = answers.filter((answer) => !isPromised(answer));
    if (ready.length > 0) port.postMessage(ready);
    for (const [index, request] of group.entries()) {
      const answer = answers[index];
      if (answer !== undefined && isPromised(answer)) void answerLater(request, answer.value);
    }
  };
  const answerLater = async (request: WorkerRequest, promise: Promise<unknown>) => {
    running += 1;
    const result: Result = await promise.then(
      (value) => () => value,
      (error) => () => {
        throw error;
      },
    );
    port.postMessage([answerOf(request, result)]);
    running -= 1;
    if (isClosing) finish();
  };
  port.on('message', (message: WorkerMessage) => {
    if (!('notice' in message)) {
      if (waiting.length === 0) setImmediate(work);
      messages += 1;
      for (const request of message) waiting.push({ ...request, message: messages });
      return;
    }
    if (message.notice === 'cancel') waiting = waiting.filter(({ id }) => id !== message.id);
    else if (message.notice !== 'close') service.notice?.(message);
    else {
      isClosing = true;
      finish();
    }
  });
}

/** Handles each request by the method that it names. */
export function runEach(methods: MethodMap): WorkerService['handle'] {
  return (requests) =>
    requests.map(
      ({ method, path, argument }) =>
        () =>
          methods[method]?.(path, argument),
    );
}

function isPromised(answer: WorkerAnswer): answer is { readonly id: number; readonly value: Promise<unknown> } {
  return 'value' in answer && answer.value instanceof Promise;
}

/** Notifies the parent thread, or the one behind the given port, that a file has changed. */
export function tellChanged(path: string, port: MessagePort | null = parentPort): void {
  port?.postMessage({ changed: path } satisfies WorkerNews);
}

/** Runs `work` once; the returned function gives its value or throws its error, as often as it is asked. */
function attempt<Value>(work: () => Value): () => Value {
  try {
    const value = work();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function answerOf(request: WorkerRequest, result: Result): WorkerAnswer {
  try {
    return { id: request.id, value: result() };
  } catch (error) {
    return { id: request.id, error: encodeError(datasetFileError(error, request.path), request.path) };
  }
}

/** Error of a damaged dataset file, with the remedy: unlike the records, it can be rebuilt from the added content. */
function datasetFileError(error: unknown, path: string): unknown {
  if (!isDamaged(error, path)) return error;
  // A task also reads the records.
  if (isEngramError(error) && !error.message.includes(path)) return error;
  return engramError(
    'CorruptStoreError',
    `The index file ${path} of the dataset is damaged or not an SQLite database. Restore it from a backup, or forget the ` +
      "dataset's memory (memory_only) and cognify it again: the added content is stored elsewhere",
    { cause: error },
  );
}

export function isDamaged(error: unknown, path: string): boolean {
  const known = storeError(error, path) ?? error;
  return isEngramError(known) && known.wireName === 'CorruptStoreError';
}
