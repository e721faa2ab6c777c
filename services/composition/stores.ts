import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileBlobStore } from '../common/adapters/files/blob-store.ts';
import { createInProcessBus } from '../common/adapters/in-process/bus.ts';
import { lockDataDirectory } from '../common/adapters/sqlite/data-directory-lock.ts';
import { openSqliteDocumentStore } from '../common/adapters/sqlite/document-store.ts';
import { createSqliteDatasetIndexes } from '../common/adapters/sqlite-index/sqlite-dataset-indexes.ts';
import type { Config } from '../common/config/configuration.ts';
import { ConfigurationError } from '../common/config/load-config.ts';
import { engramError } from '../common/domain/errors.ts';
import type { Logger } from '../common/observability/logger.ts';
import { measured } from '../common/observability/measured.ts';
import type { Metrics } from '../common/observability/metrics.ts';
import type { BlobStore } from '../common/ports/blob-store.ts';
import type { Bus } from '../common/ports/bus.ts';
import type { DatasetIndexes } from '../common/ports/dataset-indexes.ts';
import type { AnyCollection, DocumentStore } from '../common/ports/document-store.ts';

/** Everything that keeps data or carries messages, chosen by the configuration. */
export interface Stores {
  readonly documents: DocumentStore;
  readonly blobs: BlobStore;
  readonly indexes: DatasetIndexes;
  readonly bus: Bus;
  /** Starts what a run will need, while its data still comes in. */
  prepare(): void;
  /** In the order in which nothing is lost: messages, indexes, records, the lock. */
  close(): Promise<void>;
}

export interface StoreParts {
  readonly config: Config;
  readonly collections: readonly AnyCollection[];
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Files below the data directory. `ENGRAM_STORES=cluster` is refused until its adapters are built. */
export async function openStores({ config, collections, logger, metrics }: StoreParts): Promise<Stores> {
  refuseCluster(config);
  const { dataDir, autoMigrations: autoMigrate } = config;
  await makeDirectory(dataDir);
  const lock = await lockDataDirectory(dataDir);
  const closers: (() => Promise<void>)[] = [() => lock.release()];
  const closeAll = async (): Promise<void> => {
    for (const close of closers.splice(0).toReversed()) await close();
  };
  try {
    const documents = await openSqliteDocumentStore({ file: join(dataDir, 'control.db'), autoMigrate });
    closers.push(() => documents.close());
    await documents.prepare(collections);
    const blobs = await createFileBlobStore({ directory: join(dataDir, 'blobs') });
    const indexes = await createSqliteDatasetIndexes({
      directory: join(dataDir, 'datasets'),
      vectorMemoryBytes: config.vectorMemoryBytes,
      autoMigrate,
    });
    closers.push(() => indexes.close());
    const bus = createInProcessBus({
      onListenerError: (error, subject) => logger.error('bus.listener-failed', { subject, error }),
    });
    closers.push(() => bus.drain());
    return {
      documents: measured(documents, 'documents', metrics),
      blobs: measured(blobs, 'blobs', metrics),
      indexes: {
        text: measured(indexes.text, 'text', metrics),
        vectors: measured(indexes.vectors, 'vectors', metrics),
        graph: measured(indexes.graph, 'graph', metrics),
        close: () => indexes.close(),
      },
      bus,
      prepare: () => indexes.prepare(),
      close: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

function refuseCluster({ stores }: Config): void {
  const cluster = Object.entries(stores).filter(([, shape]) => shape === 'cluster');
  if (cluster.length > 0) {
    const names = cluster.map(([port]) => port).join(', ');
    throw new ConfigurationError([
      `ENGRAM_STORES: this version has embedded stores only; ${names} cannot be "cluster" yet.`,
    ]);
  }
}

async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw engramError('ServiceUnavailableError', `The data directory ${directory} cannot be made: ${reason}`, {
      cause,
    });
  }
}
