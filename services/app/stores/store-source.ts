import { type DatasetScope, SYSTEM_SCOPE } from '../../common/kernel/scope.ts';
import type { Config } from '../../common/platform/config/configuration.ts';
import type { HealthCheck } from '../../common/platform/http/health-probe.ts';
import type { Logger } from '../../common/platform/observability/logger.ts';
import type { StartThread } from '../../common/storage/indexes/sqlite/worker-client.ts';
import type { BlobStore } from '../../common/storage/ports/blob-store.ts';
import type { Bus } from '../../common/storage/ports/bus.ts';
import type { DatasetIndexes } from '../../common/storage/ports/dataset-indexes.ts';
import type { AnyCollection, DocumentStore } from '../../common/storage/ports/document-store.ts';
import type { SearchThreads } from '../../search/threads.ts';

export interface SourceParts {
  readonly config: Config;
  readonly collections: readonly AnyCollection[];
  readonly logger: Logger;
  /** Dataset files that each thread of an index keeps open. */
  readonly openFiles?: number;
  /** Starts the threads that search embedded stores. Default: worker threads of this source. */
  readonly startSearchThread?: StartThread | undefined;
  /** See `SqliteDatasetIndexes`. */
  readonly verifyIndex?: (scope: DatasetScope, provenance: () => Promise<ReadonlySet<string>>) => Promise<void>;
}

/** Adapter of a port, with the check of its health. */
interface Opened<Port> {
  readonly port: Port;
  /** Null: it has no state of its own that could fail. */
  readonly health: HealthCheck | null;
}

/** Opens the adapters of one shape. Nothing is opened that is not asked for; what is shared is opened once. */
export interface StoreSource {
  documents(): Promise<Opened<DocumentStore>>;
  /** Rejects, as the next ones do, when the place on a server belongs to another installation. */
  blobs(installation: string): Promise<Opened<BlobStore>>;
  index(installation: string): Promise<Opened<Pick<DatasetIndexes, 'text' | 'vectors'>>>;
  graph(installation: string): Promise<Opened<DatasetIndexes['graph']>>;
  bus(installation: string): Promise<Opened<Bus>>;
  /** Searches where the data is, when documents, indexes and graph are all of this source. */
  readonly threads?: SearchThreads;
  /** Verifies a dataset whose index is missing, where the stores can notice that. */
  inspectIndex?(scope: DatasetScope): Promise<void>;
  /** Starts what a run will need, while its data still comes in. */
  prepare(): void;
  /** Everything that was opened, newest first. */
  close(): Promise<void>;
}

/** Rejects when records cannot be read. */
export async function probeDocuments(store: DocumentStore): Promise<void> {
  await store.count(SYSTEM_SCOPE, { name: 'users', level: 'system', indexes: [] }, {});
}

/** A component without which nothing works. */
export function critical(provider: string, probe: () => Promise<unknown>): HealthCheck {
  return {
    critical: true,
    async check() {
      await probe();
      return { status: 'healthy', provider, details: 'Connection successful' };
    },
  };
}

/** Closes in reverse what was opened. */

export function createClosing() {
  const closers: (() => Promise<unknown>)[] = [];
  return {
    add: (close: () => Promise<unknown>): void => void closers.push(close),
    async closeAll() {
      for (const close of closers.splice(0).toReversed()) await close();
    },
  };
}
