import { once } from '../common/platform/async/once.ts';
import type { Config, StoreSettings } from '../common/platform/config/configuration.ts';
import type { HealthCheck } from '../common/platform/http/health-probe.ts';
import type { Logger } from '../common/platform/observability/logger.ts';
import { measured } from '../common/platform/observability/measured.ts';
import type { Metrics } from '../common/platform/observability/metrics.ts';
import { createSystemClock } from '../common/platform/system/clock.ts';
import type { BlobStore } from '../common/storage/ports/blob-store.ts';
import type { Bus } from '../common/storage/ports/bus.ts';
import type { IndexStores } from '../common/storage/ports/dataset-indexes.ts';
import type { AnyCollection, DocumentStore } from '../common/storage/ports/document-store.ts';
import type { SearchThreads } from '../search/threads.ts';
import { makeDataDirectory } from './data-directory.ts';
import { type Descriptors, shareDescriptors } from './descriptors.ts';
import { installationId } from './installation.ts';
import { openEmbeddedSource } from './stores/embedded-source.ts';
import { createIndexGuard, type IndexGuard } from './stores/index-guard.ts';
import type { SourceParts, StoreSource } from './stores/store-source.ts';

/** Everything that keeps data or carries messages, chosen by the configuration. */
export interface Stores {
  readonly documents: DocumentStore;
  readonly blobs: BlobStore;
  readonly indexes: IndexStores;
  /** Stores for services that answer from indexes: a read fails while its dataset is rebuilt. */
  readonly readers: IndexStores;
  /** Threads that search where the data is; null for servers of their own. */
  readonly threads: SearchThreads | null;
  readonly bus: Bus;
  /** How each of them is, by its name in `/health/detailed`. */
  readonly health: Readonly<Record<string, HealthCheck>>;
  /** Verifies every dataset whose index is not there. */
  inspectIndexes(): Promise<void>;
  /** Starts what a run will need, while its data still comes in. */
  prepare(): void;
  /** Closes in the order in which nothing is lost: messages, indexes, records, the lock. */
  close(): Promise<void>;
}

export interface StoreParts extends Pick<SourceParts, 'startSearchThread'> {
  readonly config: Config;
  readonly collections: readonly AnyCollection[];
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Default: from the configuration. */
  readonly descriptors?: Descriptors;
}

/** Opens each store in the shape that the configuration gives it; rejects, with everything closed, when one cannot be. */
export async function openStores(parts: StoreParts): Promise<Stores> {
  const { config, metrics } = parts;
  const descriptors = parts.descriptors ?? shareDescriptors(config);
  // In a cluster it holds uploads under way.
  makeDataDirectory(config.dataDir);
  const sources: Promise<StoreSource>[] = [];
  const remember = (open: () => Promise<StoreSource>) =>
    once(() => {
      const opening = open();
      sources.push(opening);
      return opening;
    });
  let guard: IndexGuard | null = null;
  const verifyIndex: SourceParts['verifyIndex'] = async (scope, provenance) => guard?.verify(scope, provenance);
  const embedded = remember(() => openEmbeddedSource({ ...parts, openFiles: descriptors.openFiles, verifyIndex }));
  const cluster = remember(async () => (await import('./stores/cluster-source.ts')).createClusterSource(parts));
  const sourceOf = (port: keyof StoreSettings) => (config.stores[port] === 'cluster' ? cluster() : embedded());
  const closeAll = async () => {
    for (const source of sources.splice(0).toReversed()) await (await source.catch(() => null))?.close();
  };
  try {
    const documents = await (await sourceOf('documents')).documents();
    const opened = await createIndexGuard({ store: documents.port, clock: createSystemClock(), logger: parts.logger });
    guard = opened;
    // Files of this process belong to no other installation.
    const isShared = Object.values(config.stores).includes('cluster');
    const installation = isShared ? await installationId(documents.port) : '';
    const blobs = await (await sourceOf('blobs')).blobs(installation);
    const graph = await (await sourceOf('graph')).graph(installation);
    const index = await (await sourceOf('index')).index(installation);
    const bus = await (await sourceOf('bus')).bus(installation);
    const indexes = {
      text: measured(index.port.text, 'text', metrics),
      vectors: measured(index.port.vectors, 'vectors', metrics),
      graph: measured(graph.port, 'graph', metrics),
    };
    const indexSource = await sourceOf('index');
    const threads = [await sourceOf('documents'), await sourceOf('graph')].every((source) => source === indexSource)
      ? (indexSource.threads ?? null)
      : null;
    return {
      documents: measured(documents.port, 'documents', metrics),
      blobs: measured(blobs.port, 'blobs', metrics),
      indexes,
      readers: opened.guarded(indexes),
      threads: threads && opened.guardedThreads(measured(threads, 'threads', metrics)),
      bus: bus.port,
      health: {
        ...named('relational_db', descriptors.guardedHealth(documents.health)),
        ...named('vector_db', opened.guardedHealth(index.health)),
        ...named('graph_db', opened.guardedHealth(graph.health)),
        ...named('file_storage', blobs.health),
        ...named('message_bus', bus.health),
      },
      inspectIndexes: async () => {
        if (indexSource.inspectIndex !== undefined) await opened.inspectAll(indexSource.inspectIndex);
      },
      prepare() {
        for (const source of sources) void source.then((opened) => opened.prepare());
      },
      close: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

function named(name: string, health: HealthCheck | null): Readonly<Record<string, HealthCheck>> {
  return health === null ? {} : { [name]: health };
}
