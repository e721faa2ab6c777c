import { COGNIFY_PIPELINE } from '../../common/domain/run.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { scopeOf } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { openGraph } from '../../common/records/cognify/visible-graph.ts';
import type { CognifyDependencies } from '../dependencies.ts';

interface GraphSummary {
  readonly datasetId: string;
  /** The newest cognify run; null when there was none. */
  readonly runId: string | null;
  readonly nodes: number;
  readonly edges: number;
  /** ISO-8601; null when nothing was ever built. */
  readonly computedAt: string | null;
}

/** Cache of graph counts by dataset. A count is valid for one state of the ledger, so polling costs one read of it. */
type GraphCountCache = ReturnType<typeof createGraphCountCache>;

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
    set(key: string, count: GraphCount) {
      counts.delete(key);
      counts.set(key, count);
      const oldest = counts.keys().next();
      if (counts.size > KEPT && !oldest.done) counts.delete(oldest.value);
    },
  };
}

/** Counts nodes and edges of each dataset; a damaged one is left out. */
export async function summariseGraphs(
  dependencies: Pick<CognifyDependencies, 'graph' | 'ledger' | 'runs' | 'clock' | 'logger'> & {
    readonly counts: GraphCountCache;
  },
  datasets: readonly DatasetRef[],
): Promise<readonly GraphSummary[]> {
  const newest = await dependencies.runs.newest(datasets, [COGNIFY_PIPELINE]);
  const runs = new Map(newest.map(({ state }) => [state.dataset, state.id]));
  const summaries: GraphSummary[] = [];
  for (const dataset of datasets) {
    const count = await countOf(dependencies, dataset).catch((error: unknown) => {
      if (!isEngramError(error) || error.wireName !== 'CorruptStoreError') throw error;
      dependencies.logger.error('cognify.summary.damaged', { datasetId: dataset.id, error });
      return undefined;
    });
    // The other datasets keep their numbers; a request for this one's graph reports the damage.
    if (count === undefined) continue;
    summaries.push({
      datasetId: dataset.id,
      runId: runs.get(dataset.id) ?? null,
      nodes: count?.nodes ?? 0,
      edges: count?.edges ?? 0,
      computedAt: count?.computedAt ?? null,
    });
  }
  return summaries;
}

async function countOf(
  dependencies: Pick<CognifyDependencies, 'graph' | 'ledger' | 'clock'> & { readonly counts: GraphCountCache },
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
