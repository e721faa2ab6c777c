import type { DatasetScope } from '../../../kernel/scope.ts';
import type { ReaderMethods } from './reader-worker.ts';
import type { VectorMethods } from './vector-worker.ts';
import type { WorkerClient } from './worker-client.ts';
import type { WriterMethods } from './writer-worker.ts';

/** The threads behind the three ports. Each is started when it is first needed. */
export interface DatasetWorkers {
  readonly writer: WorkerClient<WriterMethods>;
  readonly reader: WorkerClient<ReaderMethods>;
  readonly scanner: WorkerClient<VectorMethods>;
  pathOf(scope: DatasetScope): string;
  /** A part of the dataset was dropped, perhaps its file too: readers let go of it. */
  forget(scope: DatasetScope): void;
}
