import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatasetScope } from '../../../services/common/kernel/scope.ts';
import { createCypherThreads } from '../../../services/common/storage/indexes/sqlite/cypher-threads.ts';
import { createCypherRunner } from '../../../services/common/storage/indexes/sqlite/cypher-worker.ts';
import { readNeighboursHere } from '../../../services/common/storage/indexes/sqlite/neighbours.ts';
import { createOpeningLock } from '../../../services/common/storage/indexes/sqlite/opening-lock.ts';
import { createReaderMethods } from '../../../services/common/storage/indexes/sqlite/reader-methods.ts';
import { datasetFile } from '../../../services/common/storage/indexes/sqlite/sqlite-dataset-indexes.ts';
import { createSqliteGraphStore } from '../../../services/common/storage/indexes/sqlite/sqlite-graph-store.ts';
import { createSqliteTextIndex } from '../../../services/common/storage/indexes/sqlite/sqlite-text-index.ts';
import {
  createSqliteVectorIndex,
  createVectorSpaces,
} from '../../../services/common/storage/indexes/sqlite/sqlite-vector-index.ts';
import { inThread } from '../../../services/common/storage/indexes/sqlite/thread-indexes.ts';
import { createVectorSearch } from '../../../services/common/storage/indexes/sqlite/vector-search.ts';
import type { DatasetWorkers } from '../../../services/common/storage/indexes/sqlite/worker-client.ts';
import { createWriter } from '../../../services/common/storage/indexes/sqlite/writer-worker.ts';
import type { DatasetIndexes } from '../../../services/common/storage/ports/dataset-indexes.ts';
import type { VectorQuery } from '../../../services/common/storage/ports/vector-index.ts';

let directory: string | undefined;
let opened = 0;

/** The indexes on SQLite without their threads, in a folder that goes with the process. */
export function createMemoryDatasetIndexes(): DatasetIndexes {
  if (directory === undefined) {
    directory = mkdtempSync(join(tmpdir(), 'engram-quick-indexes-'));
    process.once('exit', () => rmSync(directory ?? '', { recursive: true, force: true }));
  }
  opened += 1;
  const own = join(directory, String(opened));
  const settings = {
    openFiles: 8,
    autoMigrate: true,
    vectorMemoryBytes: 1024 * 1024,
    quantiseAbove: 50_000,
    openingLock: createOpeningLock(),
  };
  const spaces = createVectorSpaces();
  const changed = (path: string) => spaces.forget(path);
  const search = createVectorSearch(settings);
  const writer = createWriter(settings, changed);
  const cypher = createCypherRunner(settings, changed);
  const workers: DatasetWorkers = {
    writer: inThread(writer.methods),
    reader: inThread(createReaderMethods(search.files, readNeighboursHere)),
    scanner: {
      ...inThread({
        nearest: (path: string, query: VectorQuery) => search.nearest(path, [query])[0]?.() as never,
      }),
      notify: search.notice,
    },
    cypher: createCypherThreads([inThread(cypher.methods)]),
    pathOf: (scope: DatasetScope) => datasetFile(own, scope),
    forget(scope) {
      const path = datasetFile(own, scope);
      search.notice({ notice: 'forget', path });
      cypher.forget(path);
    },
  };
  return {
    text: createSqliteTextIndex(workers),
    vectors: createSqliteVectorIndex(workers, spaces),
    graph: createSqliteGraphStore(workers),
    async close() {
      search.files.closeAll();
      cypher.close();
      writer.close();
    },
  };
}
