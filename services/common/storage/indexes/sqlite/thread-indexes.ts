import { resolve } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import { engramError } from '../../../kernel/errors.ts';
import type { DatasetScope } from '../../../kernel/scope.ts';
import type { IndexStores } from '../../ports/dataset-indexes.ts';
import type { VectorQuery } from '../../ports/vector-index.ts';
import { readNeighboursHere } from './neighbours.ts';
import { createReaderMethods, type ReaderMethods } from './reader-methods.ts';
import { datasetFile } from './sqlite-dataset-indexes.ts';
import { createSqliteGraphStore } from './sqlite-graph-store.ts';
import { createSqliteTextIndex } from './sqlite-text-index.ts';
import { createSqliteVectorIndex, createVectorSpaces } from './sqlite-vector-index.ts';
import { createVectorSearch } from './vector-search.ts';
import type { WorkerClient } from './worker-client.ts';
import { serveParent } from './worker-host.ts';
import type { MethodMap, WorkerSettings } from './worker-protocol.ts';

type ThreadSettings = WorkerSettings & { readonly directory: string };

/** A task of a searching thread: its answer can be sent. */
type ThreadTask = (argument: never) => Promise<unknown>;

/** The indexes on files that this thread reads itself: what they answer is there at once. They refuse writes. */
function openThreadIndexes(settings: ThreadSettings, port?: MessagePort) {
  const search = createVectorSearch(settings, port);
  const directory = resolve(settings.directory);
  const threads = {
    reader: inThread<ReaderMethods>(createReaderMethods(search.files, readNeighboursHere, (rows) => rows)),
    scanner: inThread({
      nearest: (path: string, query: VectorQuery) => search.nearest(path, [query])[0]?.() as never,
    }),
    writer: inThread({}) as never,
    cypher: inThread({}) as never,
    pathOf: (scope: DatasetScope) => datasetFile(directory, scope),
    forget: () => {},
  };
  const indexes: IndexStores = {
    text: createSqliteTextIndex(threads),
    vectors: createSqliteVectorIndex(threads, createVectorSpaces()),
    graph: createSqliteGraphStore(threads),
  };
  return { indexes, search };
}

/**
 * Serves the parent of a thread that searches, or the thread behind the port: the vector scan, and tasks that read the
 * indexes of one dataset many times without a message for each.
 */
export function serveSearches(
  settings: ThreadSettings,
  tasksOf: (indexes: IndexStores) => { readonly tasks: Readonly<Record<string, ThreadTask>>; close(): unknown },
  port?: MessagePort,
): void {
  const { indexes, search } = openThreadIndexes(settings, port);
  const { tasks, close } = tasksOf(indexes);
  serveParent(
    {
      ...search,
      handle: (requests) =>
        requests[0]?.method === 'nearest'
          ? search.nearest(
              requests[0].path,
              requests.map(({ argument }) => argument as VectorQuery),
            )
          : requests.map(
              ({ method, argument }) =>
                () =>
                  search.files.during(async () => tasks[method]?.(argument as never)),
            ),
      close() {
        search.files.closeAll();
        close();
      },
    },
    port,
  );
}

/** A client whose methods run in this thread. Writing is none of them. */
export function inThread<Methods extends MethodMap>(methods: Methods): WorkerClient<Methods> {
  return {
    async call(method, path, argument) {
      const run = methods[method];
      if (run === undefined) throw engramError('CogneeSystemError', `A searching thread cannot run ${method}`);
      return run(path, argument) as never;
    },
    pending: () => 0,
    prepare: () => {},
    notify: () => {},
    kill: () => {},
    close: async () => {},
  };
}
