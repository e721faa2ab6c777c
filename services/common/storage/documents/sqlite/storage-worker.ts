import { parentPort, workerData } from 'node:worker_threads';
import { encodeError } from './encoded-errors.ts';
import { rememberFile } from './file-in-place.ts';
import { migrate } from './migrations.ts';
import { openForWriting } from './open-database.ts';
import { prepareTables } from './prepare-tables.ts';
import { type CommitContext, runCommits } from './run-commits.ts';
import { storeError } from './sqlite-errors.ts';
import { createStatementCache } from './statement-cache.ts';
import { createLayouts } from './table-layout.ts';
import { type CollectionRevisions, countCommit } from './unchanged-reads.ts';
import type { EncodedCommit, EncodedWrite, UnansweredRequest, WorkerReply, WorkerRequest } from './write-protocol.ts';

/**
 * The thread that owns the write connection of a store: transactions, checkpoints and their disk waits stay off the
 * thread that serves requests. Replies come in the order of the requests; the first says that the file is open.
 */
export interface StorageWorkerData {
  readonly file: string;
  readonly autoMigrate: boolean;
  /** Counts the commits, for readers that keep what they read. */
  /** Null: nobody keeps what was read. */
  readonly revisions: CollectionRevisions | null;
}

/** After this time without a commit the log goes back into the file and is cut: overwritten content leaves the disk. */
const IDLE_CHECKPOINT_MS = 1_000;

interface StorageWorker {
  answer(request: Exclude<WorkerRequest, UnansweredRequest>): WorkerReply;
  take(request: UnansweredRequest): void;
}

function openStorage({ file, autoMigrate, revisions }: StorageWorkerData): StorageWorker {
  const database = openForWriting(file);
  try {
    migrate(database, { file, autoMigrate });
  } catch (error) {
    database.close();
    throw error;
  }
  const context = { database, file, statements: createStatementCache(database), layouts: createLayouts() };
  return createStorage(context, revisions);
}

function createStorage(context: CommitContext, revisions: CollectionRevisions | null): StorageWorker {
  const { database, file } = context;
  const requireSameFile = rememberFile(file);
  const parts = new Map<number, EncodedWrite[]>();
  const idle = createIdleTimer(() => tidy(context, CHECKPOINT));
  const whole = ({ writes, large }: EncodedCommit): readonly EncodedWrite[] => {
    if (large === undefined) return writes;
    const all = [...(parts.get(large) ?? []), ...writes];
    parts.delete(large);
    return all;
  };
  const keep = (large: number, writes: readonly EncodedWrite[]) => {
    const kept = parts.get(large);
    if (kept === undefined) parts.set(large, [...writes]);
    else kept.push(...writes);
  };
  const counted = (commits: readonly (readonly EncodedWrite[])[]) => {
    try {
      return runCommits(context, commits);
    } finally {
      if (revisions !== null)
        countCommit(revisions, new Set(commits.flatMap((writes) => writes.map(({ collection }) => collection))));
    }
  };
  return {
    answer(request) {
      switch (request.kind) {
        case 'commits':
          requireSameFile();
          idle.restart();
          return { kind: 'commits', outcomes: counted(request.commits.map(whole)) };
        case 'prepare':
          prepareTables(database, request.collections);
          for (const rules of request.collections) context.layouts.declare(rules);
          return { kind: 'done' };
        case 'close':
          idle.stop();
          tidy(context, 'PRAGMA optimize');
          tidy(context, CHECKPOINT);
          database.close();
          return { kind: 'done' };
      }
    },
    take(request) {
      if (request.kind === 'drop') parts.delete(request.large);
      else keep(request.large, request.writes);
    },
  };
}

/** Empties the log. When a read holds it, what can be written back is, and the next time does the rest. */
const CHECKPOINT = 'PRAGMA wal_checkpoint(TRUNCATE)';

/** A full or damaged file is reported by the reads and commits that meet it; the log keeps what is not written back. */
function tidy({ database, file }: CommitContext, sql: string): void {
  try {
    database.exec(sql);
  } catch (error) {
    if (storeError(error, file) === null) throw error;
  }
}

function createIdleTimer(action: () => void) {
  let timer: NodeJS.Timeout | undefined;
  return {
    restart() {
      if (timer === undefined) timer = setTimeout(action, IDLE_CHECKPOINT_MS);
      else timer.refresh();
    },
    stop: () => clearTimeout(timer),
  };
}

function attempt(file: string, work: () => WorkerReply): WorkerReply {
  try {
    return work();
  } catch (error) {
    return { kind: 'failed', error: encodeError(error, file) };
  }
}

if (parentPort !== null) {
  const port = parentPort;
  const data = workerData as StorageWorkerData;
  const first = attempt(data.file, () => {
    const storage = openStorage(data);
    port.on('message', (request: WorkerRequest) => {
      if (request.kind === 'part' || request.kind === 'drop') {
        storage.take(request);
        return;
      }
      port.postMessage(attempt(data.file, () => storage.answer(request)));
      if (request.kind === 'close') port.close();
    });
    return { kind: 'done' };
  });
  port.postMessage(first);
}
