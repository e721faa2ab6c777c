import { z } from 'zod';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { uuidList } from '../../common/platform/http/schema.ts';
import { createGraphCountCache } from '../../common/records/cognify/graph-counts.ts';
import { createSourceAccess } from '../../common/records/integrations/source-access.ts';
import { summariseGraphs } from '../built/summarise-graph.ts';
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
