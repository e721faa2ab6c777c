import { workerData } from 'node:worker_threads';
import type { VectorQuery } from '../../ports/vector-index.ts';
import { createVectorSearch } from './vector-search.ts';
import { serveParent } from './worker-host.ts';
import type { WorkerSettings } from './worker-protocol.ts';

/** Holds vectors in memory and finds the nearest. Queries for one kind of one dataset that wait together share a pass. */
const search = createVectorSearch(workerData as WorkerSettings);

serveParent({
  ...search,
  handle: (requests) =>
    search.nearest(
      requests[0]?.path ?? '',
      requests.map(({ argument }) => argument as VectorQuery),
    ),
  close: () => search.files.closeAll(),
});
