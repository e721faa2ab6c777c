import { workerData } from 'node:worker_threads';
import { createOpenFiles } from './open-files.ts';
import { createReaderMethods, type ReaderMethods } from './reader-methods.ts';
import { serveParent, tellChanged } from './worker-host.ts';
import type { WorkerSettings } from './worker-protocol.ts';

/** Answers every read but the vector scan, on read-only connections. */
const { openFiles: limit, autoMigrate, openingLock } = workerData as WorkerSettings;
const files = createOpenFiles({ limit, mode: 'read', autoMigrate, openingLock, onChanged: tellChanged });
const methods = createReaderMethods(files);

serveParent({
  handle: (requests) =>
    requests.map(({ method, path, argument }) => () => {
      const run = methods[method as keyof ReaderMethods] as (path: string, argument: unknown) => unknown;
      return run(path, argument);
    }),
  notice(notice) {
    if (notice.notice === 'forget') files.forget(notice.path);
  },
  close: () => files.closeAll(),
});
