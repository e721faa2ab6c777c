import { type DatasetRef, scopeOf } from '../../kernel/dataset.ts';
import { keepNewest } from '../../kernel/recently-used.ts';
import type { Clock } from '../../ports/system.ts';
import type { GraphStore } from '../../storage/ports/graph-store.ts';
import type { Ledger } from './ledger.ts';
import { openGraph } from './visible-graph.ts';

/** Cache of graph counts by dataset. A count is valid for one state of the ledger, so polling costs one read of it. */
export type GraphCountCache = ReturnType<typeof createGraphCountCache>;

interface GraphCount {
  readonly fingerprint: string;
  readonly nodes: number;
  readonly edges: number;
  readonly computedAt: string;
}

const KEPT = 500;

export function createGraphCountCache() {
  const counts = new Map<string, GraphCount>();
  return {
    get: (key: string) => counts.get(key),
    set: (key: string, count: GraphCount) => keepNewest(counts, KEPT, key, count),
  };
}

/** Counts the nodes and edges that clients see; null: nothing was built. */
export async function countGraph(
  dependencies: {
    readonly graph: GraphStore;
    readonly ledger: Ledger;
    readonly clock: Clock;
    readonly counts: GraphCountCache;
  },
  dataset: DatasetRef,
): Promise<GraphCount | null> {
  const { ledger, counts, clock } = dependencies;
  const scope = scopeOf(dataset);
  const committed = await ledger.allCommitted(scope);
  if (committed.size === 0) return null;
  const fingerprint = [...committed].map(([item, generation]) => `${item}@${generation}`).join();
  const key = `${dataset.tenant}/${dataset.id}`;
  const known = counts.get(key);
  if (known?.fingerprint === fingerprint) return known;
  const graph = await openGraph(dependencies, scope);
  let nodes = 0;
  let edges = 0;
  for await (const page of graph.nodes()) nodes += page.length;
  for await (const page of graph.edges()) edges += page.length;
  const count = { fingerprint, nodes, edges, computedAt: clock.now().toISOString() };
  counts.set(key, count);
  return count;
}
