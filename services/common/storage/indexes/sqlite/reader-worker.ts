import { workerData } from 'node:worker_threads';
import { createOpenFiles } from './open-files.ts';
import { createReaderMethods } from './reader-methods.ts';
import { runEach, serveParent, tellChanged } from './worker-host.ts';
import type { WorkerSettings } from './worker-protocol.ts';

/** Answers every read but the vector scan, on read-only connections. */
const { openFiles: limit, autoMigrate, openingLock } = workerData as WorkerSettings;
const files = createOpenFiles({ limit, mode: 'read', autoMigrate, openingLock, onChanged: tellChanged });

serveParent({
  handle: runEach(createReaderMethods(files)),
  notice(notice) {
    if (notice.notice === 'forget') files.forget(notice.path);
  },
  close: () => files.closeAll(),
});
