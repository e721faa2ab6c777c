import { z } from 'zod';
import { orFixedFailure } from '../../common/platform/http/fixed-failure.ts';
import { json, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { lenientInteger, uuidList } from '../../common/platform/http/schema.ts';
import type { SyncRun } from '../../common/records/integrations/sync-runs.ts';
import type { SyncDependencies } from '../dependencies.ts';
import { latestSyncs, runningSync, startSync } from '../sync/start-sync.ts';

/** Null and an empty list: every dataset that the caller may write. */
const syncBody = z.object({ datasetIds: uuidList().nullish() }).meta({ id: 'SyncRequest' });

const run = z.object({
  run_id: z.uuid(),
  dataset_ids: z.array(z.uuid()),
  dataset_names: z.array(z.string()),
});

const syncAnswer = run
  .extend({
    status: z.literal('started'),
    message: z.string(),
    timestamp: z.string(),
    user_id: z.uuid(),
  })
  .meta({ id: 'SyncResponse' });

const syncStatusAnswer = z
  .object({
    has_running_sync: z.boolean(),
    running_sync_count: z.int(),
    latest_running_sync: run.extend({ progress_percentage: z.int(), created_at: z.string() }).optional(),
  })
  .meta({ id: 'SyncStatus' });

const syncRunsAnswer = z.object({
  has_remote: z.boolean().describe('Whether a remote memory is configured'),
  runs: z.array(
    run.extend({
      status: z.enum(['started', 'in_progress', 'completed', 'failed', 'cancelled']),
      progress_percentage: z.int(),
      uploaded: z.int(),
      downloaded: z.int(),
      passed_over: z.int(),
      error: z.string().nullable(),
      created_at: z.string(),
      ended_at: z.string().nullable(),
    }),
  ),
});

const { routes, get, post } = routesOf<SyncDependencies>({ tag: 'sync' });

/** Starts syncs and shows them. */
export const syncRoutes = routes(
  post('/api/v1/sync', 'startSync', {
    summary: 'Bring datasets and the remote memory (COGNEE_SERVICE_URL) into step, in the background',
    permission: onDatasets('write', 'on every dataset named; none named: all that may be written'),
    body: { kind: 'json', schema: syncBody },
    responses: {
      200: { description: 'It goes on in the background', schema: syncAnswer },
      403: { description: 'A dataset is unknown or not writable' },
      409: { description: 'Another sync of the caller is under way' },
    },
    async handle({ principal, body, context }, dependencies) {
      const outcome = await guarded(dependencies, () =>
        startSync(dependencies, { principal, datasetIds: body.datasetIds ?? [], context }),
      );
      if (outcome.isNew) return json(presentStarted(outcome.run));
      return json(presentAlreadyRunning(outcome.run), 409);
    },
  }),
  get('/api/v1/sync/status', 'getSyncStatus', {
    summary: 'Whether a sync of the caller is under way, and how far it has come',
    permission: onDatasets('write', 'on the datasets shown; the caller’s own syncs'),
    responses: { 200: { description: 'The one under way, if any', schema: syncStatusAnswer } },
    handle: async ({ principal }, dependencies) => json(presentStatus(await runningSync(dependencies, principal))),
  }),
  get('/api/v1/sync/runs', 'listSyncs', {
    summary: 'The last syncs of the caller, newest first',
    permission: onDatasets('write', 'on the datasets shown; the caller’s own syncs'),
    query: z.object({ limit: lenientInteger({ min: 1, max: 200 }).default(20) }),
    responses: { 200: { description: 'Those of the last month', schema: syncRunsAnswer } },
    async handle({ principal, query }, dependencies) {
      const runs = await latestSyncs(dependencies, principal, query.limit);
      return json({ has_remote: dependencies.hasRemote, runs: runs.map(presentRun) });
    },
  }),
);

function guarded<Result>({ logger }: Pick<SyncDependencies, 'logger'>, work: () => Promise<Result>) {
  return orFixedFailure(logger, { event: 'sync.start.failed', text: 'Cloud sync operation failed.' }, work);
}

function presentStarted(run: SyncRun) {
  const { id, userId, createdAt, datasetIds } = run;
  return {
    run_id: id,
    status: 'started',
    ...datasetsOf(run),
    message:
      `Sync operation started in background for ${datasetIds.length} datasets. ` +
      `Use run_id '${id}' to track progress.`,
    timestamp: createdAt,
    user_id: userId,
  };
}

function presentAlreadyRunning(run: SyncRun) {
  const { id, createdAt, progress } = run;
  return {
    error: 'Sync operation already in progress',
    details: {
      run_id: id,
      status: 'already_running',
      ...datasetsOf(run),
      message:
        `You have a sync operation already in progress with run_id '${id}'. Use the status endpoint to monitor ` +
        'progress, or wait for it to complete before starting a new sync.',
      timestamp: createdAt,
      progress_percentage: progress,
    },
  };
}

function presentStatus(run: SyncRun | null) {
  if (run === null) return { has_running_sync: false, running_sync_count: 0 };
  const { id, progress, createdAt } = run;
  return {
    has_running_sync: true,
    running_sync_count: 1,
    latest_running_sync: {
      run_id: id,
      ...datasetsOf(run),
      progress_percentage: progress,
      created_at: createdAt,
    },
  };
}

function presentRun(run: SyncRun) {
  const { id, status, progress, uploaded, downloaded, passedOver, error, createdAt, endedAt } = run;
  return {
    run_id: id,
    ...datasetsOf(run),
    status,
    progress_percentage: progress,
    uploaded,
    downloaded,
    passed_over: passedOver,
    error,
    created_at: createdAt,
    ended_at: endedAt,
  };
}

function datasetsOf({ datasetIds, datasetNames }: SyncRun) {
  return { dataset_ids: datasetIds, dataset_names: datasetNames };
}
