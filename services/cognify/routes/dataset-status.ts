import { z } from 'zod';
import { COGNIFY_PIPELINE } from '../../common/domain/run.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { defineRoute, json, type Reply, type Route } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { stringList, uuidList } from '../../common/platform/http/schema.ts';
import type { CallContext } from '../../common/platform/messaging/messenger.ts';
import type { StoredRun } from '../../common/records/cognify/runs.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { presentProgress, presentStatuses } from '../presenters/run-status.ts';
import { readableDatasets } from '../runs/permitted-datasets.ts';

const statusQuery = z.object({
  dataset: uuidList().default([]),
  pipeline: stringList().default([]),
});
type StatusQuery = z.output<typeof statusQuery>;

const statusAnswer = z
  .record(z.string(), z.union([z.string(), z.record(z.string(), z.string())]))
  .describe('By dataset id; with several pipelines by pipeline below it');
const progress = z
  .object({
    status: z.string(),
    progress: z
      .object({ completed_items: z.int(), total_items: z.int(), current_stage: z.string().nullable() })
      .nullable(),
    chunks: z
      .object({ completed: z.int(), total: z.int() })
      .optional()
      .describe('Of the items that are being built, when they have many'),
    error: z.string().optional().describe('Of a run that failed: what happened, with the class in brackets'),
  })
  .meta({ id: 'PipelineRunStatusWithProgress' });
const progressAnswer = z.record(z.string(), z.union([progress, z.record(z.string(), progress)]));
const common = { method: 'GET', tag: 'datasets', auth: 'user' } as const;

/** Status of pipelines (ingest.md §5.7). */
export function datasetStatusRoutes(dependencies: CognifyDependencies): readonly Route[] {
  return [
    defineRoute({
      ...common,
      path: '/api/v1/datasets/status',
      summary: 'Newest state of each dataset and pipeline',
      permission: onDatasets('read', 'on every dataset'),
      query: statusQuery,
      responses: {
        200: { description: 'States', schema: statusAnswer },
        409: { description: 'A dataset is not readable' },
      },
      handle: ({ principal, query, context }) =>
        statuses(dependencies, { principal, query, context, leaf: ({ state }) => state.status, what: 'statuses' }),
    }),
    defineRoute({
      ...common,
      path: '/api/v1/datasets/status/progress',
      summary: 'Newest state of each dataset and pipeline, with progress',
      permission: onDatasets('read', 'on every dataset'),
      query: statusQuery,
      responses: {
        200: { description: 'States with progress', schema: progressAnswer },
        409: { description: 'A dataset is not readable' },
      },
      handle: ({ principal, query, context }) =>
        statuses(dependencies, { principal, query, context, leaf: presentProgress, what: 'progress' }),
    }),
  ];
}

async function statuses(
  { messenger, runs }: CognifyDependencies,
  request: {
    readonly principal: Principal;
    readonly query: StatusQuery;
    readonly context: CallContext;
    readonly leaf: (run: StoredRun) => unknown;
    readonly what: 'statuses' | 'progress';
  },
): Promise<Reply> {
  const { principal, query, context, leaf, what } = request;
  const named = [...new Set(query.pipeline)];
  const pipelines = named.length === 0 ? [COGNIFY_PIPELINE] : named;
  try {
    const datasets = await readableDatasets(messenger, principal, query.dataset, context);
    const newest = await runs.newest(datasets, pipelines);
    return json(presentStatuses(newest, { datasets, pipelines }, leaf));
  } catch (error) {
    if (!isEngramError(error)) throw error;
    throw new HttpError(409, { error: `Unable to retrieve dataset ${what}.` }, { cause: error });
  }
}
