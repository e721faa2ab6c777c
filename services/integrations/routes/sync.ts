import { isEngramError } from '../../common/kernel/errors.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { defineRoute, json, type Route } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import { onDemand } from '../../common/platform/lifecycle/on-demand.ts';
import type { SyncDependencies } from '../dependencies.ts';
import { presentAlreadyRunning, presentStarted, presentStatus } from '../presenters/sync-run.ts';
import { syncAnswer, syncBody, syncStatusAnswer } from './sync.schema.ts';

const runningSync = onDemand(async () => (await import('../usecases/running-sync.ts')).runningSync);
const startSync = onDemand(async () => (await import('../usecases/start-sync.ts')).startSync);

/** POST /sync, GET /sync/status (auth-integrations.md §5.3). */
export function syncRoutes(dependencies: SyncDependencies): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/sync',
      tag: 'sync',
      summary: 'Bring datasets and the remote memory (COGNEE_SERVICE_URL) into step, in the background',
      auth: 'user',
      permission: onDatasets('write', 'on every dataset named; none named: all that may be written'),
      body: { kind: 'json', schema: syncBody },
      responses: {
        200: { description: 'It goes on in the background', schema: syncAnswer },
        403: { description: 'A dataset is unknown or not writable' },
        409: { description: 'Another sync of the caller is under way' },
      },
      async handle({ principal, body, context }) {
        const outcome = await guarded(dependencies, () =>
          startSync(dependencies, { principal, datasetIds: body.datasetIds ?? [], context }),
        );
        if (outcome.isNew) return json(presentStarted(outcome.run));
        return json(presentAlreadyRunning(outcome.run), 409);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/sync/status',
      tag: 'sync',
      summary: 'Whether a sync of the caller is under way, and how far it has come',
      auth: 'user',
      permission: onDatasets('write', 'on the datasets shown; the caller’s own syncs'),
      responses: { 200: { description: 'The one under way, if any', schema: syncStatusAnswer } },
      async handle({ principal }) {
        return json(presentStatus(await runningSync(dependencies, principal)));
      },
    }),
  ];
}

async function guarded<Result>(
  { logger }: Pick<SyncDependencies, 'logger'>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isEngramError(error) || error instanceof HttpError) throw error;
    logger.error('sync.start.failed', { error });
    throw new HttpError(409, { error: 'Cloud sync operation failed.' }, { cause: error });
  }
}
