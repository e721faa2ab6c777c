import { workerData } from 'node:worker_threads';
import { serveSearches } from './thread-indexes.ts';

/** Holds vectors in memory and finds the nearest. Queries for one kind of one dataset that wait together share a pass. */
serveSearches(workerData, () => ({ tasks: {}, close() {} }));
