import { existsSync, readdirSync } from 'node:fs';
import { access, constants, statfs } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { once } from '../../common/platform/async/once.ts';
import type { HealthCheck } from '../../common/platform/http/health-probe.ts';
import type { Logger } from '../../common/platform/observability/logger.ts';
import { createFileBlobStore } from '../../common/storage/blobs/files/blob-store.ts';
import { createInProcessBus } from '../../common/storage/bus/in-process/bus.ts';
import { lockDataDirectory } from '../../common/storage/documents/sqlite/data-directory-lock.ts';
import { openSqliteDocumentStore } from '../../common/storage/documents/sqlite/document-store.ts';
import { rememberFile } from '../../common/storage/documents/sqlite/file-in-place.ts';
import { createRevisions } from '../../common/storage/documents/sqlite/unchanged-reads.ts';
import { createSqliteDatasetIndexes } from '../../common/storage/indexes/sqlite/sqlite-dataset-indexes.ts';
import type { SearchThreads } from '../../search/threads.ts';
import { createClosing, critical, probeDocuments, type SourceParts, type StoreSource } from './store-source.ts';

const WATCH_MS = 500;

/** More would each have little of the memory for vectors. */
const MAX_SEARCH_THREADS = 4;

/** Free space below which writes fail: the log of a database grows by this much at a time. */
const LEAST_SPACE_BYTES = 1024 * 1024;

/** Files below the data directory, which must exist and which this process then owns alone. */
export async function openEmbeddedSource({
  config,
  collections,
  logger,
  openFiles,
  startSearchThread,
  verifyIndex,
}: SourceParts): Promise<StoreSource> {
  const { dataDir, autoMigrations: autoMigrate } = config;
  const recordsFile = join(dataDir, 'control.db');
  const revisions = createRevisions();
  const closing = createClosing();
  const lock = await lockDataDirectory(dataDir);
  closing.add(() => lock.release());
  const isLocked = rememberFile(join(dataDir, 'lock.db'));
  const writable = async () => {
    isLocked();
    await access(dataDir, constants.W_OK);
  };
  const indexes = once(async () => {
    const opened = await createSqliteDatasetIndexes({
      directory: join(dataDir, 'datasets'),
      vectorMemoryBytes: config.vectorMemoryBytes,
      autoMigrate,
      ...(openFiles === undefined ? {} : { openFiles }),
      ...(verifyIndex === undefined ? {} : { verify: verifyIndex }),
      searchThreads: {
        module: new URL('./search-worker.ts', import.meta.url),
        data: { records: recordsFile, revisions },
        count: Math.max(1, Math.min(MAX_SEARCH_THREADS, availableParallelism() - 1)),
        start: startSearchThread,
      },
    });
    closing.add(() => opened.close());
    return opened;
  });
  const threads: SearchThreads = {
    async retrieve(scope, request, signal) {
      const joined = (request.joined ?? []).flatMap((one) => [one.scope, one.vectorVersion ?? one.scope]);
      const scopes = [scope, request.vectorVersion ?? scope, ...joined] as const;
      return (await indexes()).run('retrieve', scopes, request, signal) as never;
    },
    knowledge: async (scope, request) => (await indexes()).run('knowledge', [scope], request) as never,
  };
  const lackOfSpace = async () => {
    const { bavail, bsize } = await statfs(dataDir);
    return bavail * bsize < LEAST_SPACE_BYTES ? 'The disk that holds the data directory is full' : null;
  };
  return {
    async documents() {
      const file = recordsFile;
      if (!existsSync(file) && holdsBlobs(dataDir)) {
        logger.warn('store.records_missing', {
          file,
          advice: 'The server starts empty beside the content of an earlier one. Stop it and restore control.db',
        });
      }
      const store = await openSqliteDocumentStore({ file, autoMigrate, collections, revisions });
      closing.add(() => store.close());
      const isInPlace = rememberFile(file);
      closing.add(watchStore(isInPlace, logger));
      const check = async () => {
        isInPlace();
        await probeDocuments(store);
      };
      return { port: store, health: limited(critical('sqlite', check), lackOfSpace) };
    },
    async blobs() {
      const store = await createFileBlobStore({ directory: join(dataDir, 'blobs') });
      return { port: store, health: critical('local', writable) };
    },
    async index() {
      return { port: await indexes(), health: critical('sqlite', writable) };
    },
    async graph() {
      return { port: (await indexes()).graph, health: critical('sqlite', writable) };
    },
    async bus() {
      const bus = createInProcessBus({
        onListenerError: (error, subject) => logger.error('bus.listener-failed', { subject, error }),
      });
      closing.add(() => bus.drain());
      return { port: bus, health: null };
    },
    threads,
    inspectIndex: async (scope) => (await indexes()).inspect(scope),
    prepare: () => void indexes().then((opened) => opened.prepare()),
    close: () => closing.closeAll(),
  };
}

/** Returns the check, degraded while `fault` names why some requests fail; those that only read are served. */
function limited(health: HealthCheck, fault: () => Promise<string | null>): HealthCheck {
  return {
    critical: health.critical,
    async check() {
      const result = await health.check();
      const details = await fault();
      return details === null ? result : { ...result, status: 'degraded', details };
    },
  };
}

/** Content without records: `control.db` was lost. */
function holdsBlobs(dataDir: string): boolean {
  try {
    return readdirSync(join(dataDir, 'blobs')).some((name) => !name.startsWith('.'));
  } catch {
    return false;
  }
}

/** Says in the log when the file of the records is lost, and when it is back. Answers what ends the watch. */
function watchStore(requireInPlace: () => void, logger: Logger): () => Promise<void> {
  let isLost = false;
  const timer = setInterval(() => {
    try {
      requireInPlace();
      if (isLost) logger.info('store.restored');
      isLost = false;
    } catch (error) {
      if (!isLost) logger.error('store.lost', { error });
      isLost = true;
    }
  }, WATCH_MS);
  timer.unref();
  return async () => clearInterval(timer);
}
