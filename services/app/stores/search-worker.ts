import { workerData } from 'node:worker_threads';
import { createSystemClock } from '../../common/platform/system/clock.ts';
import { openSqliteDocumentReader } from '../../common/storage/documents/sqlite/document-store.ts';
import { serveSearches } from '../../common/storage/indexes/sqlite/thread-indexes.ts';
import { createSearchTasks } from '../../search/tasks.ts';

/** Searches where the data is, on read-only connections to the records and to the files of datasets. */
serveSearches(workerData, (indexes) => {
  const store = openSqliteDocumentReader(workerData.records, workerData.revisions);
  return { tasks: createSearchTasks({ store, indexes, clock: createSystemClock() }), close: () => store.close() };
});
