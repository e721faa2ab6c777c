import { isEngramError } from '../../common/kernel/errors.ts';
import { HttpError } from '../../common/platform/http/http-error.ts';
import { json, type Reply, routesOf } from '../../common/platform/http/route.ts';
import { onDatasets } from '../../common/platform/http/route-permission.ts';
import type { ImproveParts } from '../engine/improve-passes.ts';
import { type MemifyOutcome, memify } from '../engine/memify.ts';
import { runInfo, startedRunInfo } from '../presenters/improve-result.ts';
import { requireKnownTasks } from '../structure/memify-tasks.ts';
import { datasetOf, memifyAnswer, memifyBody } from './improve.ts';

const { routes, post } = routesOf<ImproveParts>({ tag: 'memify' });

/** POST /memify (cognify-improve.md §4). */
export const memifyRoutes = routes(
  post('/api/v1/memify', 'memify', {
    summary: 'Enrich the graph of a dataset by named tasks',
    permission: onDatasets('write', 'on the dataset; a new name is created'),
    body: { kind: 'json', schema: memifyBody, carriesDocument: true },
    responses: {
      200: { description: 'The run of the dataset; nothing without a task', schema: memifyAnswer },
      402: { description: 'Token budget exhausted' },
      403: { description: 'The dataset is unknown or not writable' },
      409: { description: 'Another improve of the dataset is running' },
      422: { description: 'An unknown task name' },
      500: { description: 'The run ended with an error' },
    },
    async handle({ principal, body, context }, parts) {
      if (!body.datasetId && !body.datasetName) {
        throw new HttpError(400, { error: 'Either datasetId or datasetName must be provided.', detail: null });
      }
      const { extractionTasks = [], enrichmentTasks = [], data = '', nodeName: nodeNames = [] } = body;
      return guarded(parts, async () => {
        requireKnownTasks([...extractionTasks, ...enrichmentTasks]);
        const dataset = await datasetOf(parts, body, { ...context, principal });
        if (extractionTasks.length + enrichmentTasks.length === 0) return json({});
        // Without the signal of the request: the tasks go on when the client disconnects.
        const { signal: _, ...lasting } = context;
        const tasks = { extractionTasks, enrichmentTasks, data: data === '' ? null : data };
        const background = body.runInBackground ?? false;
        return replyOf(await memify(parts, { dataset, principal, context: lasting, tasks, nodeNames, background }));
      });
    },
  }),
);

function replyOf(outcome: MemifyOutcome): Reply {
  if (outcome === null) return json({});
  if ('run' in outcome) {
    const { run } = outcome;
    const isStarted = run.status === 'DATASET_PROCESSING_STARTED';
    return json({ [run.dataset]: isStarted ? startedRunInfo(run) : runInfo(run) });
  }
  const { failure } = outcome;
  if (failure.startsWith('LLMPaymentRequiredError: ')) {
    return json({ error: failure.slice('LLMPaymentRequiredError: '.length), detail: null }, 402);
  }
  return json({ error: 'Pipeline run errored', detail: failure }, 500);
}

/** Gives known errors the body of this route, except 403 (decisions.md, 403). */
async function guarded(parts: Pick<ImproveParts, 'logger'>, work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HttpError || (isEngramError(error) && error.status === 403)) throw error;
    if (isEngramError(error))
      throw new HttpError(error.status, { error: error.message, detail: null }, { cause: error });
    parts.logger.error('memify.failed', { error });
    throw new HttpError(500, { error: 'Internal server error', detail: null }, { cause: error });
  }
}
