import { existsSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { RowSelection } from '../../ports/text-index.ts';
import type { EdgeBatch, NodeBatch, TextBatch, VectorBatch } from './batches.ts';
import { dropGraph, removeGraph, upsertGraph } from './graph-writer.ts';
import { createOpenFiles, type OpenFile, type OpenFiles, removeDatasetFile } from './open-files.ts';
import { dropText, removeText, upsertText } from './text-writer.ts';
import { dropVectors, removeVectors, upsertVectors } from './vector-writer.ts';
import { isDamaged, runEach, serveParent, tellChanged } from './worker-host.ts';
import type { WorkerSettings } from './worker-protocol.ts';

/** Removals that follow each other share a checkpoint (it waits for the disk); a busy reader is waited for. */
const DELAY_MS = 20;

/** The storage worker: the only thread with write connections to dataset files. */
export function createWriter(settings: WorkerSettings, onChanged: (path: string) => void) {
  const { openFiles: limit, autoMigrate, openingLock } = settings;
  const files = createOpenFiles({ limit, mode: 'write', autoMigrate, openingLock, onChanged });
  const checkpoints = createCheckpoints(files);
  const open = (path: string): OpenFile => {
    const file = files.open(path);
    if (file === null) throw new Error(`No file ${path}`);
    return file;
  };
  /** Runs a removal where there is something to remove, and sees to it that the log does not keep it. */
  const removing = <Result>(path: string, nothing: Result, work: (file: OpenFile) => Result): Result => {
    if (!existsSync(path)) return nothing;
    const result = work(open(path));
    checkpoints.request(path);
    return result;
  };
  const removeFile = (path: string): true => {
    files.forget(path);
    removeDatasetFile(path, openingLock);
    return true;
  };
  /** True when the file went with the last of its contents; a damaged one goes at once, for nothing else can be done with it. */
  const dropping = (path: string, work: (file: OpenFile) => void): boolean => {
    try {
      return removing(path, false, (file) => {
        work(file);
        if (holdsAnything(file)) return false;
        return removeFile(path);
      });
    } catch (error) {
      if (!isDamaged(error, path)) throw error;
      return removeFile(path);
    }
  };
  return {
    methods: {
      upsertText: (path: string, batch: TextBatch) => upsertText(open(path), batch),
      removeText: (path: string, selection: RowSelection) => removing(path, 0, (file) => removeText(file, selection)),
      dropText: (path: string, _: null) => dropping(path, dropText),
      upsertVectors: (path: string, batch: VectorBatch) => upsertVectors(open(path), batch),
      removeVectors: (path: string, selection: RowSelection) =>
        removing(path, [] as readonly number[], (file) => removeVectors(file, selection)),
      dropVectors: (path: string, _: null) => dropping(path, dropVectors),
      upsertGraph: (path: string, batch: { readonly nodes: NodeBatch; readonly edges: EdgeBatch }) =>
        upsertGraph(open(path), batch.nodes, batch.edges),
      removeGraph: (path: string, selection: RowSelection) => removing(path, 0, (file) => removeGraph(file, selection)),
      dropGraph: (path: string, _: null) => dropping(path, dropGraph),
    },
    close() {
      checkpoints.stop();
      files.closeAll();
    },
  };
}

export type WriterMethods = ReturnType<typeof createWriter>['methods'];

if (parentPort !== null) {
  const { methods, close } = createWriter(workerData, tellChanged);
  serveParent({ handle: runEach(methods), close });
}

function holdsAnything(file: OpenFile): boolean {
  const tables = ['text_row', 'vector_row', 'node_row', 'edge_row'];
  const isSettled = file.get(`SELECT 1 FROM meta WHERE key = 'vector_space'`, []) !== undefined;
  return isSettled || tables.some((table) => file.get(`SELECT 1 FROM ${table} LIMIT 1`, []) !== undefined);
}

function createCheckpoints(files: OpenFiles) {
  const wanted = new Set<string>();
  let timer: NodeJS.Timeout | null = null;

  const schedule = () => {
    timer ??= setTimeout(run, DELAY_MS);
    timer.unref();
  };
  const run = () => {
    timer = null;
    for (const path of [...wanted]) {
      wanted.delete(path);
      if (!truncateLog(files, path)) wanted.add(path);
    }
    if (wanted.size > 0) schedule();
  };
  return {
    /** Empties the file's log soon: overwritten content stays readable in it until then. */
    request(path: string) {
      wanted.add(path);
      schedule();
    },
    stop() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      for (const path of wanted) truncateLog(files, path);
    },
  };
}

/** False when a reader was in the way. */
function truncateLog(files: OpenFiles, path: string): boolean {
  if (!existsSync(path)) return true;
  return files.open(path)?.get('PRAGMA wal_checkpoint(TRUNCATE)', [])?.[0] === 0;
}
