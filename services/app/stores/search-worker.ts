import { type MessagePort, workerData } from 'node:worker_threads';
import { createSystemClock } from '../../common/platform/system/clock.ts';
import { openSqliteDocumentReader } from '../../common/storage/documents/sqlite/document-store.ts';
import { serveSearches } from '../../common/storage/indexes/sqlite/thread-indexes.ts';
import { createSearchTasks } from '../../search/tasks.ts';

/** Searches where the data is, on read-only connections to the records and to the files of datasets. */
export function searchForParent(data: typeof workerData, port?: MessagePort): void {
  serveSearches(
    data,
    (indexes) => {
      const store = openSqliteDocumentReader(data.records, data.revisions);
      return { tasks: createSearchTasks({ store, indexes, clock: createSystemClock() }), close: () => store.close() };
    },
    port,
  );
}

// A thread that several servers share has no data of one of them.
if (workerData?.records !== undefined) searchForParent(workerData);
