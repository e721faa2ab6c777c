import { z } from 'zod';
import { COGNIFY_PIPELINE } from '../../common/domain/run.ts';
import type { DataItemId } from '../../common/kernel/brand.ts';
import { type DatasetRef, scopeOf } from '../../common/kernel/dataset.ts';
import { pagesOf } from '../../common/kernel/result-page.ts';
import { beginStream } from '../../common/platform/http/begin-stream.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { uuid } from '../../common/platform/http/schema.ts';
import { graphJson } from '../../common/presenters/graph-json.ts';
import { type FailedBuild, failedBuild, isBuilt, type LedgerEntry } from '../../common/records/cognify/ledger.ts';
import { openGraph } from '../../common/records/cognify/visible-graph.ts';
import type { IngestDependencies } from '../dependencies.ts';
import { seenDataset } from '../items/target-dataset.ts';
import { presentFailure } from '../presenters/data-item.ts';

const graphAnswer = z
  .object({
    nodes: z.array(
      z
        .object({ id: z.string(), label: z.string(), type: z.string(), properties: z.record(z.string(), z.unknown()) })
        .meta({ id: 'GraphNodeDTO' }),
    ),
    edges: z.array(
      z.object({ source: z.string(), target: z.string(), label: z.string() }).meta({ id: 'GraphEdgeDTO' }),
    ),
  })
  .meta({ id: 'GraphDTO' });
const failedItem = z.object({
  error_class: z.string(),
  error_message: z.string(),
  tries: z.int(),
  is_set_aside: z.boolean().describe('Not tried again until requested: POST /datasets/{id}/data/retry'),
  failed_at: z.string().nullable(),
});
const processingAnswer = z
  .object({
    total: z.int(),
    completed: z.int(),
    pending: z.int(),
    failed: z.int().optional().describe('Of the pending ones, those tried in vain; absent when there is none'),
    items: z.array(
      z
        .object({
          id: z.uuid(),
          name: z.string(),
          completed: z.boolean(),
          failure: failedItem.optional().describe('Of an item that was tried in vain'),
        })
        .meta({ id: 'DataItemProcessingStatusDTO' }),
    ),
  })
  .meta({ id: 'DatasetProcessingStatusDTO' });

const { routes, get } = routesOf<IngestDependencies>({
  tag: 'datasets',
  permission: onDatasets('read'),
});
const params = z.object({ datasetId: uuid() });

/** Graph of a dataset and build state of its items (ingest.md §5.5, §5.8). */
export const builtRoutes = routes(
  get('/api/v1/datasets/:datasetId/graph', 'getDatasetGraph', {
    summary: 'Nodes and edges of a dataset',
    params,
    responses: {
      200: { description: 'The whole graph, streamed', schema: graphAnswer },
      403: { description: 'The dataset is unknown or not readable' },
    },
    async handle({ principal, params, context, signal }, dependencies) {
      const dataset = await seenDataset(dependencies, principal, params.datasetId, context);
      const graph = await openGraph(dependencies, scopeOf(dataset));
      return {
        stream: await beginStream(graphJson(graph, signal)),
        headers: { 'content-type': 'application/json; charset=utf-8' },
      };
    },
  }),
  get('/api/v1/datasets/:datasetId/processing-status', 'getProcessingStatus', {
    summary: 'Which items of a dataset are built',
    params,
    query: z.object({ pipeline: z.string().default(COGNIFY_PIPELINE) }),
    responses: {
      200: { description: 'Totals, and each item newest first', schema: processingAnswer },
      403: { description: 'The dataset is unknown or not readable' },
    },
    async handle({ principal, params, query, context }, dependencies) {
      const dataset = await seenDataset(dependencies, principal, params.datasetId, context);
      const items = await processingStatus(dependencies, { dataset, pipeline: query.pipeline });
      const completed = items.filter((item) => item.completed).length;
      const failed = items.filter(({ failure }) => failure !== null).length;
      return json({
        total: items.length,
        completed,
        pending: items.length - completed,
        ...(failed === 0 ? {} : { failed }),
        items: items.map(({ failure, ...item }) => ({
          ...item,
          ...(failure === null ? {} : { failure: presentFailure(failure) }),
        })),
      });
    },
  }),
);

interface ItemProcessing {
  readonly id: string;
  readonly name: string;
  readonly completed: boolean;
  /** Null unless it was tried in vain. */
  readonly failure: FailedBuild | null;
}

const PAGE = 1000;

/** Every item of the dataset, newest first, and whether its present content is built. Other pipelines keep no such mark. */
async function processingStatus(
  { items, ledger }: IngestDependencies,
  { dataset, pipeline }: { readonly dataset: DatasetRef; readonly pipeline: string },
): Promise<readonly ItemProcessing[]> {
  const scope = scopeOf(dataset);
  const states: ItemProcessing[] = [];
  for await (const all of pagesOf((after) => items.oldestFirst(scope, { after, limit: PAGE }))) {
    const page = scope.withheld === undefined ? all : all.filter(({ id }) => !scope.withheld?.has(id));
    const isCognify = pipeline === COGNIFY_PIPELINE;
    const entries = isCognify
      ? await ledger.entries(
          scope,
          page.map(({ id }) => id),
        )
      : new Map<DataItemId, LedgerEntry>();
    states.push(
      ...page.map((item) => {
        const entry = entries.get(item.id);
        return { id: item.id, name: item.name, completed: isBuilt(entry, item), failure: failedBuild(entry, item) };
      }),
    );
  }
  return states.reverse();
}
