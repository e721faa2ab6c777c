import { COGNIFY_PIPELINE } from '../../common/domain/run.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { countGraph, type GraphCountCache } from '../../common/records/cognify/graph-counts.ts';
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
    const count = await countGraph(dependencies, dataset).catch((error: unknown) => {
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
