import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatasetScope } from '../../domain/scope.ts';
import type { DatasetIndexes } from '../../ports/dataset-indexes.ts';
import { datasetFile, listDatasetFiles } from './dataset-file.ts';
import type { DatasetWorkers } from './dataset-workers.ts';
import { createOpenFiles } from './open-files.ts';
import { createOpeningLock } from './opening-lock.ts';
import type { ReaderMethods } from './reader-worker.ts';
import { createSqliteGraphStore } from './sqlite-graph-store.ts';
import { createSqliteTextIndex } from './sqlite-text-index.ts';
import { createSqliteVectorIndex } from './sqlite-vector-index.ts';
import type { VectorMethods } from './vector-worker.ts';
import { createWorkerClient } from './worker-client.ts';
import type { WorkerSettings } from './worker-protocol.ts';
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
}

export interface SqliteDatasetIndexes extends DatasetIndexes {
  /** Starts the threads that a run needs, so that its first steps do not wait for them. */
  prepare(): void;
}

/**
 * Text, vectors and graph of every dataset in one SQLite file each. One process per directory. Three threads: the storage
 * worker (all writes), a reader, and the vector scan; the calling thread never touches a file.
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
  const pathOf = (scope: DatasetScope) => datasetFile(directory, scope);
  const workers: DatasetWorkers = {
    writer: createWorkerClient<WriterMethods>(new URL('./writer-worker.ts', import.meta.url), settings),
    reader: createWorkerClient<ReaderMethods>(new URL('./reader-worker.ts', import.meta.url), settings),
    scanner: createWorkerClient<VectorMethods>(new URL('./vector-worker.ts', import.meta.url), settings),
    pathOf,
    forget(scope) {
      const notice = { notice: 'forget', path: pathOf(scope) } as const;
      workers.reader.notify(notice);
      workers.scanner.notify(notice);
    },
  };
  return {
    text: createSqliteTextIndex(workers),
    vectors: createSqliteVectorIndex(workers),
    graph: createSqliteGraphStore(workers),
    prepare() {
      workers.writer.prepare();
      workers.reader.prepare();
    },
    async close() {
      await Promise.all([workers.reader.close(), workers.scanner.close()]);
      // Last: the connection that closes last cleans the logs up, and only a writing one can.
      await workers.writer.close();
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
