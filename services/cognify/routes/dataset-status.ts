import { z } from 'zod';
import { isEngramError } from '../../common/domain/errors.ts';
import type { Principal } from '../../common/domain/principal.ts';
import type { RunState } from '../../common/domain/run.ts';
import { HttpError } from '../../common/http/http-error.ts';
import { defineRoute, json, type Reply, type Route } from '../../common/http/route.ts';
import { stringList, uuid, uuidList } from '../../common/http/schema.ts';
import type { CallContext } from '../../common/messaging/messenger.ts';
import { COGNIFY_PIPELINE } from '../consumers/cognify-run.ts';
import type { CognifyDependencies } from '../dependencies.ts';
import { presentProgress, presentStatuses } from '../presenters/run-status.ts';
import { isRefusal, readableDataset, readableDatasets } from '../usecases/permitted-datasets.ts';
import { processingStatus } from '../usecases/processing-status.ts';

const statusQuery = z.object({
  dataset: uuidList().default([]),
  pipeline: stringList().default([]),
});
type StatusQuery = z.output<typeof statusQuery>;

const statusAnswer = z
  .record(z.string(), z.union([z.string(), z.record(z.string(), z.string())]))
  .describe('By dataset id; with several pipelines by pipeline below it');
const progress = z.object({
  status: z.string(),
  progress: z
    .object({ completed_items: z.int(), total_items: z.int(), current_stage: z.string().nullable() })
    .nullable(),
});
const progressAnswer = z.record(z.string(), z.union([progress, z.record(z.string(), progress)]));
const processingAnswer = z.object({
  total: z.int(),
  completed: z.int(),
  pending: z.int(),
  items: z.array(z.object({ id: z.uuid(), name: z.string(), completed: z.boolean() })),
});

const common = { method: 'GET', tag: 'datasets', auth: 'user' } as const;

/** Status of pipelines and items (ingest.md §5.7, §5.8). Declared before the routes with a dataset id in the path. */
export function datasetStatusRoutes(dependencies: CognifyDependencies): readonly Route[] {
  return [
    defineRoute({
      ...common,
      path: '/api/v1/datasets/status',
      summary: 'Newest state of each dataset and pipeline',
      permission: 'read on every dataset',
      query: statusQuery,
      responses: {
        200: { description: 'States', schema: statusAnswer },
        409: { description: 'A dataset is not readable' },
      },
      handle: ({ principal, query, context }) =>
        statuses(dependencies, { principal, query, context, leaf: ({ status }) => status, what: 'statuses' }),
    }),
    defineRoute({
      ...common,
      path: '/api/v1/datasets/status/progress',
      summary: 'Newest state of each dataset and pipeline, with progress',
      permission: 'read on every dataset',
      query: statusQuery,
      responses: {
        200: { description: 'States with progress', schema: progressAnswer },
        409: { description: 'A dataset is not readable' },
      },
      handle: ({ principal, query, context }) =>
        statuses(dependencies, { principal, query, context, leaf: presentProgress, what: 'progress' }),
    }),
    defineRoute({
      ...common,
      path: '/api/v1/datasets/:datasetId/processing-status',
      summary: 'Which items of a dataset are built',
      permission: 'read on the dataset',
      params: z.object({ datasetId: uuid() }),
      query: z.object({ pipeline: z.string().default(COGNIFY_PIPELINE) }),
      responses: {
        200: { description: 'Totals, and each item newest first', schema: processingAnswer },
        403: { description: 'The dataset is unknown or not readable' },
      },
      async handle({ principal, params, query, context }) {
        const dataset = await readableDataset(dependencies.messenger, principal, params.datasetId, context);
        const items = await processingStatus(dependencies, { dataset, pipeline: query.pipeline }, context);
        const completed = items.filter((item) => item.completed).length;
        return json({ total: items.length, completed, pending: items.length - completed, items });
      },
    }),
  ];
}

async function statuses(
  { messenger, runs }: CognifyDependencies,
  request: {
    readonly principal: Principal;
    readonly query: StatusQuery;
    readonly context: CallContext;
    readonly leaf: (run: RunState) => unknown;
    readonly what: 'statuses' | 'progress';
  },
): Promise<Reply> {
  const { principal, query, context, leaf, what } = request;
  const named = [...new Set(query.pipeline)];
  const pipelines = named.length === 0 ? [COGNIFY_PIPELINE] : named;
  try {
    const datasets = await readableOrNone({ messenger }, principal, query.dataset, context);
    const newest = await runs.newest(datasets, pipelines);
    const states = newest.map(({ state }) => state);
    return json(presentStatuses(states, { datasets, pipelines }, leaf));
  } catch (error) {
    if (!isEngramError(error)) throw error;
    throw new HttpError(409, { error: `Unable to retrieve dataset ${what}.` }, { cause: error });
  }
}

/** Having no dataset at all is no error when none was named. */
async function readableOrNone(
  { messenger }: Pick<CognifyDependencies, 'messenger'>,
  principal: Principal,
  ids: readonly string[],
  context: CallContext,
) {
  try {
    return await readableDatasets(messenger, principal, ids, context);
  } catch (error) {
    if (ids.length === 0 && isRefusal(error)) return [];
    throw error;
  }
}
