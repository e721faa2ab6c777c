import { z } from 'zod';
import { COGNIFY_PIPELINE } from '../../common/domain/run.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { uuidList } from '../../common/platform/http/schema.ts';
import { countGraph, createGraphCountCache, type GraphCountCache } from '../../common/records/cognify/graph-counts.ts';
import { createSourceAccess } from '../../common/records/integrations/source-access.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { readableDatasets } from '../runs/permitted-datasets.ts';

const summaryAnswer = z.array(
  z
    .object({
      datasetId: z.uuid(),
      pipelineRunId: z.uuid().nullable(),
      numNodes: z.int(),
      numEdges: z.int(),
      computedAt: z.iso.datetime({ offset: true }).nullable(),
    })
    .meta({ id: 'DatasetGraphSummaryDTO' }),
);

const common = { method: 'GET', tag: 'datasets', auth: 'user' } as const;

/** Route for the size of each dataset's graph (ingest.md §5.6). */
export function graphSummaryRoutes(dependencies: CognifyDependencies): readonly Route[] {
  const { messenger, store } = dependencies;
  const sourceAccess = createSourceAccess(store);
  const counts = createGraphCountCache();
  return [
    defineRoute({
      ...common,
      path: '/api/v1/datasets/graph-summary',
      operationId: 'getGraphSummary',
      summary: 'Number of nodes and edges per dataset',
      permission: onDatasets('read', 'on every dataset'),
      query: z.object({ dataset_ids: uuidList().default([]) }),
      responses: { 200: { description: 'One entry per dataset', schema: summaryAnswer } },
      async handle({ principal, query, context }) {
        const asking = { ...context, partly: true };
        const datasets = await readableDatasets(messenger, principal, query.dataset_ids, asking);
        const seen = await Promise.all(datasets.map(sourceAccess.asSeen));
        const summaries = await summariseGraphs({ ...dependencies, counts }, seen);
        return json(
          summaries.map(({ datasetId, runId, nodes, edges, computedAt }) => ({
            datasetId,
            pipelineRunId: runId,
            numNodes: nodes,
            numEdges: edges,
            computedAt,
          })),
        );
      },
    }),
  ];
}

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
async function summariseGraphs(
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
