import type { MessagePort } from 'node:worker_threads';
import { slices } from '../../../kernel/slices.ts';
import type { VectorHit, VectorQuery } from '../../ports/vector-index.ts';
import { createVectorScan, type ScanQuery } from '../wasm-vectors/vector-scan.ts';
import type { VectorSource } from '../wasm-vectors/vector-source.ts';
import { assertQueryDimensions, normaliseInto } from '../wasm-vectors/vector-space.ts';
import { createOpenFiles, type OpenFile, reading } from './open-files.ts';
import { createVectorSource } from './vector-reader.ts';
import { type Result, tellChanged } from './worker-host.ts';
import type { WorkerNotice, WorkerRequest, WorkerSettings } from './worker-protocol.ts';

export interface VectorMethods {
  readonly [method: string]: (path: string, query: VectorQuery) => readonly VectorHit[];
  readonly nearest: (path: string, query: VectorQuery) => readonly VectorHit[];
}

const MAX_SHARED = 32;

/** The files of a thread that searches, and their vectors in memory. */
export function createVectorSearch(settings: WorkerSettings, port?: MessagePort) {
  const scan = createVectorScan({
    memoryBytes: settings.vectorMemoryBytes,
    quantiseAbove: settings.quantiseAbove,
  });
  const files = createOpenFiles({
    limit: settings.openFiles,
    mode: 'read',
    autoMigrate: settings.autoMigrate,
    openingLock: settings.openingLock,
    onLost: (path) => scan.unload(path),
    onChanged: (path) => tellChanged(path, port),
  });
  const scanFile = (file: OpenFile, queries: readonly VectorQuery[]): readonly Result[] =>
    reading(file, () => {
      const source = createVectorSource(file);
      const prepared = queries.map((query) => prepare(source, query));
      const usable = prepared.filter((query) => 'limit' in query);
      const kind = queries[0]?.kind;
      const answers = kind === undefined || usable.length === 0 ? [] : scan.nearest(file.path, source, kind, usable);
      let answered = 0;
      return prepared.map((query) => {
        if (!('limit' in query)) return query.result;
        const hits = answers[answered++];
        return () => hits;
      });
    });
  return {
    files,
    /** Results of requests for one kind of one dataset, in order: they share a pass over its vectors. */
    nearest: (path: string, queries: readonly VectorQuery[]): readonly Result[] =>
      [...slices(queries, MAX_SHARED)].flatMap(
        (group) => files.read(path, (file) => scanFile(file, group)) ?? group.map(() => () => []),
      ),
    sharesWork: (first: WorkerRequest, other: WorkerRequest) =>
      first.method === 'nearest' &&
      other.method === 'nearest' &&
      first.path === other.path &&
      (first.argument as VectorQuery).kind === (other.argument as VectorQuery).kind,
    notice(notice: WorkerNotice) {
      if (notice.notice === 'vectors-changed') scan.changed(notice.path, notice.removed);
      if (notice.notice === 'forget') {
        scan.unload(notice.path);
        files.forget(notice.path);
      }
    },
  };
}

/** The query as the scan wants it, or a result that needs no scan: nothing there, nothing asked, or an error. */
function prepare(source: VectorSource, query: VectorQuery): ScanQuery | { readonly result: Result } {
  const space = source.space();
  if (space === null) return { result: () => [] };
  const vector = new Float32Array(query.vector.length);
  try {
    assertQueryDimensions(space, query.vector.length);
    normaliseInto(query.vector, vector, 'the query');
  } catch (error) {
    return {
      result: () => {
        throw error;
      },
    };
  }
  if (vector.every((component) => component === 0)) return { result: () => [] };
  const { kind: _, ...rest } = query;
  return { ...rest, vector };
}
