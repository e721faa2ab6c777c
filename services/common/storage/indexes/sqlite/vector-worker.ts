import { workerData } from 'node:worker_threads';
import { slices } from '../../../kernel/slices.ts';
import type { VectorHit, VectorQuery } from '../../ports/vector-index.ts';
import { createVectorScan, type ScanQuery } from '../wasm-vectors/vector-scan.ts';
import type { VectorSource } from '../wasm-vectors/vector-source.ts';
import { assertQueryDimensions, normaliseInto } from '../wasm-vectors/vector-space.ts';
import { createOpenFiles, type OpenFile, reading } from './open-files.ts';
import { createVectorSource } from './vector-reader.ts';
import { type Result, serveParent, tellChanged } from './worker-host.ts';
import type { WorkerRequest, WorkerSettings } from './worker-protocol.ts';

/** Holds vectors in memory and finds the nearest. Queries for one kind of one dataset that wait together share a pass. */
const MAX_SHARED = 32;

const settings = workerData as WorkerSettings;
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
  onChanged: tellChanged,
});

export interface VectorMethods {
  readonly [method: string]: (path: string, query: VectorQuery) => readonly VectorHit[];
  readonly nearest: (path: string, query: VectorQuery) => readonly VectorHit[];
}

function nearest(path: string, queries: readonly VectorQuery[]): readonly Result[] {
  return files.read(path, (file) => scanFile(file, queries)) ?? queries.map(() => () => []);
}

function scanFile(file: OpenFile, queries: readonly VectorQuery[]): readonly Result[] {
  return reading(file, () => {
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

function queryOf(request: WorkerRequest): VectorQuery {
  return request.argument as VectorQuery;
}

serveParent({
  handle: (requests) => {
    const results: Result[] = [];
    for (const group of slices(requests, MAX_SHARED)) {
      results.push(...nearest(group[0]?.path ?? '', group.map(queryOf)));
    }
    return results;
  },
  sharesWork: (first, other) => first.path === other.path && queryOf(first).kind === queryOf(other).kind,
  notice(notice) {
    if (notice.notice === 'vectors-changed') scan.changed(notice.path, notice.removed);
    if (notice.notice === 'forget') {
      scan.unload(notice.path);
      files.forget(notice.path);
    }
  },
  close: () => files.closeAll(),
});
