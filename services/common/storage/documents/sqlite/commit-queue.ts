import { decodeError } from './encoded-errors.ts';
import type { CommitOutcome, EncodedCommit, EncodedResult, WorkerReply } from './write-protocol.ts';

/**
 * One batch of commits is under way at a time; those that come meanwhile make up the next. An idle store so commits at
 * once, a busy one shares transactions and messages among everything that waits.
 */
export interface CommitQueue {
  add(commit: EncodedCommit): Promise<readonly EncodedResult[]>;
  /** Resolves when nothing waits any more. */
  idle(): Promise<void>;
}

interface Entry {
  readonly commit: EncodedCommit;
  readonly resolve: (results: readonly EncodedResult[]) => void;
  readonly reject: (error: unknown) => void;
}

export function createCommitQueue(send: (batch: readonly EncodedCommit[]) => Promise<WorkerReply>): CommitQueue {
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
    add: (commit) =>
      new Promise((resolve, reject) => {
        queue.push({ commit, resolve, reject });
        running ??= run();
      }),
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
