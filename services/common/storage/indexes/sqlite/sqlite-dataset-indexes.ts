import { mkdirSync, readdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { sha256 } from '../../../kernel/hashes.ts';
import type { DatasetScope } from '../../../kernel/scope.ts';
import type { DatasetIndexes } from '../../ports/dataset-indexes.ts';
import { createCypherThreads } from './cypher-threads.ts';
import type { CypherMethods } from './cypher-worker.ts';
import { createOpenFiles } from './open-files.ts';
import { createOpeningLock } from './opening-lock.ts';
import type { ReaderMethods } from './reader-methods.ts';
import { createSqliteGraphStore } from './sqlite-graph-store.ts';
import { createSqliteTextIndex } from './sqlite-text-index.ts';
import { createSqliteVectorIndex, createVectorSpaces } from './sqlite-vector-index.ts';
import type { VectorMethods } from './vector-search.ts';
import {
  createReadingPool,
  createWorkerClient,
  type DatasetWorkers,
  type StartThread,
  type WorkerClient,
} from './worker-client.ts';
import type { MethodMap, WorkerSettings } from './worker-protocol.ts';
import type { WriterMethods } from './writer-worker.ts';

export interface SqliteDatasetIndexesOptions {
  /** Made when missing. Holds `<tenant>/<dataset>.db`. */
  readonly directory: string;
  /** Files that each thread keeps open. Default 64. */
  readonly openFiles?: number;
  /** Memory for vectors. Default 512 MiB; what does not fit is read from the file for each query. */
  readonly vectorMemoryBytes?: number;
  /** Rows of a kind from which on vectors are held as i8 and refined from the file. Default 50 000. */
  readonly quantiseAbove?: number;
  /** False: a file of an older layout is refused when it is opened. Default true. New files are always set up. */
  readonly autoMigrate?: boolean;
  /**
   * Told when a dataset's file is another one than before, or is not there, before what was read from it is answered.
   * `provenance` reads the words of `provenanceKey` of what the file holds.
   */
  readonly verify?: (scope: DatasetScope, provenance: () => Promise<ReadonlySet<string>>) => Promise<void>;
  /** Threads that search. Default: one, without tasks. */
  readonly searchThreads?: {
    /** Calls `serveSearches` with its `workerData`. */
    readonly module: URL;
    readonly data: object;
    /** They share the memory for vectors and the open files evenly. */
    readonly count: number;
    /** Default: each is a worker thread of its own. */
    readonly start?: StartThread | undefined;
  };
}

export interface SqliteDatasetIndexes extends DatasetIndexes {
  /** Verifies a dataset whose file is missing or empty, before a caller reads it. */
  inspect(scope: DatasetScope): Promise<void>;
  /** Runs a task in a searching thread on the datasets (or vectors) of the scopes, the first of which chooses the thread. */
  run(
    task: string,
    scopes: readonly [DatasetScope, ...DatasetScope[]],
    argument: object,
    signal?: AbortSignal,
  ): Promise<unknown>;
  /** Starts the threads that a run needs, so that its first steps do not wait for them. */
  prepare(): void;
}

/**
 * Text, vectors and graph of every dataset in one SQLite file each. One process per directory. Its threads: the storage
 * worker (all writes), a reader, Cypher, and those that search; the calling thread never touches a file.
 */
export async function createSqliteDatasetIndexes(options: SqliteDatasetIndexesOptions): Promise<SqliteDatasetIndexes> {
  const directory = resolve(options.directory);
  mkdirSync(directory, { recursive: true });
  const settings: WorkerSettings = {
    openFiles: options.openFiles ?? 64,
    autoMigrate: options.autoMigrate ?? true,
    vectorMemoryBytes: options.vectorMemoryBytes ?? 512 * 1024 * 1024,
    quantiseAbove: options.quantiseAbove ?? 50_000,
    openingLock: createOpeningLock(),
  };
  const scopes = new Map<string, DatasetScope>();
  const pathOf = (scope: DatasetScope) => {
    const path = datasetFile(directory, scope);
    if (!scopes.has(path)) scopes.set(path, scope);
    return path;
  };
  const spaces = createVectorSpaces();
  const note = (path: string) => {
    spaces.forget(path);
    changed.note(path);
  };
  const start = <Methods extends MethodMap>(
    module: URL,
    threadSettings: WorkerSettings = settings,
    startThread?: StartThread,
  ) => createWorkerClient<Methods>(module, threadSettings, note, startThread);
  const startSearch = () => {
    const {
      module,
      data,
      count = 1,
      start: startThread,
    } = options.searchThreads ?? { module: new URL('./vector-worker.ts', import.meta.url), data: {} };
    const ofEach = {
      ...settings,
      openFiles: Math.max(1, Math.floor(settings.openFiles / count)),
      vectorMemoryBytes: settings.vectorMemoryBytes / count,
      directory,
      ...data,
    };
    const startOne = () => start<SearchMethods>(module, ofEach, startThread);
    return createReadingPool([startOne(), ...Array.from({ length: count - 1 }, startOne)]);
  };
  const reader = start<ReaderMethods>(new URL('./reader-worker.ts', import.meta.url));
  const changed = createChangedFiles(async (path) => {
    const scope = scopes.get(path);
    const provenance = async () => new Set(await reader.call('provenance', path, null));
    if (scope !== undefined) await options.verify?.(scope, provenance);
  });
  const searching = startSearch();
  const startCypher = () => verifying(start<CypherMethods>(new URL('./cypher-worker.ts', import.meta.url)), changed);
  const workers: DatasetWorkers = {
    writer: start<WriterMethods>(new URL('./writer-worker.ts', import.meta.url)),
    reader: verifying(reader, changed),
    scanner: verifying(searching, changed),
    cypher: createCypherThreads(Array.from({ length: CYPHER_THREADS }, startCypher)),
    pathOf,
    forget(scope) {
      const notice = { notice: 'forget', path: pathOf(scope) } as const;
      workers.reader.notify(notice);
      workers.scanner.notify(notice);
      workers.cypher.notify(notice);
    },
  };
  return {
    text: createSqliteTextIndex(workers),
    vectors: createSqliteVectorIndex(workers, spaces),
    graph: createSqliteGraphStore(workers),
    async inspect(scope) {
      const path = pathOf(scope);
      const size = await stat(path).then(
        (found) => found.size,
        () => 0,
      );
      if (size > 0) return;
      changed.note(path);
      await changed.verify(path);
    },
    async run(task, scopes, argument, signal) {
      const [path, ...others] = scopes.map(pathOf) as [string, ...string[]];
      const answer = await searching.call(task, path, argument as never, { signal });
      for (const read of [path, ...others]) await changed.verify(read);
      return answer;
    },
    prepare() {
      workers.writer.prepare();
      workers.reader.prepare();
    },
    async close() {
      await Promise.all([workers.reader.close(), workers.scanner.close(), workers.cypher.close()]);
      // Last: the connection that closes last cleans the logs up, and only a writing one can.
      await workers.writer.close();
    },
  };
}

/** Queries in Cypher that run at a time. Each thread holds graphs in memory and is started when those before it have work. */
const CYPHER_THREADS = 4;

/** Tasks of `serveSearches` beside the scan. */
type SearchMethods = VectorMethods & Readonly<Record<string, (path: string, argument: never) => unknown>>;

type ChangedFiles = ReturnType<typeof createChangedFiles>;

function createChangedFiles(check: (path: string) => Promise<void>) {
  const changed = new Set<string>();
  const checking = new Map<string, Promise<void>>();
  const run = async (path: string) => {
    try {
      // What changes meanwhile is verified once more.
      while (changed.delete(path)) await check(path);
    } catch (error) {
      changed.add(path);
      throw error;
    } finally {
      checking.delete(path);
    }
  };
  return {
    note: (path: string): void => void changed.add(path),
    /** Resolves when what is known to have changed is verified; rejects when that fails, and is tried again. */
    async verify(path: string) {
      if (!changed.has(path) && !checking.has(path)) return;
      const running = checking.get(path) ?? run(path);
      checking.set(path, running);
      await running;
    },
  };
}

/** The same worker, whose answers wait until the file that they were read from is verified. */
function verifying<Methods extends MethodMap>(
  client: WorkerClient<Methods>,
  changed: ChangedFiles,
): WorkerClient<Methods> {
  return {
    ...client,
    async call(method, path, argument, callOptions) {
      const answer = await client.call(method, path, argument, callOptions);
      await changed.verify(path);
      return answer;
    },
  };
}

/** Brings every dataset file below the directory to the layout of this release; returns their paths. For `npm run migrate`. */
export function migrateDatasetFiles(directory: string): readonly string[] {
  const paths = listDatasetFiles(resolve(directory));
  const files = createOpenFiles({ limit: 1, mode: 'write', autoMigrate: true, openingLock: createOpeningLock() });
  try {
    for (const path of paths) files.open(path);
  } finally {
    files.closeAll();
  }
  return paths;
}

/** A file name may have 255 bytes on common file systems; SQLite adds `-wal`. */
const MAX_NAME_LENGTH = 180;

/** `<directory>/<tenant>/<dataset>.db`: any id becomes one plain segment, different ids different ones. */
export function datasetFile(directory: string, scope: DatasetScope): string {
  return join(directory, fileSegment(scope.tenant), `${fileSegment(scope.dataset)}.db`);
}

/** Every dataset file below the directory: for migrations and checks. */
function listDatasetFiles(directory: string): readonly string[] {
  return entries(directory).flatMap((tenant) =>
    tenant.isDirectory()
      ? entries(join(directory, tenant.name))
          .filter((entry) => entry.isFile() && entry.name.endsWith('.db'))
          .map((entry) => join(directory, tenant.name, entry.name))
      : [],
  );
}

/**
 * Keeps lower-case letters, digits, `-` and `_`; every other UTF-16 unit becomes `~xxxx`, so that no separator, no dot and
 * no upper case (file systems may fold it) gets through. The empty name is `~`; long names end in their hash.
 */
export function fileSegment(name: string): string {
  const encoded = name === '' ? '~' : name.replace(/[^a-z0-9_-]/g, escapeUnit);
  if (encoded.length <= MAX_NAME_LENGTH) return encoded;
  const digest = sha256(encoded);
  return `${encoded.slice(0, MAX_NAME_LENGTH - digest.length - 2)}~~${digest}`;
}

function escapeUnit(unit: string): string {
  return `~${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function entries(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
