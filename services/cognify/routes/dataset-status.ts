import { z } from 'zod';
import { COGNIFY_PIPELINE } from '../../common/domain/run.ts';
import type { DatasetRef } from '../../common/kernel/dataset.ts';
import { isEngramError } from '../../common/kernel/errors.ts';
import type { Principal } from '../../common/kernel/principal.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { json, type Reply, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { stringList, uuidList } from '../../common/platform/http/schema.ts';
import type { CallContext, Messenger } from '../../common/platform/messaging/messenger.ts';
import type { Runs, StoredRun } from '../../common/records/cognify/runs.ts';
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

interface Dependencies {
  readonly messenger: Messenger;
  readonly runs: Runs;
}

const { routes, get } = routesOf<Dependencies>({ tag: 'datasets', permission: onDatasets('read', 'on every dataset') });

/** Routes for the status of pipelines (ingest.md §5.7). */
export const datasetStatusRoutes = routes(
  get('/api/v1/datasets/status', 'getDatasetStatus', {
    summary: 'Newest state of each dataset and pipeline',
    query: statusQuery,
    responses: {
      200: { description: 'States', schema: statusAnswer },
      409: { description: 'A dataset is not readable' },
    },
    handle: ({ principal, query, context }, dependencies) =>
      statuses(dependencies, { principal, query, context, leaf: ({ state }) => state.status, what: 'statuses' }),
  }),
  get('/api/v1/datasets/status/progress', 'getDatasetProgress', {
    summary: 'Newest state of each dataset and pipeline, with progress',
    query: statusQuery,
    responses: {
      200: { description: 'States with progress', schema: progressAnswer },
      409: { description: 'A dataset is not readable' },
    },
    handle: ({ principal, query, context }, dependencies) =>
      statuses(dependencies, { principal, query, context, leaf: presentProgress, what: 'progress' }),
  }),
);

async function statuses(
  { messenger, runs }: Dependencies,
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
    const datasets = await readableDatasets(messenger, principal, query.dataset, { ...context, partly: true });
    const newest = await runs.newest(datasets, pipelines);
    return json(presentStatuses(newest, { datasets, pipelines }, leaf));
  } catch (error) {
    if (!isEngramError(error)) throw error;
    throw new HttpError(409, { error: `Unable to retrieve dataset ${what}.` }, { cause: error });
  }
}

/**
 * Presents runs by dataset: flat for one pipeline, without the datasets that never ran it; nested for several, with every
 * dataset (ingest.md §5.7).
 */
function presentStatuses<Leaf>(
  runs: readonly StoredRun[],
  { datasets, pipelines }: { readonly datasets: readonly DatasetRef[]; readonly pipelines: readonly string[] },
  leaf: (run: StoredRun) => Leaf,
): Readonly<Record<string, unknown>> {
  if (pipelines.length < 2) return Object.fromEntries(runs.map((run) => [run.state.dataset, leaf(run)]));
  const byPair = new Map(runs.map((run) => [`${run.state.dataset}/${run.state.pipeline}`, run]));
  return Object.fromEntries(
    datasets.map(({ id }) => {
      const own = pipelines.flatMap((pipeline) => {
        const run = byPair.get(`${id}/${pipeline}`);
        return run === undefined ? [] : [[pipeline, leaf(run)] as const];
      });
      return [id, Object.fromEntries(own)];
    }),
  );
}

/** Presents the state of a run. `chunks`: only while items of many chunks are built. `error`: only when the run failed. */
function presentProgress({ state, chunks }: StoredRun): object {
  const { status, progress, errorClass, errorMessage } = state;
  return {
    status,
    progress:
      progress === null
        ? null
        : {
            completed_items: progress.completedItems,
            total_items: progress.totalItems,
            current_stage: progress.currentStage,
          },
    ...(chunks === null ? {} : { chunks }),
    ...(errorClass === null ? {} : { error: `${errorMessage ?? ''} [${errorClass}]`.trimStart() }),
  };
}
