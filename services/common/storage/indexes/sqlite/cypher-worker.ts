import { parentPort, workerData } from 'node:worker_threads';
import { keepNewest } from '../../../kernel/recently-used.ts';
import { createBudget } from '../../cypher/budget.ts';
import { asSearchError } from '../../cypher/errors.ts';
import { type CypherGraph, createGraph } from '../../cypher/graph.ts';
import { parseQuery } from '../../cypher/parse-query.ts';
import { asAnswer, runQuery } from '../../cypher/run-query.ts';
import type { CypherRows } from '../../ports/graph-store.ts';
import type { Provenance } from '../../ports/index-entry.ts';
import { readCypherGraph } from './cypher-graph.ts';
import { createOpenFiles, type OpenFile } from './open-files.ts';
import { readProvenance } from './origins.ts';
import { runEach, serveParent, tellChanged } from './worker-host.ts';
import type { WorkerSettings } from './worker-protocol.ts';

interface CypherJob {
  readonly text: string;
  /** Words of the committed origins, see `provenanceKey`. */
  readonly committed: readonly string[];
  readonly maxRows: number;
  readonly timeoutMs: number;
  /** One number; not 0 when the caller has given up. */
  readonly cancelled: SharedArrayBuffer;
}

/** Graphs are let go when nobody has asked for so long. */
const KEPT_MS = 60_000;
const KEPT_GRAPHS = 2;

interface Held {
  readonly version: unknown;
  readonly committed: ReadonlySet<string>;
  readonly graph: CypherGraph;
}

/** Runs queries in Cypher on graphs that it holds in memory, away from the thread that serves requests and searches. */
export function createCypherRunner(settings: WorkerSettings, onChanged: (path: string) => void) {
  const { openFiles: limit, autoMigrate, openingLock } = settings;
  const files = createOpenFiles({ limit, mode: 'read', autoMigrate, openingLock, onChanged });
  /** Least recently used first. */
  const held = new Map<OpenFile, Held>();
  const timer = setTimeout(() => held.clear(), KEPT_MS).unref();
  /** The graph of the file as it is now; read again when anything was written to it, or became or ceased to be visible. */
  const graphOf = (file: OpenFile, words: readonly string[]): CypherGraph => {
    const committed = new Set(words);
    const version = file.get('PRAGMA data_version', [])?.[0];
    const known = held.get(file);
    const isCurrent = known !== undefined && known.version === version && isSame(known.committed, committed);
    const current = isCurrent ? known : { version, committed, graph: readCypherGraph(file, committed) };
    keepNewest(held, KEPT_GRAPHS, file, current);
    timer.refresh();
    return current.graph;
  };
  return {
    methods: {
      /** Refuses a query that cannot be run; of a dataset without a file there are no origins. */
      begin(path: string, text: string): readonly Provenance[] {
        refusing(() => parseQuery(text));
        return files.read(path, readProvenance) ?? [];
      },
      /** Reads the graph, if it is not held already. */
      prepare(path: string, committed: readonly string[]): void {
        refusing(() => files.read(path, (file) => graphOf(file, committed)));
      },
      query(path: string, { text, committed, maxRows, timeoutMs, cancelled }: CypherJob): CypherRows {
        return refusing(() => {
          const query = parseQuery(text);
          const graph = files.read(path, (file) => graphOf(file, committed)) ?? createGraph();
          const flag = new Int32Array(cancelled);
          const budget = createBudget(timeoutMs, () => Atomics.load(flag, 0) !== 0);
          return asAnswer(runQuery(query, graph, budget, maxRows + 1), maxRows);
        });
      },
    },
    forget(path: string) {
      files.forget(path);
      for (const file of held.keys()) if (file.path === path) held.delete(file);
    },
    close: () => files.closeAll(),
  };
}

export type CypherMethods = ReturnType<typeof createCypherRunner>['methods'];

if (parentPort !== null) {
  const { methods, forget, close } = createCypherRunner(workerData, tellChanged);
  serveParent({
    handle: runEach(methods),
    notice(notice) {
      if (notice.notice === 'forget') forget(notice.path);
    },
    close,
  });
}

function isSame(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  return left.size === right.size && [...left].every((word) => right.has(word));
}

function refusing<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw asSearchError(error);
  }
}
