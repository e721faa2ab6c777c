import { z } from 'zod';
import { scopeOf } from '../../common/domain/dataset.ts';
import { beginStream } from '../../common/http/begin-stream.ts';
import { defineRoute, json, type Route } from '../../common/http/route.ts';
import { uuid, uuidList } from '../../common/http/schema.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { graphJson } from '../presenters/graph-json.ts';
import { isRefusal, readableDataset, readableDatasets } from '../usecases/permitted-datasets.ts';
import { openGraph } from '../usecases/read-graph.ts';
import { createGraphCountCache, summariseGraphs } from '../usecases/summarise-graph.ts';

const graphAnswer = z.object({
  nodes: z.array(
    z.object({ id: z.string(), label: z.string(), type: z.string(), properties: z.record(z.string(), z.unknown()) }),
  ),
  edges: z.array(z.object({ source: z.string(), target: z.string(), label: z.string() })),
});
const summaryAnswer = z.array(
  z.object({
    datasetId: z.uuid(),
    pipelineRunId: z.uuid().nullable(),
    numNodes: z.int(),
    numEdges: z.int(),
    computedAt: z.iso.datetime({ offset: true }).nullable(),
  }),
);

const common = { method: 'GET', tag: 'datasets', auth: 'user' } as const;

/** The graph of a dataset and its size (ingest.md §5.5, §5.6). */
export function datasetGraphRoutes(dependencies: CognifyDependencies): readonly Route[] {
  const { messenger } = dependencies;
  const counts = createGraphCountCache();
  return [
    defineRoute({
      ...common,
      path: '/api/v1/datasets/graph-summary',
      summary: 'Number of nodes and edges per dataset',
      permission: 'read on every dataset',
      query: z.object({ dataset_ids: uuidList().default([]) }),
      responses: { 200: { description: 'One entry per dataset', schema: summaryAnswer } },
      async handle({ principal, query, context }) {
        const datasets = await readableDatasets(messenger, principal, query.dataset_ids, context).catch(
          (error: unknown) => {
            if (query.dataset_ids.length === 0 && isRefusal(error)) return [];
            throw error;
          },
        );
        const summaries = await summariseGraphs({ ...dependencies, counts }, datasets);
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
    defineRoute({
      ...common,
      path: '/api/v1/datasets/:datasetId/graph',
      summary: 'Nodes and edges of a dataset',
      permission: 'read on the dataset',
      params: z.object({ datasetId: uuid() }),
      responses: {
        200: { description: 'The whole graph, streamed', schema: graphAnswer },
        403: { description: 'The dataset is unknown or not readable' },
      },
      async handle({ principal, params, context, signal }) {
        const dataset = await readableDataset(messenger, principal, params.datasetId, context);
        const graph = await openGraph(dependencies, scopeOf(dataset));
        return {
          stream: await beginStream(graphJson(graph, signal)),
          headers: { 'content-type': 'application/json; charset=utf-8' },
        };
      },
    }),
  ];
}
