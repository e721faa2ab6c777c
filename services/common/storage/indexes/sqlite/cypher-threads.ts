import { othersAreRunning } from '../../cypher/errors.ts';
import type { WorkerNotice } from './worker-protocol.ts';

interface Thread {
  notify(notice: WorkerNotice): void;
  close(): Promise<void>;
}

interface Claim {
  /** Who asks: one query of each caller runs at a time. */
  readonly caller: string;
  /** The file of the dataset: a thread that holds its graph is preferred. */
  readonly path: string;
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
}

export type CypherThreads<CypherThread extends Thread> = ReturnType<typeof createCypherThreads<CypherThread>>;

/** Threads for Cypher, each running one query. A slow one delays only the next queries of its caller while threads are left. */
export function createCypherThreads<CypherThread extends Thread>(threads: readonly CypherThread[]) {
  const running = new Map<CypherThread, string>();
  const lastPath = new Map<CypherThread, string>();
  let waiting: { readonly claim: Claim; enter(thread: CypherThread): void }[] = [];
  const startNext = () => {
    const idle = threads.filter((thread) => !running.has(thread));
    const callers = new Set(running.values());
    const next = waiting.find(({ claim }) => !callers.has(claim.caller));
    const [first] = idle;
    if (first === undefined || next === undefined) return;
    const { caller, path } = next.claim;
    const started = (thread: CypherThread) => lastPath.has(thread);
    const thread = idle.find((one) => lastPath.get(one) === path) ?? idle.find(started) ?? first;
    waiting = waiting.filter((one) => one !== next);
    running.set(thread, caller);
    lastPath.set(thread, path);
    next.enter(thread);
    startNext();
  };
  const claimed = (claim: Claim) =>
    new Promise<CypherThread>((resolve, reject) => {
      const leave = (reason: unknown) => {
        waiting = waiting.filter((one) => one !== place);
        settle();
        reject(reason);
      };
      const onAbort = () => leave(claim.signal?.reason);
      const timer = setTimeout(() => leave(othersAreRunning()), claim.limitMs);
      const settle = () => {
        clearTimeout(timer);
        claim.signal?.removeEventListener('abort', onAbort);
      };
      const place = {
        claim,
        enter(thread: CypherThread) {
          settle();
          resolve(thread);
        },
      };
      claim.signal?.addEventListener('abort', onAbort, { once: true });
      waiting.push(place);
      startNext();
    });
  return {
    /** Runs the work on a thread of its own. `ServiceUnavailableError` when none is free within the limit. */
    async run<Result>(claim: Claim, work: (thread: CypherThread) => Promise<Result>): Promise<Result> {
      claim.signal?.throwIfAborted();
      const thread = await claimed(claim);
      try {
        return await work(thread);
      } finally {
        running.delete(thread);
        startNext();
      }
    },
    notify(notice: WorkerNotice) {
      for (const thread of threads) thread.notify(notice);
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}
